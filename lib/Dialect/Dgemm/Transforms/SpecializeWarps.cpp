// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits the tile loop into a producer's copy and a consumer's copy.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMSPECIALIZEWARPSPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

/// Ops that only one of the roles executes; all others are address and loop
/// arithmetic, which both need.
static bool isProducerOnly(Operation &op) {
  return isa<AcquireOp, ExpectOp, TmaLoadOp>(op);
}
static bool isConsumerOnly(Operation &op) {
  return isa<WaitOp, ReleaseOp, SlotOp, ZeroOp, TileMmaOp, TilePromoteOp,
             TileStoreOp>(op);
}

namespace {
/// Clones the tile loop keeping one role's ops.
class RoleCloner {
public:
  RoleCloner(OpBuilder &builder, bool producer)
      : builder(builder), producer(producer) {}

  /// Clones `tiles` with other first values and, for consumers in ping-pong,
  /// the lane. `beforeLoop` and `afterLoop` add what surrounds the K loop; the
  /// latter may change the slot and phase that the next tile starts from.
  void
  clone(TilesOp tiles, ValueRange inits, Value lane, int32_t lanes,
        function_ref<void(OpBuilder &)> beforeLoop,
        function_ref<void(OpBuilder &, SmallVectorImpl<Value> &)> afterLoop) {
    auto copy = TilesOp::create(builder, tiles.getLoc(), inits, lane, lanes,
                                tiles.getShares());
    OpBuilder::InsertionGuard guard(builder);
    for (auto [from, to] : llvm::zip(tiles.getBody().getArguments(),
                                     copy.getBody().getArguments()))
      mapping.map(from, to);
    builder.setInsertionPointToEnd(&copy.getBody().front());
    for (Operation &op : tiles.getBody().front()) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        beforeLoop(builder);
        SmallVector<Value> state = cloneLoop(loop);
        afterLoop(builder, state);
        for (auto [from, to] :
             llvm::zip(loop.getResults().take_back(state.size()), state))
          mapping.map(from, to);
      } else if (auto next = dyn_cast<NextOp>(op)) {
        SmallVector<Value> values;
        for (Value value : next.getValues())
          values.push_back(mapping.lookupOrDefault(value));
        NextOp::create(builder, next.getLoc(), values);
      } else if (keeps(op)) {
        builder.clone(op, mapping);
      }
    }
  }

private:
  bool keeps(Operation &op) const {
    return producer ? !isConsumerOnly(op) : !isProducerOnly(op);
  }
  /// The producer carries slot and phase but no accumulators.
  bool keeps(Type carried) const {
    return !producer || !isa<FragmentType>(carried);
  }

  /// Returns the slot and phase after the loop.
  SmallVector<Value> cloneLoop(scf::ForOp loop) {
    SmallVector<Value> inits;
    for (Value init : loop.getInitArgs())
      if (keeps(init.getType()))
        inits.push_back(mapping.lookupOrDefault(init));
    auto copy = scf::ForOp::create(
        builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
        mapping.lookupOrDefault(loop.getUpperBound()),
        mapping.lookupOrDefault(loop.getStep()), inits);
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    size_t next = 0;
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (keeps(argument.getType()))
        mapping.map(argument, copy.getRegionIterArg(next++));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(copy.getBody());
      for (Operation &op : loop.getBody()->without_terminator())
        if (keeps(op))
          builder.clone(op, mapping);
      SmallVector<Value> yields;
      for (Value value : loop.getBody()->getTerminator()->getOperands())
        if (keeps(value.getType()))
          yields.push_back(mapping.lookupOrDefault(value));
      scf::YieldOp::create(builder, loop.getLoc(), yields);
    }
    next = 0;
    for (Value result : loop.getResults())
      if (keeps(result.getType()))
        mapping.map(result, copy.getResult(next++));
    auto state = copy.getResults().take_back(2);
    return SmallVector<Value>(state.begin(), state.end());
  }

  OpBuilder &builder;
  bool producer;
  IRMapping mapping;
};

