// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Proposing, compiling and first measurements of one problem; the last
// comparison is in SessionFinal.cpp.

#include "Session.h"

#include "SessionKernels.h"

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Runtime/Timing.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

namespace dgemm::tuner {

/// Candidates checked before they are timed together.
static constexpr size_t kBatch = 6;
/// First look at every candidate, and more of those that are not far slower
/// than the best.
static constexpr Rounds kGlance{1, 2, 0}, kLook{0, 3, 0};
static constexpr double kFarSlower = 1.25;
/// Candidates that stay loaded: not slower than this times the best.
static constexpr double kStaysLoaded = 1.1;
/// Times that a measurement is done again because the program disturbed it.
static constexpr int kAttempts = 3;
/// Gain below which a search counts a candidate as no better.
static constexpr double kBetter = 0.9967;
/// Rounds of "the neighbourhood of the best", and how much of it.
static constexpr int kNeighbourhoods = 3;
static constexpr size_t kNeighbours = 32;
/// Share of a problem's time that is kept for the last comparison, and its
/// limit in seconds.
static constexpr double kFinalShare = 0.15, kFinalSeconds = 1.5;

Session::Session(RunContext &run, const TuneTask &task, size_t number,
                 const JournalRecords &known)
    : context(run), task(task), known(known),
      kernels(std::make_shared<Kernels>()) {
  result.task = task;
  kernels->folder = run.folder + "/" + std::to_string(number);
}

Session::~Session() {
  kernels->cancelled = true;
  std::error_code ignored;
  std::filesystem::remove_all(kernels->folder, ignored);
}

void Session::prepare() {
  auto begin = Clock::now();
  const TuneOptions &options = context.options;
  std::error_code error;
  std::filesystem::create_directories(kernels->folder, error);
  if (error) {
    preparationError = "cannot create a folder for kernels: " + error.message();
    return;
  }
  Result<Space> made = Space::create(task.problem, options.model, options.l2);
  Result<Selection> pick = selectSchedule(task.problem, options.model);
  if (!made || !pick) {
    preparationError = made ? pick.message() : made.message();
    return;
  }
  space = std::make_unique<Space>(std::move(*made));
  search = std::make_unique<Search>(*space, uint64_t(options.seed));
  // Drawn before the journal is looked at, so that a resumed run draws the
  // same ones.
  std::vector<Schedule> first = {pick->schedule};
  auto append = [&](const std::vector<Schedule> &more) {
    first.insert(first.end(), more.begin(), more.end());
  };
  if (options.exhaustive > 0) {
    append(search->best(size_t(options.top)));
    append(search->random(size_t(options.exhaustive)));
  } else {
    append(search->first(size_t(options.top)));
  }
  add(pick->schedule);
  for (const auto &[text, record] : known) {
    bool ok = record.status == RecordStatus::Ok;
    bool isPick = record.schedule == pick->schedule;
    int id = isPick ? 0 : add(record.schedule);
    candidates[id].record = record;
    // All others are measured against the model's choice, so it is compiled
    // and measured again in any case, unless it is no good.
    if (isPick && ok) {
      anchorUs = record.medianUs;
      continue;
    }
    candidates[id].done = true;
    ++result.outcomes[record.status];
    ++result.resumed;
    search->tell(record.schedule,
                 ok ? std::optional(record.medianUs) : std::nullopt);
  }
  if (!candidates[0].done)
    compile(0, JobPool::Rank::Ahead);
  for (size_t i = 1; i < first.size(); ++i)
    if (!known.count(toString(first[i])) && first[i] != pick->schedule)
      submit(first[i], JobPool::Rank::Ahead);
  result.times.prepare += secondsSince(begin);
}

int Session::add(const Schedule &schedule) {
  int id = int(candidates.size());
  Candidate &candidate = candidates.emplace_back();
  candidate.schedule = schedule;
  if (auto plant = context.options.plants.find(id);
      plant != context.options.plants.end())
    candidate.plant = plant->second;
  TuningRecord &record = candidate.record;
  record.problem = task.problem;
  record.schedule = schedule;
  record.device = context.options.deviceName;
  record.l2 = context.options.l2;
  record.versions = context.versions;
  record.predictedUs = predictUs(task.problem, schedule, context.options.model,
                                 context.options.l2);
  return id;
}

void Session::submit(const Schedule &schedule, JobPool::Rank rank) {
  compile(add(schedule), rank);
}

/// Hands a candidate's kernel to the compilers, unless another candidate has
/// the same one: the raster group is an argument of the kernel.
void Session::compile(int id, JobPool::Rank rank) {
  ++inFlight;
  const Candidate &candidate = candidates[id];
  Schedule schedule = candidate.schedule;
  schedule.rasterGroup = 1;
  if (!verifySchedule(task.problem, schedule, context.options.model.limits)
           .empty())
    schedule = candidate.schedule;
  std::string key = toString(schedule);
  if (candidate.plant != Plant::None)
    key += " planted " + std::to_string(id);
  if (kernels->request(key, id))
    return;
  context.pool.submit(
      rank, [kernels = kernels, key, schedule, plant = candidate.plant,
             base = kernels->folder + "/" + std::to_string(id),
             problem = task.problem, &compile = context.compile] {
        if (!kernels->cancelled)
          kernels->finish(key, compile(problem, schedule, plant, base));
      });
}

/// Candidates whose kernels are compiled; waits for the first one when asked.
std::vector<int> Session::takeCompiled(bool wait) {
  auto begin = Clock::now();
  std::vector<int> ids;
  for (auto &[id, kernel] :
       kernels->take(kBatch, wait, [this] { return ended(); })) {
    candidates[id].kernel = kernel;
    ids.push_back(id);
  }
  result.times.compile += secondsSince(begin);
  return ids;
}

/// Whether this problem has to stop measuring first looks.
bool Session::ended() const {
  auto over = [now = Clock::now()](const auto &end) {
    return end && now >= *end;
  };
  // Where the data alone took the problem's share of the budget, it still gets
  // a first look, if the run goes on.
  return context.stop ||
         (over(slotEnd) && (looked() || over(context.deadline)));
}

/// Whether it is known what became of the model's choice.
bool Session::looked() const {
  return !candidates.empty() && candidates[0].done;
}

double Session::pauseMs() const {
  // Short kernels do not heat the chip.
  if (context.options.deviceName.rfind("model:", 0) == 0)
    return 0;
  return anchorUs > 200 ? 2 : anchorUs > 50 ? 1 : 0;
}

/// Keeps the compilers busy with what the search proposes.
void Session::refill() {
  if (!proposing || context.options.exhaustive > 0)
    return;
  int64_t limit = context.options.candidates;
  if (limit == 0 && !slotEnd)
    limit = kDefaultCandidates;
  size_t wanted = size_t(context.pool.size()) * 2;
  while (proposing && inFlight < wanted) {
    bool enough = (limit > 0 && int64_t(candidates.size()) >= limit) ||
                  sinceBetter >= context.options.patience;
    std::optional<Schedule> next;
    if (!enough)
      next = search->propose();
    if (!next)
      proposing = false;
    else if (*next != candidates[0].schedule)
      submit(*next, JobPool::Rank::Now);
  }
}

/// Submits what is left of the neighbourhood of the best; false when nothing
/// is.
bool Session::neighbourhoodLeft() {
  if (context.options.exhaustive == 0 || neighbourhoods >= kNeighbourhoods)
    return false;
  std::vector<int> best = fastest(1);
  if (best.empty() ||
      (neighbourhoods > 0 && candidates[best[0]].schedule == lastCenter))
    return false;
  ++neighbourhoods;
  lastCenter = candidates[best[0]].schedule;
  size_t before = inFlight;
  for (const Schedule &schedule : search->around(lastCenter, kNeighbours))
    if (schedule != candidates[0].schedule)
      submit(schedule, JobPool::Rank::Now);
  return inFlight > before;
}

std::vector<int> Session::fastest(size_t count) const {
  std::vector<int> ids;
  for (int id = 0; id < int(candidates.size()); ++id)
    if (candidates[id].ok())
      ids.push_back(id);
  std::sort(ids.begin(), ids.end(), [&](int a, int b) {
    return std::tuple(candidates[a].record.medianUs, a) <
           std::tuple(candidates[b].record.medianUs, b);
  });
  if (ids.size() > count)
    ids.resize(count);
  return ids;
}

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

/// Writes an outcome to the journal and tells the search.
Status Session::finish(int id, RecordStatus status, const std::string &note) {
  Candidate &candidate = candidates[id];
  bool first = !candidate.done;
  candidate.done = true;
  TuningRecord &record = candidate.record;
  record.status = status;
  record.note = candidate.plant == Plant::None
                    ? note
                    : "planted " + std::string(toString(candidate.plant)) +
                          (note.empty() ? "" : ": " + note);
  if (status != RecordStatus::Ok)
    record.medianUs = record.minUs = record.spread = 0, record.samples = 0;
  record.date = currentDate();
  if (first) {
    --inFlight;
    ++result.outcomes[status];
    bool ok = status == RecordStatus::Ok;
    search->tell(candidate.schedule,
                 ok ? std::optional(record.medianUs) : std::nullopt);
    if (ok && (lastBetter == 0 || record.medianUs < lastBetter * kBetter)) {
      lastBetter = record.medianUs;
      sinceBetter = 0;
    } else {
      ++sinceBetter;
    }
  }
  if (context.options.journal.empty())
    return Status::success();
  return appendRecord(context.options.journal, record);
}

/// An outcome with times; `factor` takes drift out of them.
Status Session::finishTimed(int id, const std::vector<double> &samples,
                            double factor, const char *note,
                            double modelPickUs) {
  TuningRecord &record = candidates[id].record;
  double middle = cuda::median(samples);
  std::vector<double> deviations;
  for (double sample : samples)
    deviations.push_back(std::fabs(sample - middle));
  record.medianUs = middle * factor;
  record.minUs = *std::min_element(samples.begin(), samples.end()) * factor;
  record.spread = middle > 0 ? cuda::median(deviations) / middle : 0;
  record.samples = int64_t(samples.size());
  record.modelPickUs = modelPickUs;
  return finish(id, RecordStatus::Ok, note);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

void Session::waitForDevice() {
  if (context.options.gate)
    context.options.gate->wait(context.stop);
}

/// Checks a compiled candidate; false when it has an outcome that is not Ok.
Result<bool> Session::load(int id) {
  Candidate &candidate = candidates[id];
  if (candidate.kernel.status != RecordStatus::Ok) {
    if (Status s = finish(id, candidate.kernel.status, candidate.kernel.note);
        !s)
      return s;
    return false;
  }
  waitForDevice();
  auto begin = Clock::now();
  Result<CheckOutcome> outcome = context.worker.check(
      {id, candidate.schedule, candidate.kernel.files, candidate.plant});
  result.times.check += secondsSince(begin);
  if (!outcome)
    return outcome.status();
  candidate.loaded = outcome->status == RecordStatus::Ok;
  if (!candidate.loaded)
    if (Status s = finish(id, outcome->status, outcome->note); !s)
      return s;
  return candidate.loaded;
}

/// Times loaded candidates together and adds to their samples. One that takes
/// the worker down gets its outcome and no samples.
Status Session::timeOnce(std::vector<int> ids, const Rounds &rounds,
                         std::map<int, std::vector<double>> &samples) {
  Result<std::vector<TimeOutcome>> outcomes = std::vector<TimeOutcome>();
  // The last attempt counts in any case: a program that leaves no pause is
  // measured as it is.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    waitForDevice();
    const IdleGate *gate = context.options.gate;
    int64_t uses = gate ? gate->uses() : 0;
    outcomes = context.worker.time(ids, rounds);
    if (!outcomes)
      return outcomes.status();
    if (!gate || gate->uses() == uses ||
        std::any_of(outcomes->begin(), outcomes->end(), [](const auto &one) {
          return one.status != RecordStatus::Ok;
        }))
      break;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    TimeOutcome &outcome = (*outcomes)[i];
    std::vector<double> &all = samples[ids[i]];
    if (outcome.status == RecordStatus::Ok) {
      all.insert(all.end(), outcome.samplesUs.begin(), outcome.samplesUs.end());
      continue;
    }
    samples.erase(ids[i]);
    candidates[ids[i]].loaded = false;
    if (ids[i] == anchor)
      anchor = -1;
    if (Status s = finish(ids[i], outcome.status, outcome.note); !s)
      return s;
  }
  return Status::success();
}

/// First times of candidates that are loaded, with the anchor among them.
Status Session::measureFirst(std::vector<int> ids) {
  if (ids.empty())
    return Status::success();
  auto begin = Clock::now();
  if (anchor < 0) {
    anchor = ids[0];
    // The journal's time of the model's choice says nothing about another.
    if (anchor != 0)
      anchorUs = 0;
  }
  std::map<int, std::vector<double>> samples;
  std::vector<int> together = ids;
  if (std::find(ids.begin(), ids.end(), anchor) == ids.end())
    together.insert(together.begin(), anchor);
  Rounds rounds = kGlance;
  rounds.pauseMs = pauseMs();
  if (Status s = timeOnce(together, rounds, samples); !s)
    return s;
  double best = INFINITY;
  for (int id : fastest(1))
    best = candidates[id].record.medianUs;
  for (auto &[id, mine] : samples)
    best = std::min(best, cuda::median(mine));
  std::erase_if(together, [&](int id) {
    auto mine = samples.find(id);
    return mine == samples.end() ||
           (id != anchor && cuda::median(mine->second) > best * kFarSlower);
  });
  rounds = kLook;
  rounds.pauseMs = pauseMs();
  bool more = together.size() > 1 || (!together.empty() && ids[0] == anchor);
  if (more)
    if (Status s = timeOnce(together, rounds, samples); !s)
      return s;
  double factor = 1;
  if (auto mine = samples.find(anchor); mine != samples.end()) {
    double now = cuda::median(mine->second);
    if (anchorUs == 0)
      anchorUs = now;
    factor = anchorUs / now;
  }
  for (int id : ids)
    if (auto mine = samples.find(id); mine != samples.end())
      if (Status s = finishTimed(id, mine->second, factor, "", 0); !s)
        return s;
  dropSlow();
  result.times.measure += secondsSince(begin);
  return Status::success();
}

/// Unloads what cannot win any more.
void Session::dropSlow() {
  std::vector<int> best = fastest(1);
  if (best.empty())
    return;
  double limit = candidates[best[0]].record.medianUs * kStaysLoaded;
  for (int id = 0; id < int(candidates.size()); ++id) {
    Candidate &candidate = candidates[id];
    if (!candidate.loaded || !candidate.done || id == anchor ||
        candidate.record.medianUs <= limit)
      continue;
    context.worker.drop(id);
    candidate.loaded = false;
  }
}

void Session::explainFailure() {
  result.error = "no candidate gave right numbers and a time:";
  for (const auto &[status, count] : result.outcomes)
    result.error += " " + std::to_string(count) + " " + toString(status) + ",";
  result.error.back() = ';';
  for (const Candidate &candidate : candidates)
    if (candidate.done && !candidate.record.note.empty()) {
      result.error += " the first: " + candidate.record.note;
      return;
    }
}

/// Checks and times compiled candidates.
Status Session::measureBatch(const std::vector<int> &ids) {
  std::vector<int> loaded;
  for (int id : ids) {
    Result<bool> ok = load(id);
    if (!ok)
      return ok.status();
    if (*ok)
      loaded.push_back(id);
  }
  return measureFirst(loaded);
}

Status Session::run(std::optional<Clock::time_point> slot,
                    const std::function<void(const TuneProgress &)> &progress) {
  if (space == nullptr) {
    result.error = preparationError;
    return Status::success();
  }
  waitForDevice();
  auto begin = Clock::now();
  if (slot) {
    auto left = std::chrono::duration<double>(*slot - begin).count();
    double kept = context.options.exhaustive > 0
                      ? 0
                      : std::min(kFinalShare * left, kFinalSeconds);
    slotEnd = *slot - std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double>(kept));
  }
  if (Status s = context.worker.setProblem(task.problem, task.sizes,
                                           uint64_t(context.options.seed));
      !s) {
    result.error = s.message();
    return Status::success();
  }
  result.times.prepare += secondsSince(begin);
  context.pool.promote();
  std::vector<int> compiled;
  while (!ended()) {
    refill();
    if (inFlight == 0 && !neighbourhoodLeft())
      break;
    for (int id : takeCompiled(/*wait=*/true))
      compiled.push_back(id);
    // The model's choice comes first, whichever kernel was compiled first.
    auto pick = std::find(compiled.begin(), compiled.end(), 0);
    if (pick != compiled.end())
      std::rotate(compiled.begin(), pick, pick + 1);
    else if (!candidates[0].done)
      continue;
    for (size_t next = 0; next < compiled.size() && !ended(); next += kBatch)
      if (Status s = measureBatch(
              {compiled.begin() + next,
               compiled.begin() + std::min(next + kBatch, compiled.size())});
          !s)
        return s;
    compiled.clear();
    TuneProgress now;
    now.name = task.name;
    now.done = int64_t(candidates.size()) - int64_t(inFlight);
    now.planned = context.options.exhaustive > 0 || !proposing
                      ? int64_t(candidates.size())
                      : context.options.candidates;
    for (int id : fastest(1))
      now.bestUs = candidates[id].record.medianUs;
    if (candidates[0].ok())
      now.modelUs = candidates[0].record.medianUs;
    progress(now);
  }
  // An exhaustive run goes on where it stopped; a search that ran out of its
  // time is over.
  bool cut =
      context.stop || !looked() || (context.options.exhaustive > 0 && ended());
  if (cut) {
    result.unfinished = true;
    return Status::success();
  }
  auto finalBegin = Clock::now();
  Status compared = compareFinalists();
  result.times.final += secondsSince(finalBegin);
  return compared;
}

} // namespace dgemm::tuner
