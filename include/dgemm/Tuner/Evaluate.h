// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How good the cost model is, judged by measured schedules: how fast its choice
// and its best eight are beside the best that was measured, and how far its
// times are off.

#ifndef DGEMM_TUNER_EVALUATE_H
#define DGEMM_TUNER_EVALUATE_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <functional>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// One right schedule of a problem.
struct JudgedSchedule {
  Schedule schedule;
  double measuredUs = 0;  ///< mean of its records' medians
  double predictedUs = 0; ///< with L2 as it was measured
};

/// One problem with one state of L2.
struct JudgedProblem {
  Problem problem;
  L2State l2 = L2State::Clean;
  bool heldOut = false;
  /// In the order in which the model would take them: what select-schedule
  /// picks, then by predicted time (L2 clean, as select-schedule has it).
  std::vector<JudgedSchedule> schedules;
  /// Whether what select-schedule picks was measured, be it with another raster
  /// group, which is an argument of the same kernel. If not, the first of
  /// `schedules` is the fastest by prediction, and `pick` says what is missing.
  bool pickMeasured = false;
  Schedule pick;
  size_t best = 0; ///< index of the fastest measured
  /// Best time over that of the model's first, and of its fastest eight: 1 is
  /// the best.
  double top1 = 1, top8 = 1;
  double medianError = 0; ///< of |predicted / measured - 1|

  double bestUs() const { return schedules[best].measuredUs; }
  bool large() const { return problem.m > kDecodeMaxM; }
};

/// A kind of problem, over all that are of it.
struct EvaluationGroup {
  std::string name; ///< "large FP8", "held out M <= 128", ...
  size_t problems = 0, schedules = 0;
  double top1 = 1, top8 = 1; ///< geometric means
  double worst1 = 1, worst8 = 1;
  std::string worstProblem; ///< of worst1
  double medianError = 0;   ///< over all schedules
};

/// One line of the acceptance table.
struct Criterion {
  std::string name;
  double value = 0, limit = 0;
  bool atMost = false; ///< the limit is an upper one
  bool met() const { return atMost ? value <= limit : value >= limit; }
};

struct Evaluation {
  std::vector<JudgedProblem> problems;
  std::vector<EvaluationGroup> groups;
  std::vector<Criterion> criteria;
  /// Records that were not used, as "12 of another device", "3 wrong", ...
  std::vector<std::string> skipped;
};

/// Judges `device` by records. Those count that are ok, of this device and of
/// kernels that this build would make; a problem needs two schedules.
/// `heldOut` says which problems were not used for calibration (may be empty).
Evaluation evaluate(const std::vector<TuningRecord> &records,
                    const DeviceModel &device,
                    const std::function<bool(const Problem &)> &heldOut = {});

/// Tables for a terminal.
std::string toText(const Evaluation &evaluation);

/// "4096x7168x2048 fp8 dirty": short, for tables.
std::string shortName(const Problem &problem, L2State l2);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_EVALUATE_H
