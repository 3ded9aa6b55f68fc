// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring: barrier set-up, waits, arrivals and TMA copies into slots.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// The thread that will load prefetches the tensor maps and initialises the
/// barriers; it then loads at once, while the consumers wait until it has
/// passed here. (It can: slots are free at the start, so it waits for nobody,
/// and elect.sync names the same thread every time.) Where CTAs of a cluster
/// arrive at each other's barriers, all threads of the cluster meet instead.
struct RingPattern : KernelPattern<RingOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value isProducer = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, context.warpgroup,
        constantI32(rewriter, loc, context.schedule.consumers));
    bool meets = op.getCtas() > 1;
    // Barrier 0 for the whole CTA.
    Value number = constantI32(rewriter, loc, 0);
    Value threads = constantI32(rewriter, loc, context.schedule.threads());
    scf::IfOp::create(
        rewriter, loc, isProducer,
        [&](OpBuilder &body, Location loc) {
          Value isFirstWarp = arith::CmpIOp::create(
              body, loc, arith::CmpIPredicate::eq, context.warpInGroup,
              constantI32(body, loc, 0));
          scf::IfOp::create(body, loc, isFirstWarp,
                            [&](OpBuilder &warp, Location loc) {
                              initialise(warp, loc, op);
                              scf::YieldOp::create(warp, loc);
                            });
          if (!meets)
            NVVM::BarrierArriveOp::create(body, loc, number, threads);
          scf::YieldOp::create(body, loc);
        },
        [&](OpBuilder &body, Location loc) {
          if (!meets)
            NVVM::BarrierOp::create(body, loc, Type(), number, threads,
                                    NVVM::BarrierReductionAttr(), Value());
          scf::YieldOp::create(body, loc);
        });
    if (meets) {
      NVVM::ClusterArriveOp::create(rewriter, loc, rewriter.getUnitAttr());
      NVVM::ClusterWaitOp::create(rewriter, loc, rewriter.getUnitAttr());
    }
    rewriter.replaceOp(op, context.smem);
    return success();
  }

private:
  void initialise(OpBuilder &builder, Location loc, RingOp op) const {
    Value elected =
        NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
    scf::IfOp::create(
        builder, loc, elected, [&](OpBuilder &body, Location loc) {
          // First, so that they come while the barriers are initialised. A
          // pointer not said to be a parameter's is fetched twice.
          for (Value map : context.tensorMaps)
            NVVM::PrefetchOp::create(body, loc, NVVM::PrefetchCacheLevelAttr(),
                                     NVVM::CacheEvictionPriorityAttr(), map,
                                     Value(), /*tensormap=*/true,
                                     /*uniform=*/false,
                                     /*in_param_space=*/true);
          Value one = constantI32(body, loc, 1);
          // Every warp of a reading warpgroup arrives for itself: one warp's
          // wait says nothing of what its sisters have read.
          Value readers =
              constantI32(body, loc, 4 * op.getConsumers() * op.getCtas());
          for (int slot = 0; slot < context.schedule.stages; ++slot) {
            NVVM::MBarrierInitOp::create(
                body, loc,
                context.smemAt(body, loc, context.plan.fullBarrier(slot)), one,
                Value());
            NVVM::MBarrierInitOp::create(
                body, loc,
                context.smemAt(
                    body, loc,
                    context.plan.emptyBarrier(slot, context.schedule.stages)),
                readers, Value());
          }
          NVVM::FenceMbarrierInitOp::create(body, loc);
          scf::YieldOp::create(body, loc);
        });
  }
};

