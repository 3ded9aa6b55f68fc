// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a finished kernel for what the ops' own verifiers cannot see.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMVERIFYKERNELPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

/// Tile-level ops, which the passes before have replaced.
static bool isTileLevel(Operation *op) {
  return isa<LoadOp, SlotOp, TileMmaOp, TilePromoteOp, TileStoreOp>(op);
}

/// The bytes a slot waits for are the bytes of the copies beside it, and every
/// member is filled exactly once.
static LogicalResult verifyExpectedBytes(ExpectOp expect) {
  RingType ring = expect.getRing().getType();
  auto kernel = expect->getParentOfType<KernelOp>();
  SmallVector<int> fills(ring.getMembers().size(), 0);
  int64_t bytes = 0;
  bool mayMiss = false;
  for (TmaLoadOp load : expect->getBlock()->getOps<TmaLoadOp>()) {
    if (load.getSlot() != expect.getSlot())
      continue;
    mayMiss |= load.getLastMap() != Value();
    ++fills[load.getMember()];
    int64_t member = load.getMember();
    bytes +=
        bytesCopied(kernel, member, cast<TileType>(ring.getMembers()[member]));
  }
  for (auto [member, count] : llvm::enumerate(fills))
    if (count != 1)
      return expect.emitOpError() << "member " << member << " is filled "
                                  << count << " times, expected once";
  if (bytes != expect.getBytes())
    return expect.emitOpError() << "announces " << expect.getBytes()
                                << " bytes but the copies bring " << bytes;
  if (mayMiss != (expect.getMissing() != Value()))
    return expect.emitOpError()
           << (mayMiss ? "must say how many bytes are missing where a copy "
                         "brings only the last rows"
                       : "announces missing bytes, but every copy is whole");
  return success();
}

/// Counts for one consumer loop: each slot waited for is let go.
static LogicalResult verifyReleases(RoleOp consumer) {
  int waits = 0, releases = 0;
  consumer.walk([&](WaitOp) { ++waits; });
  consumer.walk([&](ReleaseOp) { ++releases; });
  if (waits > 0 && releases < waits)
    return consumer.emitOpError()
           << "waits for slots in " << waits << " places but releases them in "
           << releases;
  return success();
}

/// A multiplication stands behind a fence and in front of a commit.
static LogicalResult verifyFenced(MmaOp mma) {
  bool fenced = false, committed = false;
  for (Operation *op = mma->getPrevNode(); op && !fenced;
       op = op->getPrevNode()) {
    if (isa<WgmmaWaitOp, PromoteOp>(op))
      break;
    fenced = isa<WgmmaFenceOp>(op);
  }
  for (Operation *op = mma->getNextNode(); op && !committed;
       op = op->getNextNode()) {
    if (isa<WgmmaWaitOp>(op))
      break;
    committed = isa<WgmmaCommitOp>(op);
  }
  if (!fenced)
    return mma.emitOpError("has no dgemm.wgmma_fence in front; run "
                           "dgemm-insert-fences");
  if (!committed)
    return mma.emitOpError("belongs to no committed group; run "
                           "dgemm-insert-fences");
  Value accumulator = mma.getAccumulator();
  if (auto fence = accumulator.getDefiningOp<WgmmaFenceOp>())
    for (auto [in, out] : llvm::zip(fence.getAccumulators(), fence.getHanded()))
      if (out == accumulator) {
        accumulator = in;
        break;
      }
  if (!mma.getFresh() && accumulator.getDefiningOp<WgmmaUndefOp>())
    return mma.emitOpError("adds to accumulators that have no value; it must "
                           "be fresh");
  return success();
}

/// A store box is one of those that the plan gives each warpgroup.
static LogicalResult verifyBox(Operation *op, SmemPlanAttr plan,
                               uint32_t offset) {
  int64_t size = plan.getStoreBoxBytes();
  if (size == 0 || offset % size != 0 ||
      offset / size >= plan.getStoreBoxesPerChunk())
    return op->emitOpError() << "offset " << offset << " is none of the "
                             << plan.getStoreBoxesPerChunk()
                             << " store boxes of " << size << " bytes";
  return success();
}

/// The register form has neither ring nor roles, and every warp meets once:
/// the plan has room for one sum over them.
static LogicalResult verifyRegisterForm(KernelOp kernel) {
  int32_t warps = kernel.getSchedule().getValue().consumers;
  int sums = 0;
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (isa<RingOp, RoleOp>(op))
      return op->emitOpError("has no place in a kernel of the register form");
    auto reduce = dyn_cast<WarpReduceOp>(op);
    if (!reduce)
      return WalkResult::advance();
    ++sums;
    if (static_cast<int32_t>(reduce.getWarps()) != warps)
      return op->emitOpError()
             << "expected the " << warps << " warps of the schedule, found "
             << reduce.getWarps();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (sums != 1)
    return kernel.emitOpError()
           << "expected one sum over the warps, found " << sums;
  return success();
}

/// What other kernels write or read is touched by the roles alone, or in
/// register form by the tile loop; those come behind the wait for the kernels
/// in front.
static LogicalResult verifyGridWait(KernelOp kernel) {
  bool waited = false;
  for (Operation &op : kernel.getBody().front()) {
    waited |= isa<GridWaitOp>(op);
    if (!waited && isa<RoleOp, TilesOp, GridLaunchOp>(op))
      return op.emitOpError("must stand behind dgemm.grid_wait");
  }
  return success();
}

