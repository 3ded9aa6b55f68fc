// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// K split over CTAs that meet in global memory: which part a CTA has, and the
// sum of the parts in the CTA that comes last.

#include "KernelContext.h"

#include "dgemm/Runtime/KernelInterface.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct SplitPartPattern : KernelPattern<SplitPartOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(SplitPartOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value cta = NVVM::BlockIdXOp::create(rewriter, loc, rewriter.getI32Type());
    rewriter.replaceOpWithNewOp<arith::RemUIOp>(
        op, cta, constantI32(rewriter, loc, context.schedule.splitK));
    return success();
  }
};

/// A tile of one part is left as it is, which is known only when the kernel
/// runs where K steps are dealt out over CTAs. Else every warpgroup writes its
/// part and counts itself. The counter's fences make
/// each part visible to whoever counts last, and the warpgroup's barriers carry
/// that from its leader to its threads and back.
struct WorkspaceReducePattern : KernelPattern<WorkspaceReduceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WorkspaceReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> values = unpackAll(rewriter, loc, adaptor.getValues());
    Value one = constantI32(rewriter, loc, 1);
    Value isSplit = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ugt, adaptor.getParts(), one);
    auto summed = scf::IfOp::create(
        rewriter, loc, isSplit,
        [&](OpBuilder &body, Location loc) {
          meet(body, loc, op, adaptor, values);
        },
        [&](OpBuilder &body, Location loc) {
          SmallVector<Value> own = values;
          own.push_back(
              arith::ConstantOp::create(body, loc, body.getBoolAttr(true)));
          scf::YieldOp::create(body, loc, own);
        });
    SmallVector<Value> results =
        packAll(rewriter, loc, adaptor.getValues().getTypes(),
                summed.getResults().drop_back());
    results.push_back(summed.getResults().back());
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Yields the sums, or this warpgroup's own values, and whether it is last.
  void meet(OpBuilder &builder, Location loc, WorkspaceReduceOp op,
            OpAdaptor adaptor, ArrayRef<Value> values) const {
    Value firstPart = threadStart(builder, loc, adaptor.getBase(),
                                  adaptor.getPlace(), adaptor.getWg());
    write(builder, loc, partAt(builder, loc, firstPart, adaptor.getPart()),
          values);
    Value last = countParts(builder, op, adaptor);
    auto summed = scf::IfOp::create(
        builder, loc, last,
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(
              body, loc,
              sum(body, loc, firstPart, adaptor.getParts(), values.size()));
        },
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(body, loc, values);
        });
    SmallVector<Value> results(summed.getResults());
    results.push_back(last);
    scf::YieldOp::create(builder, loc, results);
  }

  /// Values that travel together, and the bytes from a thread's first four to
  /// its next: those of the 128 threads beside it.
  static constexpr int64_t kVector = 4, kVectorStep = 128 * 4 * kVector;

  /// Where this thread's first values in the tile's part 0 lie.
  Value threadStart(OpBuilder &builder, Location loc, Value base, Value place,
                    Value wg) const {
    Type i64 = builder.getI64Type();
    int64_t bytes = ::dgemm::workspacePartBytes(context.schedule);
    int64_t groups = context.schedule.consumers;
    auto scaled = [&](Value value, int64_t by) -> Value {
      Value wide = arith::ExtUIOp::create(builder, loc, i64, value);
      return arith::MulIOp::create(builder, loc, wide,
                                   constantI64(builder, loc, by));
    };
    Value thread = arith::AndIOp::create(builder, loc, context.thread,
                                         constantI32(builder, loc, 127));
    Value offset = arith::AddIOp::create(
        builder, loc, scaled(place, groups * bytes), scaled(wg, bytes));
    offset = arith::AddIOp::create(builder, loc, offset,
                                   scaled(thread, 4 * kVector));
    offset = arith::AddIOp::create(
        builder, loc, offset,
        constantI64(builder, loc, 4 * ::dgemm::kWorkspaceCounters));
    return byteOffset(builder, loc, base, offset);
  }

  static Value byteOffset(OpBuilder &builder, Location loc, Value base,
                          LLVM::GEPArg offset) {
    return LLVM::GEPOp::create(builder, loc, base.getType(),
                               builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }

  Value partAt(OpBuilder &builder, Location loc, Value first,
               Value part) const {
    int64_t bytes = context.schedule.consumers *
                    ::dgemm::workspacePartBytes(context.schedule);
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), part);
    Value offset = arith::MulIOp::create(builder, loc, wide,
                                         constantI64(builder, loc, bytes));
    return byteOffset(builder, loc, first, offset);
  }

  static void write(OpBuilder &builder, Location loc, Value start,
                    ArrayRef<Value> values) {
    auto vector = VectorType::get(kVector, builder.getF32Type());
    for (size_t i = 0; i < values.size(); i += kVector) {
      Value packed = LLVM::PoisonOp::create(builder, loc, vector);
      for (int64_t j = 0; j < kVector; ++j)
        packed = LLVM::InsertElementOp::create(
            builder, loc, packed, values[i + j], constantI32(builder, loc, j));
      LLVM::StoreOp::create(
          builder, loc, packed,
          byteOffset(builder, loc, start,
                     static_cast<int32_t>(i / kVector * kVectorStep)));
    }
  }

  static SmallVector<Value> read(OpBuilder &builder, Location loc, Value start,
                                 size_t count) {
    auto vector = VectorType::get(kVector, builder.getF32Type());
    SmallVector<Value> values;
    for (size_t i = 0; i < count; i += kVector) {
      Value packed = LLVM::LoadOp::create(
          builder, loc, vector,
          byteOffset(builder, loc, start,
                     static_cast<int32_t>(i / kVector * kVectorStep)));
      for (int64_t j = 0; j < kVector; ++j)
        values.push_back(LLVM::ExtractElementOp::create(
            builder, loc, packed, constantI32(builder, loc, j)));
    }
    return values;
  }

  /// All parts in their order, this warpgroup's own from the workspace too.
  SmallVector<Value> sum(OpBuilder &builder, Location loc, Value firstPart,
                         Value parts, size_t count) const {
    SmallVector<Value> first = read(builder, loc, firstPart, count);
    Value one = constantI32(builder, loc, 1);
    auto loop = scf::ForOp::create(
        builder, loc, one, parts, one, first,
        [&](OpBuilder &body, Location loc, Value part, ValueRange carried) {
          SmallVector<Value> next =
              read(body, loc, partAt(body, loc, firstPart, part), count);
          for (auto [sum, value] : llvm::zip(carried, next))
            value = LLVM::FAddOp::create(body, loc, sum, value);
          scf::YieldOp::create(body, loc, next);
        });
    return SmallVector<Value>(loop.getResults());
  }

  /// i1: all parts of this tile are there. The one that says so first resets
  /// the counter, as no one else will come for it in this launch.
  Value countParts(OpBuilder &builder, WorkspaceReduceOp op,
                   OpAdaptor adaptor) const {
    Location loc = op.getLoc();
    Type i32 = builder.getI32Type();
    StringRef device = "device";
    Value groups = constantI32(builder, loc, context.schedule.consumers);
    Value number =
        arith::MulIOp::create(builder, loc, adaptor.getPlace(), groups);
    number = arith::AddIOp::create(builder, loc, number, adaptor.getWg());
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
    Value counter =
        LLVM::GEPOp::create(builder, loc, adaptor.getBase().getType(), i32,
                            adaptor.getBase(), ValueRange{wide});
    Value flag = context.slotAddress(builder, loc, context.plan.offsetReduce,
                                     context.plan.reducePart, adaptor.getWg());

    WarpgroupBarrierOp::create(builder, loc, op.getWg());
    scf::IfOp::create(
        builder, loc, context.isGroupLeader(builder, loc),
        [&](OpBuilder &body, Location loc) {
          // Fences of their own: the order of an atomic operation is not
          // carried over to PTX.
          LLVM::FenceOp::create(body, loc, LLVM::AtomicOrdering::acq_rel,
                                device);
          Value before = LLVM::AtomicRMWOp::create(
              body, loc, LLVM::AtomicBinOp::add, counter,
              constantI32(body, loc, 1), LLVM::AtomicOrdering::monotonic,
              device);
          LLVM::FenceOp::create(body, loc, LLVM::AtomicOrdering::acq_rel,
                                device);
          Value others = arith::SubIOp::create(body, loc, adaptor.getParts(),
                                               constantI32(body, loc, 1));
          Value isLast = arith::CmpIOp::create(
              body, loc, arith::CmpIPredicate::eq, before, others);
          scf::IfOp::create(
              body, loc, isLast, [&](OpBuilder &inner, Location loc) {
                LLVM::StoreOp::create(inner, loc, constantI32(inner, loc, 0),
                                      counter);
                scf::YieldOp::create(inner, loc);
              });
          Value word = arith::ExtUIOp::create(body, loc, i32, isLast);
          LLVM::StoreOp::create(body, loc, word, flag);
          scf::YieldOp::create(body, loc);
        });
    WarpgroupBarrierOp::create(builder, loc, op.getWg());
    Value word = LLVM::LoadOp::create(builder, loc, i32, flag);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, word,
                                 constantI32(builder, loc, 0));
  }
};
} // namespace

void mlir::dgemm::populateWorkspacePatterns(RewritePatternSet &patterns,
                                            const TypeConverter &converter,
                                            const KernelContext &context) {
  patterns.add<SplitPartPattern, WorkspaceReducePattern>(
      converter, patterns.getContext(), context);
}