/// The producer waits for the slot's empty barrier, a consumer for the full.
struct AcquirePattern : KernelPattern<AcquireOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AcquireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    KernelContext::wait(rewriter, loc,
                        context.emptyBarrier(rewriter, loc, adaptor.getSlot()),
                        adaptor.getPhase());
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitPattern : KernelPattern<WaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = context.fullBarrier(rewriter, loc, adaptor.getSlot());
    auto wait = [&](OpBuilder &builder, Location loc) {
      KernelContext::wait(builder, loc, barrier, adaptor.getPhase());
    };
    if (Value seen = adaptor.getSeen()) {
      Value always =
          arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
      Value needed = arith::XOrIOp::create(rewriter, loc, seen, always);
      scf::IfOp::create(rewriter, loc, needed,
                        [&](OpBuilder &body, Location loc) {
                          wait(body, loc);
                          scf::YieldOp::create(body, loc);
                        });
    } else {
      wait(rewriter, loc);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct PeekPattern : KernelPattern<PeekOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(PeekOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTestWaitOp>(
        op, rewriter.getI1Type(),
        context.fullBarrier(rewriter, loc, adaptor.getSlot()),
        adaptor.getPhase());
    return success();
  }
};

struct ExpectPattern : KernelPattern<ExpectOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExpectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value bytes = constantI32(rewriter, loc, op.getBytes());
    if (adaptor.getMissing())
      bytes = arith::SubIOp::create(rewriter, loc, bytes, adaptor.getMissing());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, Type(),
        context.fullBarrier(rewriter, loc, adaptor.getSlot()), bytes,
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReleasePattern : KernelPattern<ReleaseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int ctas = context.schedule.multicastCtas();
    // Lane 0, or with multicast one lane for each CTA that waits.
    Value arrives =
        ctas > 1
            ? arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                    context.lane,
                                    constantI32(rewriter, loc, ctas))
            : arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                    context.lane,
                                    constantI32(rewriter, loc, 0));
    Value barrier = context.emptyBarrier(rewriter, loc, adaptor.getSlot());
    scf::IfOp::create(
        rewriter, loc, arrives, [&](OpBuilder &body, Location loc) {
          Value target = ctas > 1 ? inPeer(body, loc, barrier) : barrier;
          NVVM::MBarrierArriveOp::create(body, loc, Type(), target, Value());
          scf::YieldOp::create(body, loc);
        });
    rewriter.eraseOp(op);
    return success();
  }

  /// The barrier in the CTA with the lane's number among those that share the
  /// multicast tile. The arrival keeps the CTA's scope: it announces reads that
  /// are over, no data, and with the cluster's scope ptxas 13.0 puts a fence of
  /// the whole device in front of it.
  Value inPeer(OpBuilder &builder, Location loc, Value barrier) const {
    const ::dgemm::Schedule &schedule = context.schedule;
    Value rows = constantI32(builder, loc, schedule.clusterM);
    bool alongM = schedule.multicast == ::dgemm::Multicast::B;
    Value row = alongM ? context.lane : context.clusterRow;
    Value col = alongM ? context.clusterCol : context.lane;
    Value before = arith::MulIOp::create(builder, loc, col, rows);
    Value rank = arith::AddIOp::create(builder, loc, before, row);
    auto clusterPointer = LLVM::LLVMPointerType::get(builder.getContext(), 7);
    return NVVM::MapaOp::create(builder, loc, clusterPointer, barrier, rank);
  }
};

