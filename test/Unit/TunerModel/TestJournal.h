// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Records of made-up measurements: what a device model predicts.

#ifndef DGEMM_TEST_UNIT_TUNERMODEL_TESTJOURNAL_H
#define DGEMM_TEST_UNIT_TUNERMODEL_TESTJOURNAL_H

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Tuner/Space.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <vector>

namespace dgemm::tuner {

inline Problem testProblem(int64_t m, int64_t n, int64_t k, bool fp8) {
  Problem out;
  out.m = m;
  out.n = n;
  out.k = k;
  if (fp8) {
    out.a = out.b = DType::F8E4M3FN;
    out.scaleA = {DType::F32, 1, 128, ScaleMajor::MN};
    out.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  }
  return out;
}

inline TuningRecord testRecord(const Problem &problem, const Schedule &schedule,
                               double us, L2State l2 = L2State::Clean) {
  TuningRecord record;
  record.problem = problem;
  record.schedule = schedule;
  record.device = "H200";
  record.l2 = l2;
  record.versions = currentVersions();
  record.medianUs = record.minUs = us;
  record.samples = 20;
  return record;
}

/// Up to `count` schedules of the space, spread over it, with the times that
/// `truth` predicts.
inline void addJournal(std::vector<TuningRecord> &out, const Problem &problem,
                       const DeviceModel &truth, size_t count,
                       L2State l2 = L2State::Clean) {
  Result<Space> space = Space::create(problem, truth, l2);
  if (!space)
    return;
  size_t step = space->size() / count + 1;
  for (size_t i = 0; i < space->size(); i += step)
    out.push_back(testRecord(problem, space->schedule(i),
                             predictUs(problem, space->schedule(i), truth, l2),
                             l2));
}

} // namespace dgemm::tuner

#endif // DGEMM_TEST_UNIT_TUNERMODEL_TESTJOURNAL_H
