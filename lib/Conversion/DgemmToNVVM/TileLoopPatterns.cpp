// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop over a CTA's tiles: where their numbers come from, and which rows
// and columns of D a number stands for.

#include "KernelContext.h"

#include <optional>
#include <tuple>

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// Addresses of the queue that carries tile numbers from producer to consumers.
class TileQueue {
public:
  TileQueue(const KernelContext &context, Location loc)
      : context(context), loc(loc) {}

  Value full(OpBuilder &builder, Value place) const {
    return at(builder, 0, 8, place);
  }
  Value empty(OpBuilder &builder, Value place) const {
    return at(builder, 16, 8, place);
  }
  Value number(OpBuilder &builder, Value place) const {
    return at(builder, 32, 4, place);
  }

private:
  Value at(OpBuilder &builder, int64_t offset, int64_t step,
           Value place) const {
    return context.slotAddress(
        builder, loc, context.plan.offsetTileQueue + offset, step, place);
  }

  const KernelContext &context;
  Location loc;
};

/// The thread that will load initialises the queue's barriers; the ring behind
/// it fences and lets everyone pass.
struct TileQueuePattern : KernelPattern<TileQueueOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TileQueueOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value firstWarp =
        constantI32(rewriter, loc, 4 * context.schedule.consumers);
    Value isLoading = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, context.warp, firstWarp);
    scf::IfOp::create(
        rewriter, loc, isLoading, [&](OpBuilder &body, Location loc) {
          Value elected =
              NVVM::ElectSyncOp::create(body, loc, body.getI1Type(), Value());
          scf::IfOp::create(body, loc, elected,
                            [&](OpBuilder &thread, Location loc) {
                              initialise(thread, loc, op.getConsumers());
                              scf::YieldOp::create(thread, loc);
                            });
          scf::YieldOp::create(body, loc);
        });
    rewriter.eraseOp(op);
    return success();
  }

  void initialise(OpBuilder &builder, Location loc, int64_t consumers) const {
    TileQueue queue(context, loc);
    Value one = constantI32(builder, loc, 1);
    Value readers = constantI32(builder, loc, 4 * consumers);
    for (int place : {0, 1}) {
      Value number = constantI32(builder, loc, place);
      NVVM::MBarrierInitOp::create(builder, loc, queue.full(builder, number),
                                   one, Value());
      NVVM::MBarrierInitOp::create(builder, loc, queue.empty(builder, number),
                                   readers, Value());
    }
  }
};

/// A divisor that stays the same for many divisions. A 32-bit division takes
/// a chain of about 130 cycles, which no warp hides between two tiles; with the
/// reciprocal at hand it is a multiplication and a correction.
class Divisor {
public:
  /// `value` is an i32 greater than 0 and below 2^31. The reciprocal is not
  /// the quotient of 2^32 - 1: that takes twice as long before the first load,
  /// and LLVM moves a select of two such quotients in front of one division,
  /// which then stands between the tiles.
  Divisor(OpBuilder &builder, Location loc, Value value)
      : value(value), reciprocal(reciprocalOf(builder, loc, value)) {}
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

  /// Quotient and remainder of an i32 below 2^31. The reciprocal falls short
  /// of 2^32 / d by less than 2, so the high word of the product is the
  /// quotient or one less.
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
  /// An i32 that falls short of t = 2^32 / d by less than 2. The first estimate
  /// is t (1 - e) with 0 < e: it starts from 2^32 (1 - 2^-21), and the two
  /// roundings and rcp.approx are off by 2^-22 together at most; taking the
  /// whole part adds less than 1 / t to e. 2^32 less its product with d is
  /// 2^32 e, so the step of Newton leads to t (1 - e^2) and loses less than 1
  /// by rounding. t e^2 is below 2^-8 + 1 / t, and t is above 2.
  static Value reciprocalOf(OpBuilder &builder, Location loc, Value value) {
    Type f32 = builder.getF32Type();
    Value real = arith::UIToFPOp::create(builder, loc, f32, value);
    real = NVVM::RcpApproxFtzF32Op::create(builder, loc, f32, real);
    Value scale = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(0x1.fffffp31f));
    real = arith::MulFOp::create(builder, loc, real, scale);
    Value estimate =
        arith::FPToUIOp::create(builder, loc, builder.getI32Type(), real);
    Value missing = arith::SubIOp::create(
        builder, loc, constantI32(builder, loc, 0),
        arith::MulIOp::create(builder, loc, estimate, value));
    Value more = arith::MulUIExtendedOp::create(builder, loc, estimate, missing)
                     .getHigh();
    return arith::AddIOp::create(builder, loc, estimate, more);
  }

  Value value, reciprocal;
};