struct TmaLoadPattern : KernelPattern<TmaLoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TmaLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const ::dgemm::SmemPlan &plan = context.plan;
    int64_t base = op.getMember() == 0   ? plan.offsetA
                   : op.getMember() == 1 ? plan.offsetB
                                         : plan.offsetScaleA;
    int64_t step = op.getMember() == 0   ? plan.slotBytesA
                   : op.getMember() == 1 ? plan.slotBytesB
                                         : plan.slotBytesScaleA;
    Value local =
        context.slotAddress(rewriter, loc, base, step, adaptor.getSlot());
    Value mask;
    if (op.getPart()) {
      Value skipped = arith::MulIOp::create(
          rewriter, loc, adaptor.getPart(),
          constantI32(rewriter, loc, step / op.getParts()));
      local =
          LLVM::GEPOp::create(rewriter, loc, local.getType(),
                              rewriter.getI8Type(), local, ValueRange{skipped});
      mask = sharingCtas(rewriter, loc);
    }
    if (!op.getLastMap()) {
      copy(rewriter, op, adaptor, adaptor.getMap(), adaptor.getCoordinates(),
           local, mask);
    } else {
      scf::IfOp::create(
          rewriter, loc, adaptor.getIsLast(),
          [&](OpBuilder &body, Location loc) {
            copyLastRows(body, op, adaptor, local);
            scf::YieldOp::create(body, loc);
          },
          [&](OpBuilder &body, Location loc) {
            copy(body, op, adaptor, adaptor.getMap(), adaptor.getCoordinates(),
                 local, mask);
            scf::YieldOp::create(body, loc);
          });
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void copy(OpBuilder &builder, TmaLoadOp op, OpAdaptor adaptor, Value map,
            ValueRange coordinates, Value local, Value mask) const {
    Location loc = op.getLoc();
    auto clusterPointer = LLVM::LLVMPointerType::get(builder.getContext(), 7);
    Value destination =
        LLVM::AddrSpaceCastOp::create(builder, loc, clusterPointer, local);
    Value hint;
    if (int64_t policy = cachePolicy(op.getHint()))
      hint = constantI64(builder, loc, policy);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, destination, map, coordinates,
        context.fullBarrier(builder, loc, adaptor.getSlot()), ValueRange(),
        mask, hint, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        NVVM::CTAGroupKindAttr(), Value());
  }

  /// A copy for each K block of the slot, where a whole one would have put it.
  void copyLastRows(OpBuilder &builder, TmaLoadOp op, OpAdaptor adaptor,
                    Value local) const {
    Location loc = op.getLoc();
    auto tile =
        cast<TileType>(op.getRing().getType().getMembers()[op.getMember()]);
    int64_t blocks = context.schedule.kBlocksPerStage;
    int64_t blockBytes = tile.getRows() * tile.getCols() / blocks *
                         (tile.getElementType().getIntOrFloatBitWidth() / 8);
    for (int64_t block = 0; block < blocks; ++block) {
      SmallVector<Value> coordinates(adaptor.getCoordinates());
      Value place = local;
      if (block > 0) {
        coordinates.back() = arith::AddIOp::create(
            builder, loc, coordinates.back(), constantI32(builder, loc, block));
        place = LLVM::GEPOp::create(
            builder, loc, local.getType(), builder.getI8Type(), local,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(block * blockBytes)});
      }
      copy(builder, op, adaptor, adaptor.getLastMap(), coordinates, place,
           /*mask=*/Value());
    }
  }

  /// i16, a bit for each CTA of the cluster that shares the multicast tile.
  Value sharingCtas(OpBuilder &builder, Location loc) const {
    const ::dgemm::Schedule &schedule = context.schedule;
    bool alongM = schedule.multicast == ::dgemm::Multicast::B;
    int64_t bits = 0;
    for (int i = 0; i < schedule.multicastCtas(); ++i)
      bits |= int64_t(1) << (alongM ? i : i * schedule.clusterM);
    Value shift = context.clusterRow;
    if (alongM)
      shift =
          arith::MulIOp::create(builder, loc, context.clusterCol,
                                constantI32(builder, loc, schedule.clusterM));
    Value wide = arith::ShLIOp::create(builder, loc,
                                       constantI32(builder, loc, bits), shift);
    return arith::TruncIOp::create(builder, loc, builder.getI16Type(), wide);
  }
};

struct RowScalesPattern : KernelPattern<RowScalesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RowScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    Value column = context.slotAddress(
        rewriter, loc,
        context.plan.offsetScaleA +
            int64_t(op.getKBlock()) * context.schedule.tileM * 4,
        context.plan.slotBytesScaleA, adaptor.getSlot());
    Value row = arith::AddIOp::create(rewriter, loc, adaptor.getRow(),
                                      context.fragmentRow(rewriter, loc));
    Value upper = LLVM::GEPOp::create(rewriter, loc, column.getType(), f32,
                                      column, ValueRange{row});
    Value lower = LLVM::GEPOp::create(rewriter, loc, column.getType(), f32,
                                      upper, ArrayRef<LLVM::GEPArg>{8});
    rewriter.replaceOp(op, {LLVM::LoadOp::create(rewriter, loc, f32, upper),
                            LLVM::LoadOp::create(rewriter, loc, f32, lower)});
    return success();
  }
};
} // namespace

