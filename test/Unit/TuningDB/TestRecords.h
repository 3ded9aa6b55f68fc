// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A sound record for tests to start from.

#ifndef DGEMM_TEST_UNIT_TUNINGDB_TESTRECORDS_H
#define DGEMM_TEST_UNIT_TUNINGDB_TESTRECORDS_H

#include "dgemm/TuningDB/TuningRecord.h"

namespace dgemm {

/// BF16, m x 4096 x 7168, with numbers that JSON holds exactly.
inline TuningRecord testRecord(int64_t m, double medianUs = 12.5) {
  TuningRecord record;
  record.problem.m = m;
  record.problem.n = 4096;
  record.problem.k = 7168;
  record.device = "H200";
  record.versions = currentVersions("13.0.88");
  record.medianUs = medianUs;
  record.minUs = medianUs - 0.25;
  record.spread = 0.0078125;
  record.samples = 30;
  record.predictedUs = 13;
  record.modelPickUs = 14;
  record.date = "2026-01-31T12:00:00Z";
  return record;
}

} // namespace dgemm

#endif // DGEMM_TEST_UNIT_TUNINGDB_TESTRECORDS_H
