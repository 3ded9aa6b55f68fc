// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From tuning records to a device model: both formulas of the cost model are
// fitted to what was measured.

#ifndef DGEMM_TUNER_CALIBRATE_H
#define DGEMM_TUNER_CALIBRATE_H

#include "dgemm/CostModel/Calibration.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <functional>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// One of the two formulas.
struct PartReport {
  DeviceField::Fit part = DeviceField::Fit::Large;
  /// Why it was left as it is; empty when it was fitted.
  std::string left;
  CalibrationResult result;
};

struct CalibrationReport {
  /// The start with both parts as fitted, each number with its source.
  DeviceModel device;
  std::vector<PartReport> parts;
  size_t used = 0, skipped = 0; ///< records

  bool fittedAny() const;
};

/// Fits the large and the decode formula of `start`, each where the records
/// suffice. Records count that are ok, of this device, of kernels that this
/// build would make, and that `wanted` (may be empty) accepts. `date` goes into
/// the sources of the new numbers.
Result<CalibrationReport>
calibrateFromRecords(const DeviceModel &start,
                     const std::vector<TuningRecord> &records,
                     const std::string &date,
                     const std::function<bool(const Problem &)> &wanted = {});

/// Tables for a terminal: every coefficient with its unit, before, after,
/// standard error, and a warning where it is not to be trusted.
std::string toText(const CalibrationReport &report);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_CALIBRATE_H
