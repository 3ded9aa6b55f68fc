// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One measured schedule of one problem, and its text: a JSON object on a line.
// The tuner's journal and the tuning database are files of such lines
// (RecordFile.h). docs/tuning.md describes the fields.

#ifndef DGEMM_TUNINGDB_TUNINGRECORD_H
#define DGEMM_TUNINGDB_TUNINGRECORD_H

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>

namespace dgemm {

/// How the measurement of a schedule ended.
enum class RecordStatus {
  Ok,           ///< right numbers, and a time
  Wrong,        ///< ran, and the numbers are wrong
  Hang,         ///< did not come back and was killed
  Fault,        ///< the device reported an error
  CompileError, ///< no kernel was made
  SlowWarning   ///< the assembler spilled registers or serialised WGMMAs
};
/// "ok", "wrong", "hang", "fault", "compile-error", "slow-warning".
const char *toString(RecordStatus status);
Result<RecordStatus> parseRecordStatus(const std::string &text);

/// "clean" or "dirty".
const char *toString(L2State state);
Result<L2State> parseL2State(const std::string &text);

/// What made the kernel that was measured.
struct TuningVersions {
  std::string dgemm;  ///< "0.1.0"
  std::string llvm;   ///< "22.1"
  std::string ptxas;  ///< "13.0.88"; empty: unknown
  int generation = 0; ///< kKernelGeneration of that build
  bool operator==(const TuningVersions &) const = default;
};
/// Those of this build, with the assembler that is used.
TuningVersions currentVersions(const std::string &ptxas = "");
/// Why kernels made by `versions` say nothing about those of this build; empty
/// when they do. Another version of ptxas is no such reason.
std::string whyOutdated(const TuningVersions &versions);

/// One measured schedule. Times are medians over launches, in microseconds of
/// kernel time.
struct TuningRecord {
  Problem problem; ///< every size known
  Schedule schedule;
  std::string device; ///< "H200", as findDevice spells it
  L2State l2 = L2State::Clean;
  TuningVersions versions;
  RecordStatus status = RecordStatus::Ok;
  double medianUs = 0, minUs = 0; ///< 0: not measured
  /// Median absolute deviation from the median, over the median.
  double spread = 0;
  int64_t samples = 0;    ///< launches measured
  double predictedUs = 0; ///< by the cost model; 0: unknown
  double modelPickUs =
      0;            ///< the model's own choice in the same run; 0: unknown
  std::string date; ///< UTC, "2026-01-31T12:00:00Z"; may be empty
  std::string note; ///< what went wrong, or anything worth knowing
  bool operator==(const TuningRecord &) const = default;
};

/// The line, without its end.
std::string toLine(const TuningRecord &record);

/// Reads a line. Besides the text everything in it is checked: the problem by
/// verifyProblem with all sizes known, the schedule by verifySchedule for that
/// problem, times by being finite. Unknown fields and another format version
/// are errors, for they may change what the others mean. Errors name the field,
/// what was expected and what was found.
Result<TuningRecord> parseRecord(const std::string &line);

/// The present time in the form of TuningRecord::date.
std::string currentDate();

} // namespace dgemm

#endif // DGEMM_TUNINGDB_TUNINGRECORD_H