/// base[index] with a 64-bit index of f32 values. An ordinary load, though no
/// kernel writes scales: one marked invariant is free to sink below the
/// multiplications, and its latency then stands in front of the promotion.
static Value loadScale(OpBuilder &builder, Location loc, Value base,
                       Value index) {
  Type f32 = builder.getF32Type();
  Value address = LLVM::GEPOp::create(builder, loc, base.getType(), f32, base,
                                      ValueRange{index});
  return LLVM::LoadOp::create(builder, loc, f32, address, /*alignment=*/4);
}

/// major * majorStride + minor * minorStride, 64-bit.
static Value scaleIndex(OpBuilder &builder, Location loc, Value major,
                        Value majorStride, Value minor, Value minorStride) {
  Type i64 = builder.getI64Type();
  Value wideMajor = arith::ExtUIOp::create(builder, loc, i64, major);
  Value wideMinor = arith::ExtUIOp::create(builder, loc, i64, minor);
  Value first = arith::MulIOp::create(builder, loc, wideMajor, majorStride);
  Value second = arith::MulIOp::create(builder, loc, wideMinor, minorStride);
  return arith::AddIOp::create(builder, loc, first, second);
}

/// The K block whose scale this thread reads: `kblock`, or where `lanes`
/// neighbours read one each, this thread's among those from `kblock` to `last`.
static Value laneKblock(OpBuilder &builder, Location loc,
                        const KernelContext &context, Value kblock,
                        int64_t lanes, Value last) {
  if (!last)
    return kblock;
  Value lane = arith::AndIOp::create(builder, loc, context.lane,
                                     constantI32(builder, loc, lanes - 1));
  Value mine = arith::AddIOp::create(builder, loc, kblock, lane);
  return arith::MinUIOp::create(builder, loc, mine, last);
}

namespace {
struct GlobalRowScalesPattern : KernelPattern<GlobalRowScalesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(GlobalRowScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value last = arith::SubIOp::create(rewriter, loc, adaptor.getLimit(),
                                       constantI32(rewriter, loc, 1));
    Value upperRow = arith::AddIOp::create(rewriter, loc, adaptor.getRow(),
                                           context.fragmentRow(rewriter, loc));
    Value kblock = laneKblock(rewriter, loc, context, adaptor.getKblock(),
                              op.getLanes(), adaptor.getLast());
    SmallVector<Value, 2> scales;
    for (int64_t below : {0, 8}) {
      Value row = arith::AddIOp::create(rewriter, loc, upperRow,
                                        constantI32(rewriter, loc, below));
      Value inside = arith::MinUIOp::create(rewriter, loc, row, last);
      Value index = scaleIndex(rewriter, loc, inside, adaptor.getRowStride(),
                               kblock, adaptor.getKStride());
      scales.push_back(loadScale(rewriter, loc, adaptor.getBase(), index));
    }
    rewriter.replaceOp(op, scales);
    return success();
  }
};

/// First of this thread's two columns in every 8.
Value threadColumn(OpBuilder &builder, Location loc,
                   const KernelContext &context) {
  Value quad = arith::AndIOp::create(builder, loc, context.lane,
                                     constantI32(builder, loc, 3));
  return arith::ShLIOp::create(builder, loc, quad,
                               constantI32(builder, loc, 1));
}

struct ColumnScalesPattern : KernelPattern<ColumnScalesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ColumnScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    int64_t first =
        int64_t(op.getKBlock()) * context.schedule.tileM + op.getCol();
    Value column = context.slotAddress(
        rewriter, loc, context.plan.offsetScaleA + first * 4,
        context.plan.slotBytesScaleA, adaptor.getSlot());
    Value start =
        LLVM::GEPOp::create(rewriter, loc, column.getType(), f32, column,
                            ValueRange{threadColumn(rewriter, loc, context)});
    auto pair = VectorType::get(2, f32);
    SmallVector<Value> scales;
    for (size_t i = 0; i < op.getScales().size(); i += 2) {
      Value address = LLVM::GEPOp::create(
          rewriter, loc, start.getType(), f32, start,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i * 4)});
      Value both = LLVM::LoadOp::create(rewriter, loc, pair, address);
      for (int64_t j : {0, 1})
        scales.push_back(LLVM::ExtractElementOp::create(
            rewriter, loc, both, constantI32(rewriter, loc, j)));
    }
    rewriter.replaceOp(op, scales);
    return success();
  }
};

