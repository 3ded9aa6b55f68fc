// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From a problem to records, and from records to rows over M.

#include "dgemm/TuningDB/TunedChoice.h"

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/CostModel/Selector.h"

#include <algorithm>
#include <cstdio>

namespace dgemm {

/// How much worse than at its own M a bucket's record may be predicted to do
/// against the model's choice, before that choice is the better guess.
static constexpr double kBucketLoss = 1.05;

static std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

static std::string formatTime(double us) {
  return format(us < 100 ? "%.2f us" : "%.1f us", us);
}

std::string describeFigures(const TuningRecord &record) {
  std::string text = formatTime(record.medianUs) +
                     " measured at M = " + std::to_string(record.problem.m) +
                     " (least " + formatTime(record.minUs) + ", spread " +
                     format("%.1f %%", record.spread * 100) + ", " +
                     std::to_string(record.samples) + " launches, L2 " +
                     toString(record.l2);
  if (!record.date.empty())
    text += ", " + record.date.substr(0, 10);
  text += ")";
  if (record.predictedUs > 0)
    text += ", predicted " + formatTime(record.predictedUs);
  if (record.modelPickUs > 0)
    text +=
        ", the model's choice took " + formatTime(record.modelPickUs) +
        format(" (%+.1f %%)", (record.modelPickUs / record.medianUs - 1) * 100);
  return text;
}

static Problem withM(const Problem &problem, int64_t m) {
  Problem at = problem;
  at.m = m;
  return at;
}

/// Why a record cannot serve `problem`; empty: it can.
static std::string whyForbidden(const Problem &problem,
                                const TuningRecord &record,
                                const DeviceModel &device) {
  std::vector<ScheduleViolation> violations =
      verifySchedule(problem, record.schedule, device.limits);
  if (violations.empty())
    return "";
  return "the record of M = " + std::to_string(record.problem.m) +
         " cannot be used: " + violations.front().message;
}

/// Predicted time of a schedule over that of the model's choice.
static double againstModel(const Problem &problem, const Schedule &schedule,
                           const DeviceModel &device) {
  SelectorOptions options;
  options.maxAlternatives = options.maxRejected = 0;
  Result<Selection> model = selectSchedule(problem, device, options);
  if (!model)
    return 1;
  return predict(problem, schedule, device).microseconds /
         model->cost.microseconds;
}

/// Whether the record of a bucket is a bad guess for another M of it. Where the
/// model was wrong about the record at its own M, it is not believed here.
static std::string whyTooFar(const Problem &problem, const TuningRecord &record,
                             const DeviceModel &device) {
  double there = againstModel(record.problem, record.schedule, device);
  double here = againstModel(problem, record.schedule, device);
  if (here <= std::max(there, 1.0) * kBucketLoss)
    return "";
  return "the record of M = " + std::to_string(record.problem.m) +
         " is predicted " + format("%.0f %%", (here - 1) * 100) +
         " slower than the model's choice at M = " + std::to_string(problem.m);
}

static TunedRow chooseForM(const TuningDatabase &database,
                           const Problem &problem, const DeviceModel &device) {
  TunedRow row;
  if (const LocatedRecord *exact = database.find(problem, device.name)) {
    row.why = whyForbidden(problem, exact->record, device);
    if (row.why.empty()) {
      row.record = exact->record;
      row.why = describeFigures(exact->record);
    }
    return row;
  }
  int64_t bucket = tuningBucket(problem.m);
  const LocatedRecord *near =
      database.find(withM(problem, bucket), device.name);
  if (!near) {
    row.why = "no record of " + toString(problem) + " on " + device.name;
    if (bucket != problem.m)
      row.why += ", nor of M = " + std::to_string(bucket);
    return row;
  }
  row.why = whyForbidden(problem, near->record, device);
  if (row.why.empty())
    row.why = whyTooFar(problem, near->record, device);
  if (row.why.empty()) {
    row.record = near->record;
    row.why = describeFigures(near->record);
  }
  return row;
}

//===----------------------------------------------------------------------===//
// Run-time M
//===----------------------------------------------------------------------===//

/// Neighbours that are one kernel, or have none, become one row. The one for
/// larger M stands for both.
static void joinEqualRows(std::vector<TunedRow> &rows) {
  for (size_t i = 0; i + 1 < rows.size();) {
    const auto &a = rows[i].record, &b = rows[i + 1].record;
    bool equal = a && b ? sameKernel(a->schedule, b->schedule) : !a && !b;
    if (equal)
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

/// Gives up kernels until there are few enough: first the one whose range is
/// predicted to lose least by that of the next range.
static void dropRows(std::vector<TunedRow> &rows, const Problem &problem,
                     const DeviceModel &device, int maxKernels) {
  auto kernels = [&rows] {
    return std::count_if(rows.begin(), rows.end(),
                         [](const TunedRow &row) { return bool(row.record); });
  };
  while (kernels() > std::max(maxKernels, 1)) {
    size_t cheapest = rows.size();
    double least = 0;
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      if (!rows[i].record || !rows[i + 1].record)
        continue;
      Problem at = withM(problem, rows[i].record->problem.m);
      double loss =
          predict(at, rows[i + 1].record->schedule, device).microseconds /
          predict(at, rows[i].record->schedule, device).microseconds;
      if (cheapest == rows.size() || loss < least) {
        cheapest = i;
        least = loss;
      }
    }
    // Ranges apart from each other share nothing.
    if (cheapest == rows.size())
      return;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(cheapest));
  }
}

static std::vector<TunedRow> chooseRows(const TuningDatabase &database,
                                        const Problem &problem,
                                        const DeviceModel &device,
                                        const TunedOptions &options) {
  std::vector<TunedRow> rows;
  int64_t last = std::end(kTuningBuckets)[-1];
  for (int64_t bucket : kTuningBuckets) {
    if (bucket <= options.aboveM && bucket != last)
      continue;
    bool ends = bucket == last || (options.maxM >= 0 && bucket >= options.maxM);
    TunedRow row;
    row.maxM = ends ? options.maxM : bucket;
    if (const LocatedRecord *found =
            database.find(withM(problem, bucket), device.name)) {
      row.why = whyForbidden(problem, found->record, device);
      if (row.why.empty()) {
        row.record = found->record;
        row.why = describeFigures(found->record);
      }
    } else {
      row.why = "no record of " + toString(withM(problem, bucket)) + " on " +
                device.name;
    }
    rows.push_back(std::move(row));
    if (ends)
      break;
  }
  joinEqualRows(rows);
  dropRows(rows, problem, device, options.maxKernels);
  return rows;
}

std::vector<TunedRow> chooseTuned(const TuningDatabase &database,
                                  const Problem &problem,
                                  const DeviceModel &device,
                                  const TunedOptions &options) {
  TunedRow none;
  none.maxM = problem.m == kDynamic ? options.maxM : -1;
  if (problem.n == kDynamic || problem.k == kDynamic) {
    none.why = "N or K is known only at run time, and records are of known "
               "sizes";
    return {none};
  }
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
    none.why = "nothing is measured for a size of 0";
    return {none};
  }
  if (problem.m == kDynamic)
    return chooseRows(database, problem, device, options);
  return {chooseForM(database, problem, device)};
}

