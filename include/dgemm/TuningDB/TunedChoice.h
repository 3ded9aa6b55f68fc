// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What a tuning database says how a problem should be computed: for a known M
// one schedule, for a run-time M one per range; and why, or why not.

#ifndef DGEMM_TUNINGDB_TUNEDCHOICE_H
#define DGEMM_TUNINGDB_TUNEDCHOICE_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dgemm {

/// A range of M and what the database has for it.
struct TunedRow {
  int64_t maxM = -1; ///< the range's end; -1: none, or the one known M
  std::optional<TuningRecord> record;
  /// The record's figures, or why there is none to use; one line.
  std::string why;
};

struct TunedOptions {
  /// The range of a run-time M that is asked for: aboveM < M <= maxM (-1: no
  /// end).
  int64_t aboveM = 0, maxM = -1;
  /// Kernels for a run-time M, at most; each takes its time to compile.
  int maxKernels = 8;
};

/// With a known M one row: the record of that M, else the one of the M's
/// bucket unless the cost model says that it fits this M much worse than its
/// own. With a run-time M the rows cover the range that is asked for; ranges
/// that the database knows nothing of are rows without a record. Records whose
/// schedule the problem or the device's limits forbid are left out.
std::vector<TunedRow> chooseTuned(const TuningDatabase &database,
                                  const Problem &problem,
                                  const DeviceModel &device,
                                  const TunedOptions &options = {});

/// "121.3 us measured (120.9 at least, spread 0.4 %, 30 launches, L2 clean),
/// ..."
std::string describeFigures(const TuningRecord &record);

/// A report for people: what the database says of the problem, where it has it
/// from, and the model's own choice beside it. Errors: no schedule fits.
Result<std::string> explainTuning(const TuningDatabase &database,
                                  const Problem &problem,
                                  const DeviceModel &device);

} // namespace dgemm

#endif // DGEMM_TUNINGDB_TUNEDCHOICE_H