struct GlobalColumnScalesPattern : KernelPattern<GlobalColumnScalesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(GlobalColumnScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value first = arith::AddIOp::create(rewriter, loc, adaptor.getRow(),
                                        threadColumn(rewriter, loc, context));
    SmallVector<Value> scales;
    // Where no tile reaches past the limit all addresses are one plus a
    // constant, if the stride is one.
    if (staysInside(adaptor.getLimit())) {
      Value index = scaleIndex(rewriter, loc, first, adaptor.getRowStride(),
                               adaptor.getKblock(), adaptor.getKStride());
      Value start = LLVM::GEPOp::create(
          rewriter, loc, adaptor.getBase().getType(), rewriter.getF32Type(),
          adaptor.getBase(), ValueRange{index});
      for (int64_t i = 0, e = op.getScales().size(); i < e; ++i)
        scales.push_back(
            loadScale(rewriter, loc, start,
                      arith::MulIOp::create(
                          rewriter, loc, adaptor.getRowStride(),
                          constantI64(rewriter, loc, i / 2 * 8 + i % 2))));
      rewriter.replaceOp(op, scales);
      return success();
    }
    Value last = arith::SubIOp::create(rewriter, loc, adaptor.getLimit(),
                                       constantI32(rewriter, loc, 1));
    for (int64_t i = 0, e = op.getScales().size(); i < e; ++i) {
      Value row = arith::AddIOp::create(
          rewriter, loc, first, constantI32(rewriter, loc, i / 2 * 8 + i % 2));
      Value inside = arith::MinUIOp::create(rewriter, loc, row, last);
      Value index = scaleIndex(rewriter, loc, inside, adaptor.getRowStride(),
                               adaptor.getKblock(), adaptor.getKStride());
      scales.push_back(loadScale(rewriter, loc, adaptor.getBase(), index));
    }
    rewriter.replaceOp(op, scales);
    return success();
  }

private:
  /// Tiles along the block's columns, in clusters as they are padded to, end
  /// where the matrix does.
  bool staysInside(Value limit) const {
    const ::dgemm::Schedule &schedule = context.schedule;
    bool swapped = schedule.form != ::dgemm::Form::Plain;
    int64_t tile = swapped ? schedule.tileM : schedule.tileN;
    tile *= schedule.clusterM * schedule.clusterN;
    APInt value;
    return matchPattern(limit, m_ConstantInt(&value)) &&
           value.getSExtValue() % tile == 0;
  }
};

struct ColScalePattern : KernelPattern<ColScaleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ColScaleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value last = arith::SubIOp::create(rewriter, loc, adaptor.getGroups(),
                                       constantI32(rewriter, loc, 1));
    Value group =
        arith::MinUIOp::create(rewriter, loc, adaptor.getGroup(), last);
    Value kblock = laneKblock(rewriter, loc, context, adaptor.getKblock(),
                              op.getLanes(), adaptor.getLast());
    Value index = scaleIndex(rewriter, loc, group, adaptor.getGroupStride(),
                             kblock, adaptor.getKStride());
    rewriter.replaceOp(op, loadScale(rewriter, loc, adaptor.getBase(), index));
    return success();
  }
};

struct LaneScalePattern : KernelPattern<LaneScaleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LaneScaleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       context.shuffle(rewriter, op.getLoc(), adaptor.getHeld(),
                                       adaptor.getIndex(), op.getLanes()));
    return success();
  }
};
} // namespace

void mlir::dgemm::populateRingPatterns(RewritePatternSet &patterns,
                                       const TypeConverter &converter,
                                       const KernelContext &context) {
  patterns.add<RingPattern, AcquirePattern, WaitPattern, PeekPattern,
               ExpectPattern, ReleasePattern, TmaLoadPattern, RowScalesPattern,
               ColumnScalesPattern, GlobalRowScalesPattern,
               GlobalColumnScalesPattern, ColScalePattern, LaneScalePattern>(
      converter, patterns.getContext(), context);
}
