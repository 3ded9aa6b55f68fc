// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Small scalar ops of a tile, and what concerns other kernels.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct KBlocksPattern : KernelPattern<KBlocksOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(KBlocksOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, context.kSteps);
    return success();
  }
};

struct AdvancePattern : KernelPattern<AdvanceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AdvanceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value stages = constantI32(rewriter, loc, context.schedule.stages);
    if (!op.getBy()) {
      Value up = arith::AddIOp::create(rewriter, loc, adaptor.getSlot(),
                                       constantI32(rewriter, loc, 1));
      Value wraps = arith::CmpIOp::create(rewriter, loc,
                                          arith::CmpIPredicate::eq, up, stages);
      Value slot = arith::SelectOp::create(rewriter, loc, wraps,
                                           constantI32(rewriter, loc, 0), up);
      Value flip =
          arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), wraps);
      Value phase =
          arith::XOrIOp::create(rewriter, loc, adaptor.getPhase(), flip);
      rewriter.replaceOp(op, {slot, phase});
      return success();
    }
    Value up = arith::AddIOp::create(rewriter, loc, adaptor.getSlot(),
                                     adaptor.getBy());
    Value laps = arith::DivUIOp::create(rewriter, loc, up, stages);
    Value slot = arith::RemUIOp::create(rewriter, loc, up, stages);
    Value flip = arith::AndIOp::create(rewriter, loc, laps,
                                       constantI32(rewriter, loc, 1));
    Value phase =
        arith::XOrIOp::create(rewriter, loc, adaptor.getPhase(), flip);
    rewriter.replaceOp(op, {slot, phase});
    return success();
  }
};

template <typename OpType, NVVM::GridDepActionKind action>
struct GridDependencyPattern : KernelPattern<OpType> {
  using KernelPattern<OpType>::KernelPattern;

  LogicalResult
  matchAndRewrite(OpType op, typename OpType::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::GriddepcontrolOp>(op, action);
    return success();
  }
};
using GridWaitPattern =
    GridDependencyPattern<GridWaitOp, NVVM::GridDepActionKind::wait>;
using GridLaunchPattern =
    GridDependencyPattern<GridLaunchOp,
                          NVVM::GridDepActionKind::launch_dependents>;
} // namespace

void mlir::dgemm::populateTilePatterns(RewritePatternSet &patterns,
                                       const TypeConverter &converter,
                                       const KernelContext &context) {
  patterns
      .add<KBlocksPattern, AdvancePattern, GridWaitPattern, GridLaunchPattern>(
          converter, patterns.getContext(), context);
}
