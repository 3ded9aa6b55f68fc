// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The last comparison of a problem: the fastest candidates and the model's
// choice measured together, with more repeats the fewer are left.

#include "SessionKernels.h"

#include "dgemm/Runtime/Timing.h"

#include <algorithm>

namespace dgemm::tuner {

namespace {
/// One round of the comparison and who may go on to the next.
struct Heat {
  int repeats;
  size_t survivors;
  double margin; ///< times the fastest
};
} // namespace
static constexpr size_t kFinalists = 8;
static constexpr Heat kHeats[] = {{7, 4, 1.02}, {11, 2, 1.01}, {21, 1, 1}};
/// The model's choice wins when nothing beats it by more than this.
static constexpr double kWorthChanging = 1.003;

/// The fastest candidates, compiled and loaded; the model's choice first.
Result<std::vector<int>> Session::loadFinalists() {
  std::vector<int> wanted = fastest(kFinalists);
  if (candidates[0].ok() &&
      std::find(wanted.begin(), wanted.end(), 0) == wanted.end())
    wanted.insert(wanted.begin(), 0);
  std::vector<int> loaded;
  std::set<int> waiting;
  for (int id : wanted) {
    if (candidates[id].loaded) {
      loaded.push_back(id);
      continue;
    }
    // From the journal, or unloaded when another was faster for a while.
    waiting.insert(id);
    compile(id, JobPool::Rank::Now);
  }
  while (!waiting.empty() && !context.stop) {
    for (auto &[id, kernel] :
         kernels->take(1, true, [this] { return bool(context.stop); })) {
      // What was still being compiled when the search ended is not needed.
      if (!waiting.erase(id))
        continue;
      --inFlight;
      candidates[id].kernel = kernel;
      Result<bool> ok = load(id);
      if (!ok)
        return ok.status();
      if (*ok)
        loaded.push_back(id);
    }
  }
  return loaded;
}

Status Session::compareFinalists() {
  Result<std::vector<int>> loaded = loadFinalists();
  if (!loaded)
    return loaded.status();
  if (context.stop) {
    result.unfinished = true;
    return Status::success();
  }
  std::vector<int> racing = *loaded;
  if (racing.empty()) {
    explainFailure();
    return Status::success();
  }
  bool hasPick = std::find(racing.begin(), racing.end(), 0) != racing.end();
  int reference = hasPick ? 0 : racing[0];
  // The last samples of everyone, and the reference's in the same heat.
  std::map<int, std::pair<std::vector<double>, double>> last;
  for (const Heat &heat : kHeats) {
    std::map<int, std::vector<double>> samples;
    if (Status s = timeOnce(racing, {1, heat.repeats, pauseMs()}, samples); !s)
      return s;
    if (!samples.count(reference)) {
      explainFailure();
      return Status::success();
    }
    double beside = cuda::median(samples[reference]);
    std::vector<std::pair<double, int>> order;
    for (auto &[id, mine] : samples) {
      order.emplace_back(cuda::median(mine), id);
      last[id] = {std::move(mine), beside};
    }
    std::sort(order.begin(), order.end());
    racing.clear();
    for (auto [us, id] : order)
      if (racing.size() < heat.survivors &&
          us <= order.front().first * heat.margin)
        racing.push_back(id);
    if (&heat != std::end(kHeats) - 1 &&
        std::find(racing.begin(), racing.end(), reference) == racing.end())
      racing.push_back(reference);
  }
  int winner = racing[0];
  double referenceUs = cuda::median(last[reference].first);
  if (hasPick && winner != 0 &&
      referenceUs < cuda::median(last[winner].first) * kWorthChanging)
    winner = 0;
  // The winner's record last: a run killed before it does this again.
  std::vector<int> finalists;
  for (const auto &[id, samples] : last)
    if (id != winner && candidates[id].ok())
      finalists.push_back(id);
  for (int id : finalists)
    if (Status s =
            finishTimed(id, last[id].first, referenceUs / last[id].second, "",
                        hasPick ? referenceUs : 0);
        !s)
      return s;
  if (Status s = finishTimed(winner, last[winner].first,
                             referenceUs / last[winner].second, kFinalNote,
                             hasPick ? referenceUs : 0);
      !s)
    return s;
  result.winner = candidates[winner].record;
  return Status::success();
}

} // namespace dgemm::tuner
