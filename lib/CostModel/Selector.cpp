// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks the search space by predicted time, settles ties, and explains. For a
// run-time M it does so at a few sizes and merges ranges that can share.

#include "dgemm/CostModel/Selector.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>

namespace dgemm {

/// Size that stands for a dynamic N or K.
static constexpr int64_t kTypicalSize = 4096;
/// Predictions closer than this are a tie: repeated measurements of one kernel
/// spread by 0.6 to 0.8 %.
static constexpr double kTie = 1.01;
/// What one kernel for two ranges of M may cost in either.
static constexpr double kMergeLoss = 1.05;

bool sameKernel(const Schedule &a, const Schedule &b) {
  Schedule other = b;
  other.rasterGroup = a.rasterGroup;
  return a == other;
}

namespace {
struct Candidate {
  Schedule schedule;
  CostInputs inputs;
  double us = 0;
  /// Whether `us` is the full prediction or a bound from below.
  bool exact = false;
  /// Place in the enumeration; makes every order a total one.
  size_t index = 0;
};

struct Rejected {
  Schedule schedule;
  std::string why;
  int64_t distance = 0;
  size_t index = 0;
};
} // namespace

/// Exact before bounds, then by time.
static bool faster(const Candidate &a, const Candidate &b) {
  return std::tuple(!a.exact, a.us, a.index) <
         std::tuple(!b.exact, b.us, b.index);
}

/// Whether a report should show both: another tile or split, not merely
/// another number of stages.
static bool sameTile(const Schedule &a, const Schedule &b) {
  return a.tileM == b.tileM && a.tileN == b.tileN && a.mode == b.mode &&
         a.form == b.form && a.nBlocks == b.nBlocks && a.splitK == b.splitK &&
         a.splitKind == b.splitKind && a.clusterM == b.clusterM &&
         a.clusterN == b.clusterN;
}

/// What settles a tie, smaller is better: copies of the K loop (scales of B
/// that change inside a tile need one per column offset), rounds of the
/// epilogue, n-blocks, two tiles at a time.
static int complexity(const Problem &problem, const Candidate &candidate) {
  const Schedule &schedule = candidate.schedule;
  int64_t columns = problem.scaleB.blockedAlongK() ? problem.scaleB.rows : 0;
  int loops = 1;
  if (columns > 1)
    loops =
        static_cast<int>(columns / std::gcd<int64_t>(columns, schedule.tileN));
  return 4 * loops + 2 * candidate.inputs.storeChunks + schedule.nBlocks +
         (schedule.mode == ConsumerMode::PingPong ? 1 : 0) +
         2 * (schedule.clusterM * schedule.clusterN - 1);
}

/// Sorts so that the first `count` candidates are exact and in order. Walking
/// the tiles of a candidate takes far longer than everything else about it, so
/// it is done only for those whose bound could still matter.
static void rank(std::vector<Candidate> &candidates, size_t count,
                 Predictor &predictor) {
  std::sort(candidates.begin(), candidates.end(), faster);
  std::vector<double> best; // exact times seen so far, ascending
  for (Candidate &candidate : candidates) {
    if (best.size() >= count && candidate.us > best[count - 1])
      break;
    candidate.us = predictor.predict(candidate.inputs).microseconds;
    candidate.exact = true;
    best.insert(std::upper_bound(best.begin(), best.end(), candidate.us),
                candidate.us);
  }
  std::sort(candidates.begin(), candidates.end(), faster);
}

static std::string formatTime(double us) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), us < 100 ? "%.2f us" : "%.1f us", us);
  return buffer;
}

