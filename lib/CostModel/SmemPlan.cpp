// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared-memory layout of a schedule, and the registers its accumulators take.

#include "dgemm/CostModel/Schedule.h"

#include <algorithm>

namespace dgemm {

/// TMA writes 128-byte-swizzled boxes in a pattern of 1024 bytes, so every
/// swizzled buffer starts on such a boundary.
static constexpr int64_t kSwizzleAtom = 1024;
/// Destinations of unswizzled TMA loads.
static constexpr int64_t kTmaAlignment = 128;

static int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

int64_t sharedMemoryBudget(const Schedule &schedule,
                           const TargetLimits &limits) {
  int64_t ctas = std::max(schedule.ctasPerSM, 1);
  return std::min<int64_t>(limits.sharedMemoryPerBlock,
                           limits.sharedMemoryPerSM / ctas -
                               limits.reservedSharedMemoryPerBlock);
}

bool stagesScaleA(const Problem &problem, const Schedule &schedule) {
  const ScaleSpec &scale = problem.scaleA;
  return schedule.form != Form::Register && problem.fp8() &&
         scale.blockedAlongK() && scale.rows == 1 &&
         scale.cols == schedule.tileK && scale.major == ScaleMajor::MN;
}

/// Columns of D in one store box: the swizzle span, or without swizzle the
/// whole tile as far as a box reaches.
static int boxColumns(const Problem &problem, const Schedule &schedule,
                      const TargetLimits &limits) {
  int64_t size = std::max<int64_t>(sizeOf(problem.d), 1);
  int64_t columns =
      schedule.swizzleD > 0 ? schedule.swizzleD / size : limits.maxBoxElements;
  return static_cast<int>(
      std::min<int64_t>(std::max<int64_t>(columns, 1), schedule.tileN));
}

/// Values of a thread's accumulators: n / 2 of each block of 64 rows over 128
/// threads, or of 16 rows over 32.
static int accumulatorValues(const Schedule &schedule) {
  return schedule.mBlocks() * schedule.mmaCols() / 2;
}

SmemPlan planSharedMemory(const Problem &problem, const Schedule &schedule,
                          const TargetLimits &limits) {
  SmemPlan plan;
  if (schedule.form == Form::Register) {
    // One warp's sums: 32 lanes' values of 4 bytes.
    plan.reducePart = int64_t(32) * 4 * accumulatorValues(schedule);
    plan.storeBytes = schedule.consumers * plan.reducePart;
    plan.offsetReduce = plan.storeBytes;
    if (schedule.splitKind != SplitKind::Cluster)
      plan.offsetReduce = plan.reducePart = 0;
    plan.total = plan.storeBytes + (schedule.splitK - 1) * plan.reducePart;
    return plan;
  }
  int64_t blocks = schedule.kBlocksPerStage;
  int64_t stages = schedule.stages;
  auto slotBytes = [&](int64_t rows, DType type) {
    return blocks * alignUp(rows * schedule.tileK * sizeOf(type), kSwizzleAtom);
  };
  plan.slotBytesA = slotBytes(schedule.tileM, problem.a);
  plan.slotBytesB = slotBytes(schedule.tileN, problem.b);
  plan.offsetB = stages * plan.slotBytesA;
  plan.offsetScaleA = plan.offsetB + stages * plan.slotBytesB;
  if (stagesScaleA(problem, schedule))
    plan.slotBytesScaleA =
        blocks *
        alignUp(schedule.tileM * sizeOf(problem.scaleA.type), kTmaAlignment);
  plan.offsetStore =
      alignUp(plan.offsetScaleA + stages * plan.slotBytesScaleA, kSwizzleAtom);

  int64_t orderBarriers = schedule.mode == ConsumerMode::PingPong ? 2 : 0;
  plan.barrierBytes = 8 * (2 * stages + orderBarriers);
  int64_t queueStart = plan.barrierBytes;
  if (schedule.tiles == TileSource::Dynamic)
    plan.barrierBytes += 4 * 8 + 2 * 4;

  if (schedule.store == StoreKind::Tma) {
    plan.storeBoxColumns = boxColumns(problem, schedule, limits);
    plan.storeBoxBytes =
        alignUp(64 * plan.storeBoxColumns * sizeOf(problem.d), kSwizzleAtom);
    plan.storeBoxes = static_cast<int>(
        schedule.mBlocks() * ceilDiv(schedule.tileN, plan.storeBoxColumns));
    int64_t budget = sharedMemoryBudget(schedule, limits);
    // Fewer rounds are faster (185 cycles each was measured), so the largest
    // chunk that fits is taken; with none, the smallest, so that the
    // diagnostic names the least that would do.
    for (int boxes : {plan.storeBoxes, 2, 1}) {
      plan.storeBoxesPerChunk = std::min(boxes, plan.storeBoxes);
      plan.storeBytes = int64_t(schedule.consumers) * plan.storeBoxesPerChunk *
                        plan.storeBoxBytes;
      if (plan.offsetStore + plan.storeBytes + plan.barrierBytes <= budget)
        break;
    }
    if (plan.storeBoxesPerChunk > 0)
      plan.storeChunks =
          static_cast<int>(ceilDiv(plan.storeBoxes, plan.storeBoxesPerChunk));
  }
  plan.offsetBarriers = plan.offsetStore + plan.storeBytes;
  plan.offsetTileQueue = plan.offsetBarriers + queueStart;
  plan.total = plan.offsetBarriers + plan.barrierBytes;
  if (schedule.splitKind == SplitKind::Cluster) {
    // Every consumer thread's accumulators, one 4-byte value after the other.
    plan.offsetReduce = alignUp(plan.total, 16);
    plan.reducePart =
        int64_t(schedule.consumers) * 128 * 4 * accumulatorValues(schedule);
    plan.total = plan.offsetReduce + (schedule.splitK - 1) * plan.reducePart;
  } else if (schedule.meetsInWorkspace()) {
    plan.offsetReduce = plan.total;
    plan.reducePart = 4;
    plan.total += schedule.consumers * plan.reducePart;
  }
  return plan;
}

int accumulatorRegisters(const Problem &problem, const Schedule &schedule) {
  int accumulators = accumulatorValues(schedule);
  if (schedule.form == Form::Register) {
    // Beside them what is in flight: of every row a lane has 4 registers for
    // each 64 bytes of a K block, and FP8 the product of one K block.
    int64_t pieces = schedule.tileK * sizeOf(problem.a) / 64;
    int64_t rows = schedule.mBlocks() * 2 + schedule.tileM / 8;
    int partial = schedule.promotion == 0 ? 0 : accumulators;
    return accumulators + partial +
           static_cast<int>(4 * pieces * rows * schedule.stages);
  }
  if (!problem.fp8() || schedule.promotion == 0)
    return accumulators;
  // Partial sums of one chain at a time, of more when one is promoted while
  // others multiply.
  int chains = schedule.chainsInFlight();
  int sums = accumulators + chains * schedule.nPerBlock() / 2;
  if (schedule.form != Form::SwapAB)
    return sums;
  // In swap-AB form a thread holds columns of tokens, and a scale for each two
  // of them and K block. Where scales come from global memory, those of the
  // next step are on their way, and their addresses stay in registers. (Agrees
  // with what ptxas uses for tile M from 8 to 128 to within 6 registers.)
  int scales = schedule.tileM / 4;
  bool global =
      problem.scaleA.blockedAlongK() && problem.scaleA.major == ScaleMajor::K;
  return sums + schedule.kBlocksPerStage * scales * (global ? 2 : 1) +
         (global ? 2 * scales : 0);
}

} // namespace dgemm
