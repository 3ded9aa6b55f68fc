// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits the coefficients of a device model to measured kernel times.

#ifndef DGEMM_COSTMODEL_CALIBRATION_H
#define DGEMM_COSTMODEL_CALIBRATION_H

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/CostModel/DeviceFile.h"
#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm {

/// One measured kernel.
struct Measurement {
  CostInputs inputs;
  double microseconds = 0;
};

/// One coefficient after the fit.
struct FittedCoefficient {
  std::string name, unit;
  double before = 0, value = 0;
  /// Of the value, from the curvature of the fit; infinite when the
  /// measurements do not determine it, in which case the value is unchanged.
  double standardError = 0;
  /// It ran into the limit of a factor of ten from where it began, so it is
  /// not to be trusted.
  bool atBound = false;
};

struct CalibrationResult {
  DeviceModel device;
  std::vector<FittedCoefficient> coefficients;
  /// Median of |predicted / measured - 1| over all measurements.
  double medianErrorBefore = 0, medianErrorAfter = 0;
  int iterations = 0;
  size_t measurements = 0; ///< that this part of the model was fitted to
};

/// Fits one of the two formulas: `part` Large uses measurements with
/// M > kDecodeMaxM, Decode the others. Least squares on the logarithm of the
/// time, with kernels far slower than the best of their problem counting less
/// and outliers damped. Coefficients of features that no measured kernel has
/// are kept and named as undetermined. Errors: a time that is not positive, or
/// fewer measurements than twice the other coefficients.
Result<CalibrationResult>
calibrate(const DeviceModel &start,
          const std::vector<Measurement> &measurements, DeviceField::Fit part);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_CALIBRATION_H
