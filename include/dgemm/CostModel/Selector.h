// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The model's choice: the schedule predicted fastest for a problem, why, what
// came next, and what was out of the question; and for a run-time M, one choice
// per range of M.

#ifndef DGEMM_COSTMODEL_SELECTOR_H
#define DGEMM_COSTMODEL_SELECTOR_H

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"
#include "dgemm/CostModel/SearchSpace.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dgemm {

struct SelectorOptions {
  /// Two tiles in turn for 16-bit operands.
  bool allowPingPong = true;
  /// Alternatives and rejected schedules to report, at most.
  int maxAlternatives = 4, maxRejected = 4;
  /// Kernels for a run-time M, at most; each takes its time to compile.
  int maxKernels = 6;
  /// The range of a run-time M: aboveM < M <= maxM (-1: no end).
  int64_t aboveM = 0, maxM = -1;
  /// The remaining switches of the space; pingPong is taken from above.
  SearchOptions space;
};

/// A schedule with the reasons for it.
struct Selection {
  Schedule schedule;
  CostBreakdown cost;
  /// One line: predicted time, what bounds it, how it fills the device.
  std::string reason;
  /// Legal schedules that are predicted slower, best first, with the time.
  std::vector<std::pair<Schedule, std::string>> alternatives;
  /// Schedules near the choice that break a rule, with the rule.
  std::vector<std::pair<Schedule, std::string>> rejected;
};

/// The fastest schedule by the model. M must be known; a dynamic N or K counts
/// as 4096. Errors: a malformed problem, or no legal schedule (the text says
/// which limit is in the way).
Result<Selection> selectSchedule(const Problem &problem,
                                 const DeviceModel &device,
                                 const SelectorOptions &options = {});

/// Choices for a run-time M: rows (largest M, -1: any) in ascending order, the
/// last one for the end of the range. Neighbouring ranges share a schedule when
/// that costs little. With a known M: one row.
Result<std::vector<std::pair<int64_t, Selection>>>
selectDispatch(const Problem &problem, const DeviceModel &device,
               const SelectorOptions &options = {});

/// The same schedule apart from the raster group, which is an argument of the
/// kernel.
bool sameKernel(const Schedule &a, const Schedule &b);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_SELECTOR_H