struct SpecializeWarpsPass
    : public mlir::dgemm::impl::DgemmSpecializeWarpsPassBase<
          SpecializeWarpsPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    auto rings = kernel.getBody().getOps<RingOp>();
    if (rings.empty() || findRole(kernel, "consumer"))
      return;
    TilesOp tiles = findTiles(kernel);
    if (!tiles || !findKLoop(tiles))
      return;
    OpBuilder builder(tiles);
    RingOp ring = *rings.begin();
    createProducer(builder, kernel, tiles);
    createConsumer(builder, kernel, tiles, ring.getRing());
    const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
    if (schedule.tiles == ::dgemm::TileSource::Dynamic) {
      builder.setInsertionPoint(ring);
      TileQueueOp::create(builder, kernel.getLoc(), ring.getConsumers());
      for (RoleOp role : kernel.getBody().getOps<RoleOp>())
        findTiles(role).setNumbers(role.isProducer() ? "fetch" : "receive");
    }
    tiles.erase();
  }

  void createProducer(OpBuilder &builder, KernelOp kernel, TilesOp tiles) {
    OpBuilder::InsertionGuard guard(builder);
    const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
    auto role = RoleOp::create(builder, kernel.getLoc(), "producer",
                               schedule.regsProducer);
    builder.setInsertionPointToStart(&role.getBody().emplaceBlock());
    RoleCloner(builder, /*producer=*/true)
        .clone(
            tiles, tiles.getInits(), Value{}, 1, [](OpBuilder &) {},
            [](OpBuilder &, SmallVectorImpl<Value> &) {});
  }

  /// Warpgroup 0 multiplies first: the last one hands it the tensor core.
  void letFirstBegin(OpBuilder &builder, Location loc, Value wg, int last) {
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         wg, constantI32(builder, loc, last));
    scf::IfOp::create(builder, loc, isLast, [&](OpBuilder &body, Location loc) {
      OrderArriveOp::create(body, loc, constantI32(body, loc, 0),
                            IntegerAttr());
      scf::YieldOp::create(body, loc);
    });
  }

  void createConsumer(OpBuilder &builder, KernelOp kernel, TilesOp tiles,
                      Value ring) {
    OpBuilder::InsertionGuard guard(builder);
    const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
    Location loc = kernel.getLoc();
    auto role = RoleOp::create(builder, loc, "consumer", schedule.regsConsumer);
    Block &block = role.getBody().emplaceBlock();
    Value wg = block.addArgument(builder.getI32Type(), loc);
    builder.setInsertionPointToStart(&block);
    if (schedule.mode == ::dgemm::ConsumerMode::Cooperative) {
      if (schedule.inTurn)
        letFirstBegin(builder, loc, wg, schedule.consumers - 1);
      RoleCloner(builder, /*producer=*/false)
          .clone(
              tiles, tiles.getInits(), Value{}, 1, [](OpBuilder &) {},
              [](OpBuilder &, SmallVectorImpl<Value> &) {});
      return;
    }

    // Ping-pong: the slots of the other warpgroup's tile are skipped, before
    // the first tile by warpgroup 1 and after every tile by both.
    Type i32 = builder.getI32Type();
    Value blocks = KBlocksOp::create(builder, loc, i32);
    Value ahead = arith::MulIOp::create(builder, loc, blocks, wg);
    auto first =
        AdvanceOp::create(builder, loc, i32, i32, ring, tiles.getInits()[0],
                          tiles.getInits()[1], ahead);
    letFirstBegin(builder, loc, wg, 1);
    Value one = constantI32(builder, loc, 1);
    Value other = arith::XOrIOp::create(builder, loc, wg, one);
    RoleCloner(builder, /*producer=*/false)
        .clone(
            tiles, first.getResults(), wg, schedule.consumers,
            [&](OpBuilder &body) { OrderWaitOp::create(body, loc, wg); },
            [&](OpBuilder &body, SmallVectorImpl<Value> &state) {
              OrderArriveOp::create(body, loc, other, IntegerAttr());
              auto next = AdvanceOp::create(body, loc, i32, i32, ring, state[0],
                                            state[1], blocks);
              state.assign({next.getNextSlot(), next.getNextPhase()});
            });
  }
};
} // namespace
