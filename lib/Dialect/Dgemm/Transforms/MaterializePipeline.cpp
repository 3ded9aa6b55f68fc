// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns loads of whole tiles into TMA copies through a ring of slots, with
// slot and phase as explicit loop-carried values.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMMATERIALIZEPIPELINEPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

static ::dgemm::Operand operandOf(StringRef name) {
  return name == "a"   ? ::dgemm::Operand::A
         : name == "b" ? ::dgemm::Operand::B
                       : ::dgemm::Operand::ScaleA;
}

namespace {
/// For a load whose tile may be the operand's last, with fewer rows than the
/// slot: the map of those rows, whether this is the tile, and then the bytes of
/// a slot that do not come (else 0).
struct LastRows {
  Value map, isLast, missing;
};

struct MaterializePipelinePass
    : public mlir::dgemm::impl::DgemmMaterializePipelinePassBase<
          MaterializePipelinePass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    TilesOp tiles = findTiles(kernel);
    scf::ForOp loop = tiles ? findKLoop(tiles) : scf::ForOp();
    if (!loop || loop.getBody()->getOps<LoadOp>().empty())
      return;
    if (failed(verifyLoads(kernel, tiles, loop)))
      return signalPassFailure();
    materialize(kernel, tiles, loop);
  }

  LogicalResult verifyLoads(KernelOp kernel, TilesOp tiles, scf::ForOp loop);
  void materialize(KernelOp kernel, TilesOp tiles, scf::ForOp loop);
  LastRows lastRows(OpBuilder &builder, KernelOp kernel, LoadOp load);
  /// `part` is this CTA's part of the multicast tile; null without one. `last`
  /// has an entry for each load.
  void fillSlot(OpBuilder &builder, KernelOp kernel, Value ring, Value slot,
                Value phase, Value part, ArrayRef<LastRows> last,
                scf::ForOp loop);
};
} // namespace

/// The loads must be those of slotTiles: the tensor maps and the shared-memory
/// plan follow from the schedule alone.
LogicalResult MaterializePipelinePass::verifyLoads(KernelOp kernel,
                                                   TilesOp tiles,
                                                   scf::ForOp loop) {
  auto expected = slotTiles(kernel);
  auto loops = tiles.getBody().front().getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(loops))
    return tiles.emitOpError() << "expected one K loop, found "
                               << std::distance(loops.begin(), loops.end());
  auto loads = llvm::to_vector(loop.getBody()->getOps<LoadOp>());
  size_t found = 0;
  kernel.walk([&](LoadOp) { ++found; });
  if (loads.size() != expected.size() || found != loads.size())
    return loop.emitOpError()
           << "expected the kernel's " << expected.size()
           << " loads in the body of the K loop, found " << loads.size()
           << " there and " << found << " in the kernel";
  for (auto [load, want] : llvm::zip(loads, expected)) {
    if (load.getOperand() != want.first ||
        load.getTile().getType() != want.second)
      return load.emitOpError() << "expected \"" << want.first << "\" as "
                                << want.second << ", as scheduled";
    if (load.getKblock() != loop.getInductionVar() ||
        !loop.isDefinedOutsideOfLoop(load.getRow()))
      return load.emitOpError() << "must load the K loop's own block, of rows "
                                << "known before the loop";
  }
  return success();
}

/// Tile loop with two more carried values; their first values are `inits` and
/// the values for the next tile are set by the caller.
static TilesOp addCarriedValues(IRRewriter &rewriter, TilesOp tiles,
                                ValueRange inits) {
  rewriter.setInsertionPoint(tiles);
  SmallVector<Value> all(tiles.getInits());
  llvm::append_range(all, inits);
  auto wider = TilesOp::create(rewriter, tiles.getLoc(), all, tiles.getLane(),
                               tiles.getLanes(), tiles.getShares());
  Block &from = tiles.getBody().front(), &to = wider.getBody().front();
  to.getOperations().splice(to.end(), from.getOperations());
  for (auto [old, fresh] : llvm::zip(from.getArguments(), to.getArguments()))
    old.replaceAllUsesWith(fresh);
  tiles.replaceAllUsesWith(
      wider.getResults().take_front(tiles.getNumResults()));
  tiles.erase();
  return wider;
}

LastRows MaterializePipelinePass::lastRows(OpBuilder &builder, KernelOp kernel,
                                           LoadOp load) {
  LastRows last;
  if (load.getOperand() == "scale_a")
    return last;
  last.map = kernel.getLastRowsMap(operandOf(load.getOperand()));
  if (!last.map)
    return last;
  Location loc = load.getLoc();
  TileType tile = load.getTile().getType();
  Value rows = sizeOf(builder, loc, kernel,
                      load.getOperand() == "a" ? ::dgemm::Symbol::M
                                               : ::dgemm::Symbol::N);
  Value left = arith::SubIOp::create(builder, loc, rows, load.getRow());
  Value full = constantI32(builder, loc, tile.getRows());
  last.isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      left, full);
  int64_t rowBytes =
      tile.getCols() * (tile.getElementType().getIntOrFloatBitWidth() / 8);
  Value absent = arith::SubIOp::create(builder, loc, full, left);
  absent = arith::MulIOp::create(builder, loc, absent,
                                 constantI32(builder, loc, rowBytes));
  last.missing = arith::SelectOp::create(builder, loc, last.isLast, absent,
                                         constantI32(builder, loc, 0));
  return last;
}