static std::string describe(const Problem &problem, const Schedule &schedule,
                            const CostBreakdown &cost,
                            const DeviceModel &device) {
  int64_t tiles = ceilDiv(std::max<int64_t>(problem.m, 1), schedule.tileM) *
                  ceilDiv(std::max<int64_t>(problem.n, 1), schedule.tileN);
  char fill[32];
  // Dealt out K steps are shares of tiles, not further work.
  int parts = schedule.splitKind == SplitKind::StreamK ? 1 : schedule.splitK;
  double waves =
      double(tiles) * parts / (double(device.smCount) * schedule.ctasPerSM);
  std::snprintf(fill, sizeof(fill), "%.2f", waves);
  return "predicted " + toString(cost) + "; " + std::to_string(tiles) +
         " tiles are " + fill + " waves on " + std::to_string(device.smCount) +
         " SMs of " + device.name;
}

static Problem concrete(const Problem &problem, int64_t m) {
  Problem out = problem;
  out.m = std::max<int64_t>(m, 1);
  if (out.n == kDynamic)
    out.n = kTypicalSize;
  if (out.k == kDynamic)
    out.k = kTypicalSize;
  out.n = std::max<int64_t>(out.n, 1);
  out.k = std::max<int64_t>(out.k, 1);
  return out;
}

/// How near a rejected schedule is to the choice: the same form of tile, then
/// by area. Reports what a reader would have tried instead.
static int64_t distance(const Schedule &a, const Schedule &b) {
  int64_t area =
      std::abs(int64_t(a.tileM) * a.tileN - int64_t(b.tileM) * b.tileN);
  return area + (a.mode != b.mode) * 4096 + (a.form != b.form) * 16384;
}

Result<Selection> selectSchedule(const Problem &original,
                                 const DeviceModel &device,
                                 const SelectorOptions &options) {
  if (Status status = verifyProblem(original); !status)
    return status;
  if (original.m == kDynamic)
    return Status::error("m: expected a known size, found dynamic");
  Problem problem = concrete(original, original.m);
  SearchOptions space = options.space;
  space.pingPong = options.allowPingPong;
  space.raggedColumns =
      original.n == kDynamic || original.n * sizeOf(original.d) % 16 != 0;
  // Several K blocks per stage need a fixed K that is a multiple of theirs.
  space.severalKBlocks &= original.k != kDynamic;
  bool decode = problem.m <= kDecodeMaxM;

  Predictor predictor(device);
  std::vector<Candidate> candidates;
  std::vector<Rejected> illegal;
  enumerateSchedules(
      problem, device, space,
      [&](const Schedule &schedule) {
        Candidate candidate{schedule, costInputs(problem, schedule, device)};
        candidate.exact = decode;
        candidate.us = (decode ? decodeCost(candidate.inputs, device)
                               : largeCost(candidate.inputs, device, false))
                           .microseconds;
        candidate.index = candidates.size();
        candidates.push_back(std::move(candidate));
        return true;
      },
      [&](const Schedule &schedule,
          const std::vector<ScheduleViolation> &violations) {
        std::string text = violations.front().message;
        if (!violations.front().hint.empty())
          text += " (" + violations.front().hint + ")";
        illegal.push_back({schedule, std::move(text), 0, illegal.size()});
      });
  if (candidates.empty())
    return Status::error(
        "no schedule fits " + toString(original) + " on " + device.name +
        (illegal.empty()
             ? ""
             : ": tile " + std::to_string(illegal[0].schedule.tileM) + "x" +
                   std::to_string(illegal[0].schedule.tileN) + ": " +
                   illegal[0].why));

  if (decode)
    std::sort(candidates.begin(), candidates.end(), faster);
  else
    rank(candidates, 8 + std::max(options.maxAlternatives, 0), predictor);

  // The simplest of those that tie with the fastest.
  size_t chosen = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (!candidates[i].exact || candidates[i].us > candidates[0].us * kTie)
      break;
    if (complexity(problem, candidates[i]) <
        complexity(problem, candidates[chosen]))
      chosen = i;
  }

  Selection selection;
  selection.schedule = candidates[chosen].schedule;
  selection.cost = predictor.predict(candidates[chosen].inputs);
  selection.reason =
      describe(problem, selection.schedule, selection.cost, device);
  double best = candidates[chosen].us;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate &other = candidates[i];
    bool shown = sameTile(other.schedule, selection.schedule);
    for (const auto &alternative : selection.alternatives)
      shown |= sameTile(other.schedule, alternative.first);
    if (shown || !other.exact)
      continue;
    if (static_cast<int>(selection.alternatives.size()) >=
        options.maxAlternatives)
      break;
    char change[32];
    std::snprintf(change, sizeof(change), " (%+.1f %%)",
                  (other.us / best - 1) * 100);
    selection.alternatives.emplace_back(
        other.schedule, "predicted " + formatTime(other.us) + change +
                            (other.us <= best * kTie ? ", a tie" : ""));
  }
  for (Rejected &other : illegal)
    other.distance = distance(other.schedule, selection.schedule);
  std::sort(illegal.begin(), illegal.end(),
            [](const Rejected &a, const Rejected &b) {
              return std::tuple(a.distance, a.index) <
                     std::tuple(b.distance, b.index);
            });
  for (const Rejected &other : illegal) {
    bool shown = false;
    for (const auto &rejected : selection.rejected)
      shown |= sameTile(other.schedule, rejected.first);
    if (shown)
      continue;
    if (static_cast<int>(selection.rejected.size()) >= options.maxRejected)
      break;
    selection.rejected.emplace_back(other.schedule, other.why);
  }
  return selection;
}