/// What falls to one CTA where the K steps of the tiles that do not fill a
/// whole wave are dealt out (stream-K). Those are the first tiles; their steps
/// stand in one line, of which every CTA takes an equal stretch. None is longer
/// than a tile, so it lies in at most two. The tiles of the whole waves follow,
/// as many for each CTA.
class KShares {
public:
  KShares(OpBuilder &builder, Location loc, const KernelContext &context,
          Value total)
      : context(context) {
    Type i32 = builder.getI32Type();
    one = constantI32(builder, loc, 1);
    zero = constantI32(builder, loc, 0);
    // Tiles without a K step are dealt out as if they had one.
    steps = arith::MaxUIOp::create(builder, loc, context.kSteps, one);
    cta = NVVM::BlockIdXOp::create(builder, loc, i32);
    ctas = NVVM::GridDimXOp::create(builder, loc, i32);
    waves = arith::DivUIOp::create(builder, loc, total, ctas);
    Value whole = arith::MulIOp::create(builder, loc, waves, ctas);
    dealt = arith::SubIOp::create(builder, loc, total, whole);

    Value line = arith::MulIOp::create(builder, loc, dealt, steps);
    Value even = divideUp(builder, loc, line, ctas);
    Value least = ceilDivide(builder, loc, steps, context.schedule.splitK);
    Value length = arith::MaxUIOp::create(builder, loc, even, least);
    stretch.emplace(builder, loc, length);
    Value start = arith::MulIOp::create(builder, loc, cta, length);
    start = arith::MinUIOp::create(builder, loc, start, line);
    end = arith::AddIOp::create(builder, loc, start, length);
    end = arith::MinUIOp::create(builder, loc, end, line);
    firstTile = arith::DivUIOp::create(builder, loc, start, steps);
    firstStep = arith::SubIOp::create(
        builder, loc, start,
        arith::MulIOp::create(builder, loc, firstTile, steps));
    Value touched = divideUp(builder, loc, end, steps);
    Value tiles = arith::SubIOp::create(builder, loc, touched, firstTile);
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       start, end);
    pieces = arith::SelectOp::create(builder, loc, some, tiles, zero);
  }

  /// Runs over the CTA's pieces, then over its whole tiles.
  scf::ForOp createLoop(OpBuilder &builder, Location loc,
                        ValueRange inits) const {
    Value items = arith::AddIOp::create(builder, loc, pieces, waves);
    return scf::ForOp::create(builder, loc, zero, items, one, inits);
  }

  /// The tile's number, and the block arguments of `shares`, of one item.
  std::pair<Value, SmallVector<Value>>
  describe(OpBuilder &builder, Location loc, Value item) const {
    auto select = [&](Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(builder, loc, condition, yes, no);
    };
    Value isPiece = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, item, pieces);
    Value piece = arith::AddIOp::create(builder, loc, firstTile, item);
    Value wave = arith::SubIOp::create(builder, loc, item, pieces);
    Value inWaves = arith::MulIOp::create(builder, loc, wave, ctas);
    Value own = arith::AddIOp::create(builder, loc, dealt, cta);
    inWaves = arith::AddIOp::create(builder, loc, inWaves, own);
    Value tile = select(isPiece, piece, inWaves);

    // The first piece begins where the stretch does, the last ends with it.
    Value isFirst = arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::eq, item, zero);
    isFirst = arith::AndIOp::create(builder, loc, isFirst, isPiece);
    Value lower = select(isFirst, firstStep, zero);
    Value line = arith::MulIOp::create(builder, loc, piece, steps);
    Value left = arith::SubIOp::create(builder, loc, end, line);
    left = arith::MinUIOp::create(builder, loc, left, context.kSteps);
    Value upper = select(isPiece, left, context.kSteps);

    // The stretches that the tile's first and last step lie in.
    Value firstCta = stretch->divide(builder, loc, line).first;
    Value lastLine = arith::AddIOp::create(
        builder, loc, line, arith::SubIOp::create(builder, loc, steps, one));
    Value lastCta = stretch->divide(builder, loc, lastLine).first;
    Value parts = arith::SubIOp::create(builder, loc, lastCta, firstCta);
    parts = arith::AddIOp::create(builder, loc, parts, one);
    Value part = arith::SubIOp::create(builder, loc, cta, firstCta);
    // From one piece to the next along the line, the CTA's number or the
    // tile's grows, so that no two pieces share a place.
    Value place = arith::AddIOp::create(builder, loc, firstCta, piece);
    return {tile, {lower, upper, part, select(isPiece, parts, one), place}};
  }