void MaterializePipelinePass::fillSlot(OpBuilder &builder, KernelOp kernel,
                                       Value ring, Value slot, Value phase,
                                       Value part, ArrayRef<LastRows> last,
                                       scf::ForOp loop) {
  const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
  Location loc = loop.getLoc();
  auto loads = llvm::to_vector(loop.getBody()->getOps<LoadOp>());
  int64_t bytes = 0;
  for (auto [member, load] : llvm::enumerate(loads))
    bytes += bytesCopied(kernel, member, load.getTile().getType());

  // A fresh barrier's "previous" phase counts as complete, so the producer
  // runs one phase ahead of the consumers: its parity is the inverse.
  Value free =
      arith::XOrIOp::create(builder, loc, phase, constantI32(builder, loc, 1));
  AcquireOp::create(builder, loc, ring, slot, free);
  Value missing;
  for (const LastRows &rows : last)
    if (rows.missing)
      missing = missing
                    ? arith::AddIOp::create(builder, loc, missing, rows.missing)
                          .getResult()
                    : rows.missing;
  ExpectOp::create(builder, loc, ring, slot, static_cast<int32_t>(bytes),
                   missing);
  for (auto [member, load] : llvm::enumerate(loads)) {
    Value step = load.getKblock();
    auto times = [&](int64_t factor) -> Value {
      return arith::MulIOp::create(builder, load.getLoc(), step,
                                   constantI32(builder, loc, factor));
    };
    bool shared = load.getOperand() ==
                  (schedule.multicast == ::dgemm::Multicast::A   ? "a"
                   : schedule.multicast == ::dgemm::Multicast::B ? "b"
                                                                 : "");
    int parts = shared ? schedule.multicastCtas() : 1;
    Value row = load.getRow();
    if (shared) {
      Value skipped = arith::MulIOp::create(
          builder, loc, part,
          constantI32(builder, loc,
                      load.getTile().getType().getRows() / parts));
      row = arith::AddIOp::create(builder, loc, row, skipped);
    }
    SmallVector<Value, 3> coordinates;
    if (load.getOperand() == "scale_a")
      coordinates = {row, times(schedule.kBlocksPerStage)};
    else if (schedule.kBlocksPerStage == 1)
      coordinates = {times(schedule.tileK), row};
    else
      coordinates = {constantI32(builder, loc, 0), row,
                     times(schedule.kBlocksPerStage)};
    bool readOnce = schedule.streamB && load.getOperand() == "b";
    TmaLoadOp::create(builder, load.getLoc(),
                      kernel.getTensorMap(operandOf(load.getOperand())),
                      coordinates, ring, slot, static_cast<int32_t>(member),
                      readOnce ? "evict_first" : "evict_normal",
                      shared ? part : Value(), parts, last[member].map,
                      last[member].isLast);
  }
  WaitOp::create(builder, loc, ring, slot, phase, Value());
  for (auto [member, load] : llvm::enumerate(loads)) {
    Value tile =
        SlotOp::create(builder, load.getLoc(), load.getTile().getType(), ring,
                       slot, static_cast<int32_t>(member));
    load.replaceAllUsesWith(tile);
  }
  for (LoadOp load : loads)
    load.erase();
}

void MaterializePipelinePass::materialize(KernelOp kernel, TilesOp tiles,
                                          scf::ForOp loop) {
  const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
  IRRewriter rewriter(&getContext());
  Location loc = kernel.getLoc();

  SmallVector<Type> members;
  for (LoadOp load : loop.getBody()->getOps<LoadOp>())
    members.push_back(load.getTile().getType());
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  // A ping-pong slot is read by the one warpgroup whose tile it feeds.
  int32_t readers =
      schedule.mode == ::dgemm::ConsumerMode::PingPong ? 1 : schedule.consumers;
  Value ring = RingOp::create(
      rewriter, loc, RingType::get(&getContext(), schedule.stages, members),
      readers, schedule.multicastCtas());
  Value zero = constantI32(rewriter, loc, 0);
  Value part;
  if (schedule.multicastCtas() > 1) {
    // CTAs of a cluster are numbered along M first.
    Value rank = ClusterRankOp::create(rewriter, loc, rewriter.getI32Type());
    Value rows = constantI32(rewriter, loc, schedule.clusterM);
    part = schedule.multicast == ::dgemm::Multicast::B
               ? arith::RemUIOp::create(rewriter, loc, rank, rows).getResult()
               : arith::DivUIOp::create(rewriter, loc, rank, rows).getResult();
  }

  TilesOp wider = addCarriedValues(rewriter, tiles, {zero, zero});
  auto slotAndPhase = wider.getBody().getArguments().take_back(2);
  rewriter.setInsertionPoint(loop);
  auto yieldNext = [&](OpBuilder &builder, Location loc,
                       ArrayRef<BlockArgument> carried) {
    ReleaseOp::create(builder, loc, ring, carried[0], 0);
    Type i32 = builder.getI32Type();
    auto next = AdvanceOp::create(builder, loc, i32, i32, ring, carried[0],
                                  carried[1], Value{});
    return SmallVector<Value>(next.getResults());
  };
  FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
      rewriter, {slotAndPhase[0], slotAndPhase[1]},
      /*replaceInitOperandUsesInLoop=*/false, yieldNext);
  auto newLoop = cast<scf::ForOp>(replaced->getOperation());

  auto carried = newLoop.getRegionIterArgs().take_back(2);
  rewriter.setInsertionPoint(newLoop);
  SmallVector<LastRows> last;
  for (LoadOp load : newLoop.getBody()->getOps<LoadOp>())
    last.push_back(lastRows(rewriter, kernel, load));
  rewriter.setInsertionPointToStart(newLoop.getBody());
  fillSlot(rewriter, kernel, ring, carried[0], carried[1], part, last, newLoop);

  auto next = cast<NextOp>(wider.getBody().front().getTerminator());
  SmallVector<Value> values(next.getValues());
  llvm::append_range(values, newLoop.getResults().take_back(2));
  next.getValuesMutable().assign(values);
}
