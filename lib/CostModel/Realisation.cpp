// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/CostModel/Realisation.h"

namespace dgemm {

std::string whyNotRealised(const Problem &problem) {
  if (problem.layout != Layout::NT)
    return std::string("layout ") + toString(problem.layout) +
           " has no kernel yet; only nt (A[M,K], B[N,K]) has";
  bool isFp8 = problem.fp8();
  if (!isFp8 && problem.a != DType::BF16)
    return std::string("element type ") + toString(problem.a) +
           " has no kernel yet; bf16, f8E4M3FN and f8E5M2 have";
  if (!isFp8 && problem.a != problem.b)
    return "A and B must both be bf16";
  if (problem.d != DType::BF16 && problem.d != DType::F32)
    return std::string("result type ") + toString(problem.d) +
           " has no kernel yet; bf16 and f32 have";
  const auto &a = problem.scaleA, &b = problem.scaleB;
  if (a.present() != b.present())
    return "scales on one operand only have no kernel yet; give both or none";
  for (const auto *scale : {&a, &b})
    if (scale->present() && scale->type != DType::F32)
      return std::string("scales of type ") + toString(scale->type) +
             " have no kernel yet; f32 has";
  auto late = [](const ScaleSpec &scale) {
    return scale.perTensor() || scale.perRow();
  };
  if (!a.present() || (late(a) && late(b)))
    return {};
  if (a.rows == 1 && a.cols == 128 && b.rows == 128 && b.cols == 128 &&
      b.major == ScaleMajor::K)
    return {};
  return "this pair of scale blocks has no kernel yet; 1x128 with 128x128 "
         "(k_major) and any of tensor and row have";
}

std::string whyNotRealised(const Problem &problem, const Schedule &schedule) {
  if (schedule.form == Form::SwapAB) {
    if (schedule.store != StoreKind::Vector)
      return "form = swap_ab stores from registers: store = vector, found "
             "store = tma";
    if (problem.accumulate)
      return "form = swap_ab is not realised for D = C + A x B yet; plain is";
  }
  if (schedule.splitK != 1) {
    const char *kind = toString(schedule.splitKind);
    if (schedule.clusterM * schedule.clusterN != 1)
      return std::string("split_k ") + kind +
             " is realised only for one tile a cluster: cluster = 1x1, found " +
             std::to_string(schedule.clusterM) + "x" +
             std::to_string(schedule.clusterN);
    if (schedule.splitKind != SplitKind::StreamK &&
        (schedule.persistent || schedule.mode == ConsumerMode::PingPong))
      return std::string("split_k ") + kind +
             " gives each CTA a part of one tile: it needs persistent = false "
             "and cooperative consumers";
  }
  if (schedule.kBlocksPerStage != 1 &&
      (problem.k == kDynamic || problem.k % schedule.tileK != 0))
    return "kblocks_per_stage = " + std::to_string(schedule.kBlocksPerStage) +
           " is realised only for a fixed K that is a multiple of tileK (" +
           std::to_string(schedule.tileK) + ")";
  bool scaledAlongK = problem.scaleA.blockedAlongK();
  if (scaledAlongK && schedule.promotion != schedule.tileK)
    return "scales that change along K need promote = " +
           std::to_string(schedule.tileK) + " (tileK), found " +
           std::to_string(schedule.promotion);
  if (scaledAlongK && problem.scaleA.cols != schedule.tileK)
    return "the scale blocks along K (" + std::to_string(problem.scaleA.cols) +
           ") must equal tileK (" + std::to_string(schedule.tileK) + ")";
  if (schedule.promotion != 0 && schedule.promotion != schedule.tileK)
    return "promote must be tileK (" + std::to_string(schedule.tileK) +
           ") or 0, found " + std::to_string(schedule.promotion);
  return {};
}

} // namespace dgemm