/// Tile numbers come from a queue exactly where the schedule has them dynamic.
static LogicalResult verifyTileSource(KernelOp kernel) {
  bool dynamic =
      kernel.getSchedule().getValue().tiles == ::dgemm::TileSource::Dynamic;
  TileQueueOp queue;
  for (Operation &op : kernel.getBody().front()) {
    if (auto found = dyn_cast<TileQueueOp>(op))
      queue = found;
    auto ring = dyn_cast<RingOp>(op);
    if (!ring)
      continue;
    if (static_cast<bool>(queue) != dynamic)
      return op.emitOpError() << "expected " << (dynamic ? "a" : "no")
                              << " dgemm.tile_queue in front";
    if (queue && queue.getConsumers() != ring.getConsumers())
      return queue.emitOpError()
             << "expected the ring's " << ring.getConsumers()
             << " consumers, found " << queue.getConsumers();
  }
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    if (TilesOp tiles = findTiles(role)) {
      StringRef expected = !dynamic            ? ""
                           : role.isProducer() ? "fetch"
                                               : "receive";
      if (tiles.getNumbers().value_or("") != expected)
        return tiles.emitOpError()
               << "expected numbers = \"" << expected << "\", found \""
               << tiles.getNumbers().value_or("") << "\"";
    }
  return success();
}

/// Addresses, box sizes and barrier counts follow from the schedule alone, so
/// what the IR says must be what the schedule implies.
static LogicalResult verifyAgainstSchedule(KernelOp kernel) {
  const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
  auto plan = SmemPlanAttr::get(
      kernel.getContext(),
      ::dgemm::planSharedMemory(kernel.getProblem().getValue(), schedule));
  if (kernel.getSmemAttr() != plan)
    return kernel.emitOpError()
           << "expected " << plan << " for this schedule, found "
           << kernel.getSmemAttr();

  if (schedule.form == ::dgemm::Form::Register)
    return verifyRegisterForm(kernel);
  SmallVector<Type> members;
  for (auto [operand, tile] : slotTiles(kernel))
    members.push_back(tile);
  auto ringType = RingType::get(kernel.getContext(), schedule.stages, members);
  int rings = 0, producers = 0, consumers = 0;
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto role = dyn_cast<RoleOp>(op)) {
      ++(role.isProducer() ? producers : consumers);
      if (op->getParentOp() != kernel)
        return op->emitOpError("must stand in the kernel's own body");
    }
    if (auto load = dyn_cast<TmaLoadOp>(op)) {
      bool shared =
          load.getMember() < 2 &&
          schedule.multicast == (load.getMember() == 0 ? ::dgemm::Multicast::A
                                                       : ::dgemm::Multicast::B);
      int parts = shared ? schedule.multicastCtas() : 1;
      if (static_cast<int>(load.getParts()) != parts)
        return op->emitOpError() << "expected a copy in " << parts
                                 << " parts, found " << load.getParts();
      Value last;
      if (load.getMember() < 2)
        last = kernel.getLastRowsMap(
            load.getMember() == 0 ? ::dgemm::Operand::A : ::dgemm::Operand::B);
      if (load.getLastMap() != last)
        return op->emitOpError()
               << (last ? "expected the kernel's map for the last rows"
                        : "expected no map for last rows, as every tile is "
                          "whole");
    }
    auto ring = dyn_cast<RingOp>(op);
    if (!ring)
      return WalkResult::advance();
    ++rings;
    uint32_t readers = schedule.mode == ::dgemm::ConsumerMode::PingPong
                           ? 1
                           : schedule.consumers;
    if (ring.getConsumers() != readers)
      return op->emitOpError()
             << "expected " << readers << " consumers to read a slot, found "
             << ring.getConsumers();
    if (static_cast<int>(ring.getCtas()) != schedule.multicastCtas())
      return op->emitOpError()
             << "expected the slots of " << schedule.multicastCtas()
             << " CTAs to be filled together, found " << ring.getCtas();
    if (ring.getRing().getType() != ringType)
      return op->emitOpError()
             << "expected " << ringType << " for this schedule";
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (rings != 1 || producers != 1 || consumers != 1)
    return kernel.emitOpError()
           << "expected one ring, one producer and one consumer, found "
           << rings << ", " << producers << " and " << consumers;
  return success();
}

namespace {
struct VerifyKernelPass
    : public mlir::dgemm::impl::DgemmVerifyKernelPassBase<VerifyKernelPass> {
  void runOnOperation() override {
    if (failed(check(getOperation())))
      signalPassFailure();
  }

  LogicalResult check(KernelOp kernel) {
    if (!kernel.getSmem())
      return kernel.emitOpError("has no shared-memory plan; run "
                                "dgemm-plan-smem");
    WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
      if (isTileLevel(op))
        return op->emitOpError("is left from the tile level; the kernel "
                               "pipeline has not finished");
      if (auto expect = dyn_cast<ExpectOp>(op))
        return verifyExpectedBytes(expect);
      if (auto stage = dyn_cast<StageOp>(op))
        return verifyBox(op, kernel.getSmemAttr(), stage.getOffset());
      if (auto store = dyn_cast<TmaStoreOp>(op))
        return verifyBox(op, kernel.getSmemAttr(), store.getOffset());
      if (auto mma = dyn_cast<MmaOp>(op))
        return verifyFenced(mma);
      if (auto promote = dyn_cast<PromoteOp>(op);
          promote && isa<InflightType>(promote.getPartial().getType()))
        return op->emitOpError("reads a product that is still in flight");
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(verifyAgainstSchedule(kernel)))
      return failure();
    for (RoleOp role : kernel.getBody().getOps<RoleOp>())
      if (!role.isProducer() && failed(verifyReleases(role)))
        return failure();
    if (failed(verifyGridWait(kernel)))
      return failure();
    return verifyTileSource(kernel);
  }
};
} // namespace
