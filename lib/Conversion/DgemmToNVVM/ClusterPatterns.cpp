// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Clusters: ranks, and the sum of partial products over distributed shared
// memory.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct ClusterRankPattern : KernelPattern<ClusterRankOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ClusterRankOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ClusterId>(op, rewriter.getI32Type());
    return success();
  }
};

struct ClusterStartPattern : KernelPattern<ClusterStartOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ClusterStartOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Relaxed: it announces the CTA, no data.
    rewriter.replaceOpWithNewOp<NVVM::ClusterArriveRelaxedOp>(
        op, rewriter.getUnitAttr());
    return success();
  }
};

struct ClusterSyncPattern : KernelPattern<ClusterSyncOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ClusterSyncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Not aligned: threads come here from different branches.
    NVVM::ClusterArriveOp::create(rewriter, op.getLoc(), UnitAttr());
    NVVM::ClusterWaitOp::create(rewriter, op.getLoc(), UnitAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Every CTA but the first writes its registers into the first one's memory,
/// value by value with the threads side by side; after the cluster's barrier
/// the first adds them in the order of the ranks.
struct ClusterReducePattern : KernelPattern<ClusterReduceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ClusterReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> values = unpackAll(rewriter, loc, adaptor.getValues());
    Type i32 = rewriter.getI32Type();
    Value rank = NVVM::ClusterId::create(rewriter, loc, i32);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, rank,
                              constantI32(rewriter, loc, 0));
    Value isOther =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, rank,
                              constantI32(rewriter, loc, 0));
    // The start of every CTA, announced by dgemm.cluster_start.
    NVVM::ClusterWaitOp::create(rewriter, loc, rewriter.getUnitAttr());
    scf::IfOp::create(rewriter, loc, holdsValues(rewriter, loc, isOther),
                      [&](OpBuilder &body, Location loc) {
                        send(body, loc, rank, values);
                        scf::YieldOp::create(body, loc);
                      });
    NVVM::ClusterArriveOp::create(rewriter, loc, rewriter.getUnitAttr());
    NVVM::ClusterWaitOp::create(rewriter, loc, rewriter.getUnitAttr());
    auto summed = scf::IfOp::create(
        rewriter, loc, holdsValues(rewriter, loc, isFirst),
        [&](OpBuilder &body, Location loc) {
          SmallVector<Value> sums(values);
          for (int64_t part = 1; part < op.getParts(); ++part)
            receive(body, loc, part, sums);
          scf::YieldOp::create(body, loc, sums);
        },
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(body, loc, values);
        });
    rewriter.replaceOp(op,
                       packAll(rewriter, loc, adaptor.getValues().getTypes(),
                               summed.getResults()));
    return success();
  }

  /// `condition` in the threads that hold finished fragments.
  Value holdsValues(OpBuilder &builder, Location loc, Value condition) const {
    if (context.schedule.form != ::dgemm::Form::Register)
      return condition;
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              context.warp, constantI32(builder, loc, 0));
    return arith::AndIOp::create(builder, loc, condition, first);
  }

  /// Bytes from one value of a thread to its next: all those threads' worth.
  int64_t valueStep() const { return 4 * context.fragmentThreads(); }

  /// This thread's first value in the part of `part - 1`, which is i32.
  Value threadStart(OpBuilder &builder, Location loc, Value part) const {
    Value skipped = arith::MulIOp::create(
        builder, loc, part, constantI32(builder, loc, context.plan.reducePart));
    Value mine = arith::ShLIOp::create(builder, loc, context.thread,
                                       constantI32(builder, loc, 2));
    Value offset = arith::AddIOp::create(builder, loc, skipped, mine);
    offset = arith::AddIOp::create(
        builder, loc, offset,
        constantI32(builder, loc,
                    context.plan.offsetReduce - context.plan.reducePart));
    return context.smemAt(builder, loc, offset);
  }

  Value valueAt(OpBuilder &builder, Location loc, Value start,
                int64_t number) const {
    return LLVM::GEPOp::create(
        builder, loc, start.getType(), builder.getI8Type(), start,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number * valueStep())});
  }

  void send(OpBuilder &builder, Location loc, Value rank,
            ArrayRef<Value> values) const {
    Value local = threadStart(builder, loc, rank);
    auto clusterPointer = LLVM::LLVMPointerType::get(builder.getContext(), 7);
    Value remote = NVVM::MapaOp::create(builder, loc, clusterPointer, local,
                                        constantI32(builder, loc, 0));
    for (auto [number, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(builder, loc, value,
                            valueAt(builder, loc, remote, number));
  }

  void receive(OpBuilder &builder, Location loc, int64_t part,
               SmallVectorImpl<Value> &sums) const {
    Value start = threadStart(builder, loc, constantI32(builder, loc, part));
    for (auto [number, sum] : llvm::enumerate(sums)) {
      Value value = LLVM::LoadOp::create(builder, loc, builder.getF32Type(),
                                         valueAt(builder, loc, start, number));
      sum = LLVM::FAddOp::create(builder, loc, sum, value);
    }
  }
};
} // namespace

void mlir::dgemm::populateClusterPatterns(RewritePatternSet &patterns,
                                          const TypeConverter &converter,
                                          const KernelContext &context) {
  patterns.add<ClusterRankPattern, ClusterStartPattern, ClusterSyncPattern,
               ClusterReducePattern>(converter, patterns.getContext(), context);
}