//===----------------------------------------------------------------------===//
// Run-time M
//===----------------------------------------------------------------------===//

/// Predicted loss of `schedule` against the range's own choice, at the ends of
/// the range (low, high].
static double loss(const Problem &problem, const DeviceModel &device,
                   const Schedule &schedule, const Schedule &own, int64_t low,
                   int64_t high) {
  double worst = 1;
  for (int64_t m : {low + 1, high}) {
    Problem at = concrete(problem, m);
    auto time = [&](Schedule candidate) {
      candidate.rasterGroup = rasterGroup(at, candidate);
      return predict(at, candidate, device).microseconds;
    };
    worst = std::max(worst, time(schedule) / time(own));
  }
  return worst;
}

Result<std::vector<std::pair<int64_t, Selection>>>
selectDispatch(const Problem &problem, const DeviceModel &device,
               const SelectorOptions &options) {
  std::vector<std::pair<int64_t, Selection>> rows;
  if (problem.m != kDynamic) {
    Result<Selection> selection = selectSchedule(problem, device, options);
    if (!selection)
      return selection.status();
    rows.emplace_back(-1, std::move(*selection));
    return rows;
  }
  // The largest M of each range stands for it: that is where a kernel for the
  // range has most to do.
  std::vector<int64_t> ends;
  // Up to 8 rows are a range of their own, as far as the register form goes.
  for (int64_t high : {8, 64, 128, 256, 512, 1024, 2048, 4096})
    if (high > options.aboveM && (options.maxM < 0 || high < options.maxM))
      ends.push_back(high);
  if (options.maxM >= 0)
    ends.push_back(options.maxM);
  else if (ends.empty())
    ends.push_back(2 * options.aboveM);
  for (int64_t high : ends) {
    Problem at = problem;
    at.m = high;
    Result<Selection> selection = selectSchedule(at, device, options);
    if (!selection)
      return selection.status();
    rows.emplace_back(high, std::move(*selection));
  }
  // The range that loses least by using the schedule of the next one goes
  // first, until what is left is worth a kernel of its own.
  while (rows.size() > 1) {
    size_t cheapest = 0;
    double least = 0;
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      int64_t low = i == 0 ? options.aboveM : rows[i - 1].first;
      double cost = loss(problem, device, rows[i + 1].second.schedule,
                         rows[i].second.schedule, low, rows[i].first);
      if (i == 0 || cost < least) {
        cheapest = i;
        least = cost;
      }
    }
    if (least > kMergeLoss &&
        static_cast<int>(rows.size()) <= std::max(options.maxKernels, 1))
      break;
    rows.erase(rows.begin() + cheapest);
  }
  rows.back().first = options.maxM;
  return rows;
}

} // namespace dgemm
