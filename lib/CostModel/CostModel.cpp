// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From a problem and a schedule to the inputs of the formulas, and from their
// result to text.

#include "dgemm/CostModel/CostModel.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace dgemm {

/// Mean over a row of tiles: each begins a multiple of gcd(tileN, block) into
/// a block of B's scales and reaches into as many blocks as its width takes.
static double furtherScalesB(const Problem &problem, const Schedule &schedule) {
  int64_t block = problem.scaleB.rows;
  if (!problem.scaleB.blockedAlongK() || block <= 0 || schedule.tileN <= 0 ||
      schedule.form == Form::SwapAB)
    return 0;
  int64_t step = std::gcd<int64_t>(schedule.tileN, block);
  double sum = 0;
  for (int64_t first = 0; first < block; first += step)
    sum += double((first + schedule.tileN - 1) / block);
  return sum * double(step) / double(block);
}

CostInputs costInputs(const Problem &problem, const Schedule &schedule,
                      const DeviceModel &device) {
  CostInputs in;
  in.m = std::max<int64_t>(problem.m, 1);
  in.n = std::max<int64_t>(problem.n, 1);
  in.k = std::max<int64_t>(problem.k, 1);
  in.operandBytes = sizeOf(problem.a);
  in.resultBytes = sizeOf(problem.d);
  in.fp8 = in.operandBytes == 1;
  in.promoted = problem.fp8() && schedule.promotion > 0;
  in.scaleAFromMemory = in.promoted && problem.scaleA.blockedAlongK() &&
                        !stagesScaleA(problem, schedule);
  in.furtherScalesB = in.promoted ? furtherScalesB(problem, schedule) : 0;
  in.form = schedule.form;
  in.tileM = schedule.tileM;
  in.tileN = schedule.tileN;
  in.tileKBytes =
      std::max<int>(schedule.tileK * static_cast<int>(in.operandBytes), 1);
  in.consumers = std::max(schedule.consumers, 1);
  in.mBlocks = std::max(schedule.mBlocks(), 1);
  in.pingPong = schedule.mode == ConsumerMode::PingPong;
  in.nBlocks = std::max(schedule.nBlocks, 1);
  in.blockColumns = schedule.nPerBlock();
  in.overlapPromotion = schedule.overlapPromotion;
  in.inTurn = schedule.inTurn;
  in.stages = schedule.stages;
  in.kBlocksPerStage = std::max(schedule.kBlocksPerStage, 1);
  if (schedule.form == Form::Register) {
    // A step takes as many K blocks as all warps have in flight together. The
    // promotion is a few instructions for each of them, lost in the latency.
    in.kBlocksPerStage = schedule.consumers * std::max(schedule.stages, 1);
    in.promoted = false;
  }
  in.clusterM = std::max(schedule.clusterM, 1);
  in.clusterN = std::max(schedule.clusterN, 1);
  in.splitK = std::max(schedule.splitK, 1);
  in.splitKind = schedule.splitKind;
  SmemPlan plan = planSharedMemory(problem, schedule, device.limits);
  in.storeBoxColumns = plan.storeBoxColumns;
  in.storeChunks = std::max(plan.storeChunks, 1);
  in.persistent = schedule.persistent;
  in.ctasPerSM = std::max(schedule.ctasPerSM, 1);
  in.rasterGroup = std::max(schedule.rasterGroup, 1);
  in.rasterOrder = schedule.rasterOrder;
  in.evictFirst = schedule.streamB;
  return in;
}

CostBreakdown predict(const Problem &problem, const Schedule &schedule,
                      const DeviceModel &device) {
  return Predictor(device).predict(costInputs(problem, schedule, device));
}

std::vector<std::pair<std::string, double>> CostBreakdown::parts() const {
  std::vector<std::pair<std::string, double>> out;
  auto add = [&](const char *name, double value) {
    if (value > 0)
      out.emplace_back(name, value);
  };
  add("tensor", tensor);
  add("shared memory", sharedMemory);
  add("chain", chain);
  add("promotion", promotion);
  add("load latency", latency);
  add("L2", load);
  add("tma", tma);
  add("epilogue", epilogue);
  add("memory", memory);
  add("reduction", reduction);
  add("fixed", fixed);
  add("quantisation", quantisation);
  return out;
}

std::string toString(const CostBreakdown &cost) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.1f us, bound by ",
                cost.microseconds);
  std::string out = std::string(buffer) + cost.bound + " (";
  bool first = true;
  for (const auto &[name, value] : cost.parts()) {
    std::snprintf(buffer, sizeof(buffer), "%s%s %.1f", first ? "" : ", ",
                  name.c_str(), value);
    out += buffer;
    first = false;
  }
  return out + ")";
}

} // namespace dgemm
