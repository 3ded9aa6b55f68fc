// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The tile loop and small scalar ops.

#include "KernelContext.h"

#include <optional>

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// A divisor that stays the same for many divisions. A 32-bit division takes
/// a chain of about 130 cycles, which no warp hides between two tiles; with the
/// reciprocal at hand it is a multiplication and a correction.
class Divisor {
public:
  /// `value` is an i32 greater than 0.
  Divisor(OpBuilder &builder, Location loc, Value value)
      : value(value), reciprocal(arith::DivUIOp::create(
                          builder, loc, constantI32(builder, loc, -1), value)) {
  }
  Divisor(Value value, Value reciprocal)
      : value(value), reciprocal(reciprocal) {}

  /// This one where `condition` holds, else `other`.
  Divisor orElse(OpBuilder &builder, Location loc, Value condition,
                 const Divisor &other) const {
    return {
        arith::SelectOp::create(builder, loc, condition, value, other.value),
        arith::SelectOp::create(builder, loc, condition, reciprocal,
                                other.reciprocal)};
  }

  /// Quotient and remainder of an i32 below 2^31. The reciprocal is
  /// floor((2^32 - 1) / d), which falls short of 2^32 / d by at most 1, so the
  /// high word of the product is the quotient or one less.
  std::pair<Value, Value> divide(OpBuilder &builder, Location loc,
                                 Value dividend) const {
    Value low =
        arith::MulUIExtendedOp::create(builder, loc, dividend, reciprocal)
            .getHigh();
    Value product = arith::MulIOp::create(builder, loc, low, value);
    Value rest = arith::SubIOp::create(builder, loc, dividend, product);
    Value isShort = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::uge, rest, value);
    Value up =
        arith::AddIOp::create(builder, loc, low, constantI32(builder, loc, 1));
    Value down = arith::SubIOp::create(builder, loc, rest, value);
    return {arith::SelectOp::create(builder, loc, isShort, up, low),
            arith::SelectOp::create(builder, loc, isShort, down, rest)};
  }

private:
  Value value, reciprocal;
};

/// scf.for over the CTA's tile numbers, each split into row and column by the
/// raster: within a group of `rasterGroup` tile rows, down the rows first. No
/// loop in register form.
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
      // CTAs with neighbouring numbers work on the same tile.
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
    Raster raster = prepareRaster(rewriter, loc, tilesM, tilesN);
    if (context.schedule.form == ::dgemm::Form::Register &&
        op.getInits().empty()) {
      // Each CTA has one tile; a loop would keep its state in registers.
      auto [row, column] = rasterise(rewriter, loc, first, raster);
      rewriter.eraseOp(op.getBody().front().getTerminator());
      rewriter.inlineBlockBefore(&op.getBody().front(), op, {row, column});
      rewriter.eraseOp(op);
      return success();
    }
    auto loop = scf::ForOp::create(rewriter, loc, first, total, step,
                                   adaptor.getInits());
    rewriter.setInsertionPointToStart(loop.getBody());
    auto [row, column] =
        rasterise(rewriter, loc, loop.getInductionVar(), raster);
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

private:
  /// What the raster divides by, worked out in front of the loop.
  struct Raster {
    /// All of M lies in one row of tiles: a tile's number is its column.
    bool oneRow = false;
    Value groups; ///< whole groups of tile rows
    /// Tiles of a whole group; its rows, and those of the last one.
    std::optional<Divisor> perGroup, rows, lastRows;
  };

  Raster prepareRaster(OpBuilder &builder, Location loc, Value tilesM,
                       Value tilesN) const {
    Raster raster;
    int64_t m = context.problem.m;
    raster.oneRow = m != ::dgemm::kDynamic && m <= context.schedule.tileM;
    if (raster.oneRow)
      return raster;
    Value group = context.rasterGroup;
    Value one = constantI32(builder, loc, 1);
    // M or N = 0 has no tiles, but divides all the same.
    Value perGroup = arith::MulIOp::create(builder, loc, group, tilesN);
    perGroup = arith::MaxUIOp::create(builder, loc, perGroup, one);
    raster.groups = arith::DivUIOp::create(builder, loc, tilesM, group);
    Value inGroups = arith::MulIOp::create(builder, loc, raster.groups, group);
    Value last = arith::SubIOp::create(builder, loc, tilesM, inGroups);
    last = arith::MaxUIOp::create(builder, loc, last, one);
    raster.perGroup.emplace(builder, loc, perGroup);
    raster.rows.emplace(builder, loc, group);
    raster.lastRows.emplace(builder, loc, last);
    return raster;
  }

  std::pair<Value, Value> rasterise(OpBuilder &builder, Location loc,
                                    Value tile, const Raster &raster) const {
    Value row, column;
    if (raster.oneRow) {
      row = constantI32(builder, loc, 0);
      column = tile;
    } else {
      auto [group, within] = raster.perGroup->divide(builder, loc, tile);
      Value whole = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, group, raster.groups);
      Divisor rows = raster.rows->orElse(builder, loc, whole, *raster.lastRows);
      auto [quotient, rest] = rows.divide(builder, loc, within);
      Value firstRow =
          arith::MulIOp::create(builder, loc, group, context.rasterGroup);
      row = arith::AddIOp::create(builder, loc, firstRow, rest);
      column = quotient;
    }
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
} // namespace

void mlir::dgemm::populateTilePatterns(RewritePatternSet &patterns,
                                       const TypeConverter &converter,
                                       const KernelContext &context) {
  patterns.add<TilesPattern, KBlocksPattern, AdvancePattern>(
      converter, patterns.getContext(), context);
}
