// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups records by problem, lines their schedules up as the model would take
// them, and compares with the measured best.

#include "dgemm/Tuner/Evaluate.h"

#include "Chart.h"

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Tuner/Space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace dgemm::tuner {

/// Candidates that the acceptance of a model looks at besides the first.
static constexpr size_t kTop = 8;

static double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// "bf16", "fp8 1x128m/128x128": operand type and what the scales are, as far
/// as kernels differ.
static std::string recipe(const Problem &problem) {
  if (!problem.fp8())
    return toString(problem.a);
  auto scale = [](const ScaleSpec &spec) -> std::string {
    if (!spec.present())
      return "none";
    if (spec.perTensor())
      return "tensor";
    if (spec.perRow())
      return "row";
    return std::to_string(spec.rows) + "x" + std::to_string(spec.cols) +
           (spec.major == ScaleMajor::MN ? "m" : "k");
  };
  return "fp8 " + scale(problem.scaleA) + "/" + scale(problem.scaleB);
}

std::string shortName(const Problem &problem, L2State l2) {
  return std::to_string(problem.m) + "x" + std::to_string(problem.n) + "x" +
         std::to_string(problem.k) + " " + recipe(problem) +
         (problem.d == DType::F32 ? " f32" : "") +
         (problem.m <= kDecodeMaxM ? std::string(" ") + toString(l2) : "");
}

namespace {
/// What several records of one schedule say.
struct Times {
  Schedule schedule;
  double sum = 0;
  int count = 0;
};
struct Group {
  Problem problem;
  L2State l2 = L2State::Clean;
  std::map<std::string, Times> schedules; ///< by text
};
} // namespace

/// The measured schedule that stands for the model's choice: itself, or the
/// same kernel with the nearest raster group; null: neither.
static const Schedule *measuredPick(const Group &group, const Schedule &pick) {
  const Schedule *found = nullptr;
  auto distance = [&](const Schedule &schedule) {
    return std::abs(std::log(double(schedule.rasterGroup) / pick.rasterGroup));
  };
  for (const auto &[text, times] : group.schedules)
    if (sameKernel(times.schedule, pick) &&
        (!found || distance(times.schedule) < distance(*found)))
      found = &times.schedule;
  return found;
}

/// Orders the schedules as the model takes them and scores the problem.
static JudgedProblem judge(const Group &group, const DeviceModel &device) {
  JudgedProblem out;
  out.problem = group.problem;
  out.l2 = group.l2;
  // Rank and place by text, which settles ties.
  std::vector<std::pair<std::pair<double, size_t>, JudgedSchedule>> ranked;
  Result<Selection> selection = selectSchedule(group.problem, device);
  if (selection)
    out.pick = selection->schedule;
  const Schedule *first =
      selection ? measuredPick(group, selection->schedule) : nullptr;
  out.pickMeasured = first != nullptr;
  std::vector<double> errors;
  for (const auto &[text, times] : group.schedules) {
    JudgedSchedule judged{
        times.schedule, times.sum / times.count,
        predictUs(group.problem, times.schedule, device, group.l2)};
    bool picked = &times.schedule == first;
    double rank = picked ? 0
                         : predictUs(group.problem, times.schedule, device,
                                     L2State::Clean);
    errors.push_back(std::abs(judged.predictedUs / judged.measuredUs - 1));
    ranked.emplace_back(std::pair(rank, ranked.size()), std::move(judged));
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto &[rank, judged] : ranked)
    out.schedules.push_back(std::move(judged));
  double bestOfTop = out.schedules[0].measuredUs;
  for (size_t i = 0; i < out.schedules.size(); ++i) {
    double us = out.schedules[i].measuredUs;
    if (us < out.bestUs())
      out.best = i;
    if (i < kTop)
      bestOfTop = std::min(bestOfTop, us);
  }
  out.top1 = out.bestUs() / out.schedules[0].measuredUs;
  out.top8 = out.bestUs() / bestOfTop;
  out.medianError = median(std::move(errors));
  return out;
}

static EvaluationGroup
summarise(std::string name, const std::vector<JudgedProblem> &problems,
          const std::function<bool(const JudgedProblem &)> &belongs) {
  EvaluationGroup group;
  group.name = std::move(name);
  double log1 = 0, log8 = 0;
  std::vector<double> errors;
  for (const JudgedProblem &problem : problems) {
    if (!belongs(problem))
      continue;
    ++group.problems;
    group.schedules += problem.schedules.size();
    log1 += std::log(problem.top1);
    log8 += std::log(problem.top8);
    if (problem.top1 < group.worst1 || group.worstProblem.empty()) {
      group.worst1 = problem.top1;
      group.worstProblem = shortName(problem.problem, problem.l2);
    }
    group.worst8 = std::min(group.worst8, problem.top8);
    for (const JudgedSchedule &judged : problem.schedules)
      errors.push_back(std::abs(judged.predictedUs / judged.measuredUs - 1));
  }
  if (group.problems > 0) {
    group.top1 = std::exp(log1 / double(group.problems));
    group.top8 = std::exp(log8 / double(group.problems));
  }
  group.medianError = median(std::move(errors));
  return group;
}

static void addGroups(Evaluation &out, bool heldOut) {
  struct {
    const char *name;
    int large; ///< -1: either
    int eightBit;
  } kinds[] = {{"all", -1, -1},        {"large", 1, -1},
               {"large 16-bit", 1, 0}, {"large FP8", 1, 1},
               {"M <= 128", 0, -1},    {"M <= 128 16-bit", 0, 0},
               {"M <= 128 FP8", 0, 1}};
  for (const auto &kind : kinds) {
    EvaluationGroup group = summarise(
        std::string(heldOut ? "held out: " : "") + kind.name, out.problems,
        [&](const JudgedProblem &problem) {
          return problem.heldOut == heldOut &&
                 (kind.large < 0 || problem.large() == (kind.large == 1)) &&
                 (kind.eightBit < 0 ||
                  problem.problem.fp8() == (kind.eightBit == 1));
        });
    if (group.problems > 0)
      out.groups.push_back(std::move(group));
  }
}

/// What a model is accepted by.
static void addCriteria(Evaluation &out) {
  auto find = [&](const std::string &name) -> const EvaluationGroup * {
    for (const EvaluationGroup &group : out.groups)
      if (group.name == name)
        return &group;
    return nullptr;
  };
  if (const EvaluationGroup *all = find("all")) {
    out.criteria.push_back({"top-1, geometric mean", all->top1, 0.97});
    out.criteria.push_back({"top-8, geometric mean", all->top8, 0.993});
    out.criteria.push_back({"top-1, worst problem", all->worst1, 0.90});
  }
  if (const EvaluationGroup *held = find("held out: all")) {
    out.criteria.push_back(
        {"held out: top-1, geometric mean", held->top1, 0.95});
    out.criteria.push_back(
        {"held out: top-8, geometric mean", held->top8, 0.985});
  }
  for (auto [name, limit] : {std::pair{"large", 0.03}, {"M <= 128", 0.05}})
    if (const EvaluationGroup *group = find(name))
      out.criteria.push_back({std::string("median error of the time, ") + name,
                              group->medianError, limit, true});
}

Evaluation evaluate(const std::vector<TuningRecord> &records,
                    const DeviceModel &device,
                    const std::function<bool(const Problem &)> &heldOut) {
  std::map<std::string, Group> groups;
  std::map<std::string, size_t> skipped;
  for (const TuningRecord &record : records) {
    if (record.device != device.name) {
      ++skipped["of another device"];
      continue;
    }
    if (record.status != RecordStatus::Ok || !(record.medianUs > 0)) {
      ++skipped[record.status == RecordStatus::Ok ? "without a time"
                                                  : toString(record.status)];
      continue;
    }
    if (!whyOutdated(record.versions).empty()) {
      ++skipped["of kernels of another version"];
      continue;
    }
    Group &group = groups[toString(record.problem) + " " + toString(record.l2)];
    group.problem = record.problem;
    group.l2 = record.l2;
    Times &times = group.schedules[toString(record.schedule)];
    times.schedule = record.schedule;
    times.sum += record.medianUs;
    ++times.count;
  }
  Evaluation out;
  for (const auto &[key, group] : groups) {
    if (group.schedules.size() < 2) {
      ++skipped["alone of their problem"];
      continue;
    }
    out.problems.push_back(judge(group, device));
    out.problems.back().heldOut = heldOut && heldOut(group.problem);
  }
  // Large ones last, then by size: the order in which people read them.
  auto order = [](const JudgedProblem &judged) {
    const Problem &p = judged.problem;
    return std::tuple(judged.large(), p.fp8(), p.n, p.k, p.m, judged.l2,
                      toString(p));
  };
  std::sort(out.problems.begin(), out.problems.end(),
            [&](const JudgedProblem &a, const JudgedProblem &b) {
              return order(a) < order(b);
            });
  addGroups(out, false);
  addGroups(out, true);
  addCriteria(out);
  for (const auto &[why, count] : skipped)
    out.skipped.push_back(std::to_string(count) + " " + why);
  return out;
}

std::string toText(const Evaluation &evaluation) {
  std::string out =
      format("%-38s %5s %9s %9s %7s %7s %7s\n", "problem", "count", "best us",
             "pick us", "top-1", "top-8", "error");
  for (const JudgedProblem &problem : evaluation.problems)
    out += format("%-38s %5zu %9.2f %9.2f %7.3f %7.3f %6.1f%%%s%s\n",
                  shortName(problem.problem, problem.l2).c_str(),
                  problem.schedules.size(), problem.bestUs(),
                  problem.schedules[0].measuredUs, problem.top1, problem.top8,
                  100 * problem.medianError, problem.heldOut ? " held out" : "",
                  problem.pickMeasured ? "" : " pick not measured");
  out += format("\n%-26s %8s %6s %7s %7s %7s %7s %7s  %s\n", "group",
                "problems", "count", "top-1", "worst", "top-8", "worst",
                "error", "worst problem");
  for (const EvaluationGroup &group : evaluation.groups)
    out += format("%-26s %8zu %6zu %7.4f %7.4f %7.4f %7.4f %6.1f%%  %s\n",
                  group.name.c_str(), group.problems, group.schedules,
                  group.top1, group.worst1, group.top8, group.worst8,
                  100 * group.medianError, group.worstProblem.c_str());
  out += "\n";
  for (const Criterion &criterion : evaluation.criteria)
    out += format("%-7s %-40s %7.4f, wanted %s %.3f\n",
                  criterion.met() ? "met" : "missed", criterion.name.c_str(),
                  criterion.value,
                  criterion.atMost ? "<=" : ">=", criterion.limit);
  for (const JudgedProblem &problem : evaluation.problems)
    if (!problem.pickMeasured)
      out += "not measured: " + shortName(problem.problem, problem.l2) + ": " +
             toString(problem.pick) + "\n";
  for (const std::string &why : evaluation.skipped)
    out += "records not used: " + why + "\n";
  return out;
}

} // namespace dgemm::tuner