private:
  static Value divideUp(OpBuilder &builder, Location loc, Value value,
                        Value by) {
    Value more =
        arith::SubIOp::create(builder, loc, by, constantI32(builder, loc, 1));
    more = arith::AddIOp::create(builder, loc, value, more);
    return arith::DivUIOp::create(builder, loc, more, by);
  }

  const KernelContext &context;
  Value one, zero;
  Value cta, ctas;
  Value steps;     ///< K steps of a tile, at least 1
  Value waves;     ///< whole waves: tiles that each CTA has to itself
  Value dealt;     ///< tiles whose steps are dealt out
  Value end;       ///< of this CTA's stretch of the line
  Value firstTile; ///< the tile where the stretch begins, and the step in it
  Value firstStep;
  Value pieces; ///< tiles in which the stretch lies
  /// Steps of a stretch.
  std::optional<Divisor> stretch;
};

/// A loop over the numbers of the CTA's tiles, each split into row and column
/// by the raster: within a group of `rasterGroup` tile rows, down the rows
/// first; along N the same with columns. A cluster walks blocks of clusterM by
/// clusterN tiles in place of tiles; those beyond D load zeros and store
/// nothing. No loop in register form.
struct TilesPattern : KernelPattern<TilesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TilesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const ::dgemm::Schedule &schedule = context.schedule;
    Value blocksM = ceilDivide(rewriter, loc, context.sizeM,
                               int64_t(schedule.tileM) * schedule.clusterM);
    Value blocksN = ceilDivide(rewriter, loc, context.sizeN,
                               int64_t(schedule.tileN) * schedule.clusterN);
    Value total = arith::MulIOp::create(rewriter, loc, blocksM, blocksN);
    Raster raster = prepareRaster(rewriter, loc, blocksM, blocksN);
    auto next = cast<NextOp>(op.getBody().front().getTerminator());
    if (schedule.form == ::dgemm::Form::Register && op.getInits().empty()) {
      // Each CTA has one tile; a loop would keep its state in registers.
      auto [row, column] = rasterise(
          rewriter, loc, firstAndStep(rewriter, op, adaptor).first, raster);
      rewriter.eraseOp(next);
      rewriter.inlineBlockBefore(&op.getBody().front(), op, {row, column});
      rewriter.eraseOp(op);
      return success();
    }

    Operation *loop;
    Block *body;
    Value number;
    SmallVector<Value> carried, yields, share;
    if (op.getNumbers()) {
      auto whileLoop = createQueuedLoop(rewriter, op, adaptor, total);
      loop = whileLoop;
      body = whileLoop.getAfterBody();
      number = body->getArgument(0);
      carried.assign(body->args_begin() + 3, body->args_end());
      rewriter.setInsertionPointToStart(body);
      yields = nextPlace(rewriter, loc, op, body->getArgument(1),
                         body->getArgument(2));
    } else {
      std::optional<KShares> shares;
      if (op.getShares())
        shares.emplace(rewriter, loc, context, total);
      auto forLoop = shares
                         ? shares->createLoop(rewriter, loc, adaptor.getInits())
                         : createCountedLoop(rewriter, op, adaptor, total);
      loop = forLoop;
      body = forLoop.getBody();
      number = forLoop.getInductionVar();
      llvm::append_range(carried, forLoop.getRegionIterArgs());
      if (body->mightHaveTerminator())
        rewriter.eraseOp(body->getTerminator());
      rewriter.setInsertionPointToStart(body);
      if (shares)
        std::tie(number, share) = shares->describe(rewriter, loc, number);
    }
    auto [row, column] = rasterise(rewriter, loc, number, raster);
    SmallVector<Value> arguments = {row, column};
    llvm::append_range(arguments, share);
    llvm::append_range(arguments, carried);
    llvm::append_range(yields, next.getValues());

    rewriter.setInsertionPoint(next);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(next, yields);
    rewriter.inlineBlockBefore(&op.getBody().front(), body, body->end(),
                               arguments);
    rewriter.replaceOp(op, loop->getResults().take_back(op.getNumResults()));
    return success();
  }

  /// CTA c of n: tiles c, c + n, ...; of a lane every `lanes`-th of those.
  scf::ForOp createCountedLoop(OpBuilder &builder, TilesOp op,
                               OpAdaptor adaptor, Value total) const {
    auto [first, step] = firstAndStep(builder, op, adaptor);
    return scf::ForOp::create(builder, op.getLoc(), first, total, step,
                              adaptor.getInits());
  }

  std::pair<Value, Value> firstAndStep(OpBuilder &builder, TilesOp op,
                                       OpAdaptor adaptor) const {
    Location loc = op.getLoc();
    Type i32 = builder.getI32Type();
    const ::dgemm::Schedule &schedule = context.schedule;
    Value first = NVVM::BlockIdXOp::create(builder, loc, i32);
    Value step = NVVM::GridDimXOp::create(builder, loc, i32);
    if (int64_t ctas =
            int64_t(schedule.splitK) * schedule.clusterM * schedule.clusterN;
        ctas > 1) {
      // CTAs with neighbouring numbers work on the same tile, or in a cluster
      // on a block of tiles.
      first = arith::DivUIOp::create(builder, loc, first,
                                     constantI32(builder, loc, ctas));
      step = arith::DivUIOp::create(builder, loc, step,
                                    constantI32(builder, loc, ctas));
    }
    if (op.getLane()) {
      Value skipped =
          arith::MulIOp::create(builder, loc, step, adaptor.getLane());
      first = arith::AddIOp::create(builder, loc, first, skipped);
      step = arith::MulIOp::create(builder, loc, step,
                                   constantI32(builder, loc, op.getLanes()));
    }
    return {first, step};
  }

  /// Numbers through the queue, until one is not below `total`. Carries the
  /// place in the queue and its phase in front of the op's own values; the body
  /// has the number in front of those.
  scf::WhileOp createQueuedLoop(ConversionPatternRewriter &rewriter, TilesOp op,
                                OpAdaptor adaptor, Value total) const {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    bool fetches = *op.getNumbers() == "fetch";
    Value zero = constantI32(rewriter, loc, 0);
    SmallVector<Value> inits = {op.getLane() ? adaptor.getLane() : zero, zero};
    llvm::append_range(inits, adaptor.getInits());
    SmallVector<Type> types = {i32, i32, i32};
    llvm::append_range(types, ValueRange(adaptor.getInits()).getTypes());
    auto loop = scf::WhileOp::create(
        rewriter, loc, types, inits,
        [&](OpBuilder &before, Location loc, ValueRange values) {
          Value number;
          if (fetches) {
            number = fetch(before, loc, total);
            publish(before, loc, number, values[0], values[1]);
          } else {
            number = receive(before, loc, values[0], values[1]);
          }
          Value inside = arith::CmpIOp::create(
              before, loc, arith::CmpIPredicate::ult, number, total);
          SmallVector<Value> passed = {number};
          llvm::append_range(passed, values);
          scf::ConditionOp::create(before, loc, inside, passed);
        },
        nullptr);
    if (loop.getAfterBody()->mightHaveTerminator())
      rewriter.eraseOp(loop.getAfterBody()->getTerminator());
    if (fetches && context.schedule.mode == ::dgemm::ConsumerMode::PingPong) {
      // The other warpgroup reads the other place, and must see the end too.
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfter(loop);
      SmallVector<Value> other =
          nextPlace(rewriter, loc, op, loop.getResult(1), loop.getResult(2));
      publish(rewriter, loc, total, other[0], other[1]);
    }
    return loop;
  }

  /// Place and phase of the next number. A lane of two always reads the same
  /// place.
  SmallVector<Value> nextPlace(OpBuilder &builder, Location loc, TilesOp op,
                               Value place, Value phase) const {
    Value one = constantI32(builder, loc, 1);
    if (op.getLanes() == 2)
      return {place, arith::XOrIOp::create(builder, loc, phase, one)};
    return {arith::XOrIOp::create(builder, loc, place, one),
            arith::XOrIOp::create(builder, loc, phase, place)};
  }

  /// The next number that no CTA has had. Every CTA ends with one beyond the
  /// last tile, so whoever gets the last of those knows that nobody will ask
  /// again, and makes the counter ready for the next launch.
  Value fetch(OpBuilder &builder, Location loc, Value total) const {
    Type i32 = builder.getI32Type();
    Value number = LLVM::AtomicRMWOp::create(
        builder, loc, LLVM::AtomicBinOp::add, context.workspace,
        constantI32(builder, loc, 1), LLVM::AtomicOrdering::monotonic,
        "device");
    Value ctas = NVVM::GridDimXOp::create(builder, loc, i32);
    Value asked = arith::AddIOp::create(builder, loc, total, ctas);
    Value last = arith::SubIOp::create(builder, loc, asked,
                                       constantI32(builder, loc, 1));
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         number, last);
    scf::IfOp::create(builder, loc, isLast, [&](OpBuilder &body, Location loc) {
      LLVM::AtomicRMWOp::create(body, loc, LLVM::AtomicBinOp::xchg,
                                context.workspace, constantI32(body, loc, 0),
                                LLVM::AtomicOrdering::monotonic, "device");
      scf::YieldOp::create(body, loc);
    });
    return number;
  }

  /// The producer's half: a fresh barrier's previous phase counts as complete.
  void publish(OpBuilder &builder, Location loc, Value number, Value place,
               Value phase) const {
    TileQueue queue(context, loc);
    Value free = arith::XOrIOp::create(builder, loc, phase,
                                       constantI32(builder, loc, 1));
    KernelContext::wait(builder, loc, queue.empty(builder, place), free);
    LLVM::StoreOp::create(builder, loc, number, queue.number(builder, place));
    NVVM::MBarrierArriveOp::create(builder, loc, Type(),
                                   queue.full(builder, place), Value());
  }

  /// The consumers' half, for every warp. After the broadcast all lanes have
  /// read the place.
  Value receive(OpBuilder &builder, Location loc, Value place,
                Value phase) const {
    TileQueue queue(context, loc);
    KernelContext::wait(builder, loc, queue.full(builder, place), phase);
    Value read = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                      queue.number(builder, place));
    Value number = KernelContext::broadcast(builder, loc, read);
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              context.lane, constantI32(builder, loc, 0));
    scf::IfOp::create(builder, loc, first, [&](OpBuilder &body, Location loc) {
      NVVM::MBarrierArriveOp::create(body, loc, Type(),
                                     queue.empty(body, place), Value());
      scf::YieldOp::create(body, loc);
    });
    return number;
  }

  /// What the raster divides by, worked out in front of the loop. Numbers are
  /// split into (inner, outer): along M the inner side is the rows.
  struct Raster {
    /// One block is all of the inner side: the number is the outer one.
    bool oneInner = false;
    Value group;  ///< blocks of a whole group along the inner side
    Value groups; ///< whole groups
    /// Blocks of a whole group; its width, and that of the last one.
    std::optional<Divisor> perGroup, width, lastWidth;
  };

  Raster prepareRaster(OpBuilder &builder, Location loc, Value blocksM,
                       Value blocksN) const {
    const ::dgemm::Schedule &schedule = context.schedule;
    bool alongM = schedule.rasterOrder == ::dgemm::RasterOrder::AlongM;
    int64_t extent = alongM ? context.problem.m : context.problem.n;
    int64_t perBlock = alongM ? schedule.clusterM : schedule.clusterN;
    int64_t covered = perBlock * (alongM ? schedule.tileM : schedule.tileN);
    Raster raster;
    raster.oneInner = extent != ::dgemm::kDynamic && extent <= covered;
    if (raster.oneInner)
      return raster;
    Value inner = alongM ? blocksM : blocksN;
    Value outer = alongM ? blocksN : blocksM;
    Value one = constantI32(builder, loc, 1);
    Value group = context.rasterGroup;
    if (perBlock > 1) {
      // The group counts tiles; at least one block of them.
      group = arith::DivUIOp::create(builder, loc, group,
                                     constantI32(builder, loc, perBlock));
      group = arith::MaxUIOp::create(builder, loc, group, one);
    }
    // M or N = 0 has no tiles, but divides all the same.
    Value perGroup = arith::MulIOp::create(builder, loc, group, outer);
    perGroup = arith::MaxUIOp::create(builder, loc, perGroup, one);
    raster.group = group;
    raster.perGroup.emplace(builder, loc, perGroup);
    raster.width.emplace(builder, loc, group);
    auto [groups, last] = raster.width->divide(builder, loc, inner);
    raster.groups = groups;
    last = arith::MaxUIOp::create(builder, loc, last, one);
    raster.lastWidth.emplace(builder, loc, last);
    return raster;
  }

  /// First row and column in D of this CTA's tile in block `number`.
  std::pair<Value, Value> rasterise(OpBuilder &builder, Location loc,
                                    Value number, const Raster &raster) const {
    const ::dgemm::Schedule &schedule = context.schedule;
    Value inner, outer;
    if (raster.oneInner) {
      inner = constantI32(builder, loc, 0);
      outer = number;
    } else {
      auto [group, within] = raster.perGroup->divide(builder, loc, number);
      Value whole = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, group, raster.groups);
      Divisor width =
          raster.width->orElse(builder, loc, whole, *raster.lastWidth);
      auto [quotient, rest] = width.divide(builder, loc, within);
      Value first = arith::MulIOp::create(builder, loc, group, raster.group);
      inner = arith::AddIOp::create(builder, loc, first, rest);
      outer = quotient;
    }
    if (schedule.rasterOrder == ::dgemm::RasterOrder::AlongN)
      std::swap(inner, outer);
    return {corner(builder, loc, inner, schedule.tileM, schedule.clusterM,
                   context.clusterRow),
            corner(builder, loc, outer, schedule.tileN, schedule.clusterN,
                   context.clusterCol)};
  }

  /// First element of tile `place` of the `perBlock` in block `number`.
  Value corner(OpBuilder &builder, Location loc, Value number, int64_t tile,
               int64_t perBlock, Value place) const {
    Value start = arith::MulIOp::create(
        builder, loc, number, constantI32(builder, loc, tile * perBlock));
    if (perBlock == 1)
      return start;
    Value skipped = arith::MulIOp::create(builder, loc, place,
                                          constantI32(builder, loc, tile));
    return arith::AddIOp::create(builder, loc, start, skipped);
  }
};
} // namespace

void mlir::dgemm::populateTileLoopPatterns(RewritePatternSet &patterns,
                                           const TypeConverter &converter,
                                           const KernelContext &context) {
  patterns.add<TileQueuePattern, TilesPattern>(converter, patterns.getContext(),
                                               context);
}