//===----------------------------------------------------------------------===//
// Explanation
//===----------------------------------------------------------------------===//

static std::string rangeText(const Problem &problem, int64_t low,
                             int64_t high) {
  if (problem.m != kDynamic)
    return "M = " + std::to_string(problem.m);
  std::string text = low > 0 ? std::to_string(low) + " < M" : "M";
  return high < 0 ? (low > 0 ? text : "any M")
                  : text + " <= " + std::to_string(high);
}

Result<std::string> explainTuning(const TuningDatabase &database,
                                  const Problem &problem,
                                  const DeviceModel &device) {
  std::string text =
      "problem: " + toString(problem) + "\ndevice: " + device.name + "\n";
  int64_t low = 0;
  for (const TunedRow &row : chooseTuned(database, problem, device)) {
    text += rangeText(problem, low, row.maxM) + "\n";
    SelectorOptions options;
    options.maxAlternatives = options.maxRejected = 0;
    Problem at = problem;
    // The model, too, looks at the largest M of a range.
    if (problem.m == kDynamic)
      at.m = row.record     ? row.record->problem.m
             : row.maxM > 0 ? row.maxM
                            : std::end(kTuningBuckets)[-1];
    Result<Selection> model = selectSchedule(at, device, options);
    if (!model)
      return model.status();
    if (row.record) {
      const LocatedRecord *located =
          database.find(row.record->problem, device.name);
      text += "  tuned   " + toString(row.record->schedule) + "\n          " +
              row.why + "\n";
      if (located)
        text +=
            "          from " + located->place + ", dgemm " +
            row.record->versions.dgemm + ", LLVM " + row.record->versions.llvm +
            ", ptxas " +
            (row.record->versions.ptxas.empty() ? "unknown"
                                                : row.record->versions.ptxas) +
            "\n";
    } else {
      text += "  tuned   nothing: " + row.why + "\n";
    }
    text += "  model   " + toString(model->schedule) + "\n          " +
            model->reason + "\n";
    if (row.record && sameKernel(row.record->schedule, model->schedule))
      text += "          the same kernel as the tuned one\n";
    text += std::string("  used    ") + (row.record ? "tuned" : "model") + "\n";
    low = row.maxM;
  }
  return text;
}

} // namespace dgemm
