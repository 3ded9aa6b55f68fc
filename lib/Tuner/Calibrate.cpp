// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Calibrate.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace dgemm::tuner {

bool CalibrationReport::fittedAny() const {
  for (const PartReport &part : parts)
    if (part.left.empty())
      return true;
  return false;
}

/// As many digits as a fit is worth, so that files stay readable.
static double rounded(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.4g", value);
  return std::strtod(buffer, nullptr);
}

/// Takes the fitted numbers over, with where they come from.
static void adopt(DeviceModel &device, CalibrationResult &result,
                  const std::string &date) {
  for (FittedCoefficient &coefficient : result.coefficients) {
    if (!std::isfinite(coefficient.standardError))
      continue;
    coefficient.value = rounded(coefficient.value);
    for (const DeviceField &field : deviceFields())
      if (coefficient.name == field.name)
        field.access(device) = coefficient.value;
    char source[64];
    std::snprintf(source, sizeof(source), "fit %s, +- %.2g%s", date.c_str(),
                  coefficient.standardError,
                  coefficient.atBound ? ", at its bound" : "");
    device.sources[coefficient.name] = source;
  }
}

Result<CalibrationReport>
calibrateFromRecords(const DeviceModel &start,
                     const std::vector<TuningRecord> &records,
                     const std::string &date,
                     const std::function<bool(const Problem &)> &wanted) {
  CalibrationReport report;
  report.device = start;
  std::vector<Measurement> data;
  for (const TuningRecord &record : records) {
    bool counts = record.status == RecordStatus::Ok && record.medianUs > 0 &&
                  record.device == start.name &&
                  whyOutdated(record.versions).empty() &&
                  (!wanted || wanted(record.problem));
    if (!counts) {
      ++report.skipped;
      continue;
    }
    CostInputs inputs = costInputs(record.problem, record.schedule, start);
    inputs.l2 = record.l2;
    data.push_back({inputs, record.medianUs});
    ++report.used;
  }
  if (data.empty())
    return Status::error("no record to calibrate " + start.name +
                         " with: expected status ok, device " + start.name +
                         " and kernels of this version, found " +
                         std::to_string(report.skipped) + " others");
  for (DeviceField::Fit part :
       {DeviceField::Fit::Large, DeviceField::Fit::Decode}) {
    PartReport out;
    out.part = part;
    Result<CalibrationResult> result = calibrate(start, data, part);
    if (result) {
      out.result = std::move(*result);
      adopt(report.device, out.result, date);
      report.device.measured = true;
    } else {
      out.left = result.message();
    }
    report.parts.push_back(std::move(out));
  }
  return report;
}

static std::string describe(const FittedCoefficient &coefficient) {
  char line[160];
  if (!std::isfinite(coefficient.standardError)) {
    std::snprintf(line, sizeof(line),
                  "%-34s %-6s %11.4g %11s %9s  not determined\n",
                  coefficient.name.c_str(), coefficient.unit.c_str(),
                  coefficient.before, "kept", "");
    return line;
  }
  const char *warning =
      coefficient.atBound ? "  at its bound: not to be trusted"
      : coefficient.standardError > 0.5 * std::abs(coefficient.value)
          ? "  weakly determined"
          : "";
  std::snprintf(line, sizeof(line), "%-34s %-6s %11.4g %11.4g %9.2g%s\n",
                coefficient.name.c_str(), coefficient.unit.c_str(),
                coefficient.before, coefficient.value,
                coefficient.standardError, warning);
  return line;
}

std::string toText(const CalibrationReport &report) {
  std::string out = std::to_string(report.used) + " records used, " +
                    std::to_string(report.skipped) + " not\n";
  char line[160];
  for (const PartReport &part : report.parts) {
    out += part.part == DeviceField::Fit::Large ? "\nlarge problems\n"
                                                : "\nM <= 128\n";
    if (!part.left.empty()) {
      out += "left as it is: " + part.left + "\n";
      continue;
    }
    std::snprintf(line, sizeof(line), "%-34s %-6s %11s %11s %9s\n",
                  "coefficient", "unit", "before", "after", "+-");
    out += line;
    for (const FittedCoefficient &coefficient : part.result.coefficients)
      out += describe(coefficient);
    std::snprintf(line, sizeof(line),
                  "median error of %zu times: %.2f %% before, %.2f %% after\n",
                  part.result.measurements, 100 * part.result.medianErrorBefore,
                  100 * part.result.medianErrorAfter);
    out += line;
  }
  return out;
}

} // namespace dgemm::tuner
