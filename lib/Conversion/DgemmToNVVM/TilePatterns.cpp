// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The tile loop and small scalar ops.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// scf.for over the CTA's tile numbers, each split into row and column by the
/// raster: within a group of `rasterGroup` tile rows, down the rows first.
struct TilesPattern : KernelPattern<TilesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TilesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value tilesM =
        ceilDivide(rewriter, loc, context.sizeM, context.schedule.tileM);
    Value tilesN =
        ceilDivide(rewriter, loc, context.sizeN, context.schedule.tileN);
    Value total = arith::MulIOp::create(rewriter, loc, tilesM, tilesN);
    Value first = NVVM::BlockIdXOp::create(rewriter, loc, i32);
    Value step = NVVM::GridDimXOp::create(rewriter, loc, i32);
    if (int64_t split = context.schedule.splitK; split > 1) {
      // The CTAs of a cluster work on the same tile.
      first = arith::DivUIOp::create(rewriter, loc, first,
                                     constantI32(rewriter, loc, split));
      step = arith::DivUIOp::create(rewriter, loc, step,
                                    constantI32(rewriter, loc, split));
    }
    if (op.getLane()) {
      Value skipped =
          arith::MulIOp::create(rewriter, loc, step, adaptor.getLane());
      first = arith::AddIOp::create(rewriter, loc, first, skipped);
      step = arith::MulIOp::create(rewriter, loc, step,
                                   constantI32(rewriter, loc, op.getLanes()));
    }
    auto loop = scf::ForOp::create(rewriter, loc, first, total, step,
                                   adaptor.getInits());
    rewriter.setInsertionPointToStart(loop.getBody());
    auto [row, column] =
        rasterise(rewriter, loc, loop.getInductionVar(), tilesM, tilesN);
    SmallVector<Value> arguments = {row, column};
    llvm::append_range(arguments, loop.getRegionIterArgs());

    auto next = cast<NextOp>(op.getBody().front().getTerminator());
    rewriter.setInsertionPoint(next);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(next, next.getValues());
    if (loop.getBody()->mightHaveTerminator())
      rewriter.eraseOp(loop.getBody()->getTerminator());
    rewriter.inlineBlockBefore(&op.getBody().front(), loop.getBody(),
                               loop.getBody()->end(), arguments);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }

  std::pair<Value, Value> rasterise(OpBuilder &builder, Location loc,
                                    Value tile, Value tilesM,
                                    Value tilesN) const {
    Value perGroup =
        arith::MulIOp::create(builder, loc, context.rasterGroup, tilesN);
    Value group = arith::DivUIOp::create(builder, loc, tile, perGroup);
    Value before = arith::MulIOp::create(builder, loc, group, perGroup);
    Value within = arith::SubIOp::create(builder, loc, tile, before);
    Value firstRow =
        arith::MulIOp::create(builder, loc, group, context.rasterGroup);
    Value rowsLeft = arith::SubIOp::create(builder, loc, tilesM, firstRow);
    Value rows =
        arith::MinUIOp::create(builder, loc, rowsLeft, context.rasterGroup);
    Value column = arith::DivUIOp::create(builder, loc, within, rows);
    Value walked = arith::MulIOp::create(builder, loc, column, rows);
    Value rest = arith::SubIOp::create(builder, loc, within, walked);
    Value row = arith::AddIOp::create(builder, loc, firstRow, rest);
    Value m0 = arith::MulIOp::create(
        builder, loc, row, constantI32(builder, loc, context.schedule.tileM));
    Value n0 = arith::MulIOp::create(
        builder, loc, column,
        constantI32(builder, loc, context.schedule.tileN));
    return {m0, n0};
  }
};

struct KBlocksPattern : KernelPattern<KBlocksOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(KBlocksOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t depth =
        int64_t(context.schedule.tileK) * context.schedule.kBlocksPerStage;
    rewriter.replaceOp(op,
                       ceilDivide(rewriter, op.getLoc(), context.sizeK, depth));
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
} // namespace

void mlir::dgemm::populateTilePatterns(RewritePatternSet &patterns,
                                       const TypeConverter &converter,
                                       const KernelContext &context) {
  patterns.add<TilesPattern, KBlocksPattern, AdvancePattern>(
      converter, patterns.getContext(), context);
}
