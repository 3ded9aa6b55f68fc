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

/// Every warpgroup writes its part and counts itself. The counter's fences make
/// each part visible to whoever counts last, and the warpgroup's barriers carry
/// that from its leader to its threads and back.
struct WorkspaceReducePattern : KernelPattern<WorkspaceReduceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WorkspaceReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> values;
    for (Value fragment : adaptor.getValues()) {
      auto type = cast<LLVM::LLVMStructType>(fragment.getType());
      for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
        values.push_back(
            LLVM::ExtractValueOp::create(rewriter, loc, fragment, i));
    }
    Value tile = tileNumber(rewriter, loc, adaptor.getM0(), adaptor.getN0());
    Value firstPart = threadStart(rewriter, loc, adaptor.getBase(), tile,
                                  adaptor.getWg(), op.getParts());
    write(rewriter, loc, partAt(rewriter, loc, firstPart, adaptor.getPart()),
          values);
    Value last = countParts(rewriter, op, adaptor, tile);

    auto summed = scf::IfOp::create(
        rewriter, loc, last,
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(
              body, loc, sum(body, loc, firstPart, op.getParts(), values));
        },
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(body, loc, values);
        });
    SmallVector<Value> results;
    size_t next = 0;
    for (Value fragment : adaptor.getValues()) {
      Type type = fragment.getType();
      Value result = LLVM::PoisonOp::create(rewriter, loc, type);
      size_t count = cast<LLVM::LLVMStructType>(type).getBody().size();
      for (size_t i = 0; i < count; ++i)
        result = LLVM::InsertValueOp::create(rewriter, loc, result,
                                             summed.getResult(next++), i);
      results.push_back(result);
    }
    results.push_back(last);
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Values that travel together, and the bytes from a thread's first four to
  /// its next: those of the 128 threads beside it.
  static constexpr int64_t kVector = 4, kVectorStep = 128 * 4 * kVector;

  /// i32; tiles count along N first, whatever order they are walked in.
  Value tileNumber(OpBuilder &builder, Location loc, Value m0, Value n0) const {
    int64_t tileM = context.schedule.tileM, tileN = context.schedule.tileN;
    Value tilesN = ceilDivide(builder, loc, context.sizeN, tileN);
    Value row = arith::DivUIOp::create(builder, loc, m0,
                                       constantI32(builder, loc, tileM));
    Value column = arith::DivUIOp::create(builder, loc, n0,
                                          constantI32(builder, loc, tileN));
    Value before = arith::MulIOp::create(builder, loc, row, tilesN);
    return arith::AddIOp::create(builder, loc, before, column);
  }

  /// Where this thread's first values in part 0 of its warpgroup's share lie.
  Value threadStart(OpBuilder &builder, Location loc, Value base, Value tile,
                    Value wg, int64_t parts) const {
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
        builder, loc, scaled(tile, parts * groups * bytes), scaled(wg, bytes));
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
                         int64_t parts, ArrayRef<Value> values) const {
    SmallVector<Value> first = read(builder, loc, firstPart, values.size());
    auto loop = scf::ForOp::create(
        builder, loc, constantI32(builder, loc, 1),
        constantI32(builder, loc, parts), constantI32(builder, loc, 1), first,
        [&](OpBuilder &body, Location loc, Value part, ValueRange carried) {
          SmallVector<Value> next = read(
              body, loc, partAt(body, loc, firstPart, part), values.size());
          for (auto [sum, value] : llvm::zip(carried, next))
            value = LLVM::FAddOp::create(body, loc, sum, value);
          scf::YieldOp::create(body, loc, next);
        });
    return SmallVector<Value>(loop.getResults());
  }

  /// i1: all parts of this tile are there. The one that says so first resets
  /// the counter, as no one else will come for it in this launch.
  Value countParts(OpBuilder &builder, WorkspaceReduceOp op, OpAdaptor adaptor,
                   Value tile) const {
    Location loc = op.getLoc();
    Type i32 = builder.getI32Type();
    StringRef device = "device";
    Value groups = constantI32(builder, loc, context.schedule.consumers);
    Value number = arith::MulIOp::create(builder, loc, tile, groups);
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
          Value isLast =
              arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq, before,
                                    constantI32(body, loc, op.getParts() - 1));
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
