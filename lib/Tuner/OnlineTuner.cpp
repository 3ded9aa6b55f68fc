// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread that tunes what the program calls, most frequent first, by the
// very means of dgemm-tune, and compiles again after each.

#include "dgemm/Tuner/OnlineTuner.h"

#include "dgemm/Support/File.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include <algorithm>

namespace dgemm::tuner {

Result<std::unique_ptr<OnlineTuner>>
OnlineTuner::create(OnlineOptions options) {
  const std::string &database = options.tuning.database;
  if (database.empty() || database == "shipped" || database == "none")
    return Status::error("online tuning: expected the file of a database, "
                         "found '" +
                         database + "'");
  // A file that is not there yet is no error, as it is for a compiler.
  if (!fileExists(database))
    if (Status s = writeFile(database, ""); !s)
      return s;
  std::vector<std::string> warnings;
  if (Status s = checkFiles(options.tuning, warnings); !s)
    return s;
  return std::unique_ptr<OnlineTuner>(new OnlineTuner(std::move(options)));
}

OnlineTuner::OnlineTuner(OnlineOptions given)
    : options(std::move(given)), idle(options.idleSeconds) {
  options.compile.tuningDB = options.tuning.database;
  options.tuning.gate = &idle;
  // The program needs the others.
  if (options.tuning.threads == 0)
    options.tuning.threads = 1;
  thread = std::thread([this] { work(); });
}

OnlineTuner::~OnlineTuner() {
  {
    std::lock_guard<std::mutex> guard(lock);
    stop = true;
  }
  changed.notify_all();
  thread.join();
}

/// Queues an M unless there is a reason not to tune it.
OnlineTuner::Size OnlineTuner::newSize(const Problem &problem,
                                       int64_t m) const {
  Size size;
  Problem at = problem;
  at.m = m;
  bool known = at.m > 0 && at.n > 0 && at.k > 0;
  if (!known || !options.compile.schedule.empty())
    return size;
  auto database = openTuningDatabase(options.tuning.database);
  if (!database || (*database)->find(at, options.tuning.model.name))
    return size;
  size.task = {toString(at), at, defaultSizes(at, at.m, at.n, at.k)};
  size.state = Size::Queued;
  return size;
}

Result<std::shared_ptr<const jit::Artifact>>
OnlineTuner::artifact(const Problem &problem, const LaunchSizes &sizes) {
  int64_t m =
      problem.m == kDynamic && sizes.m > 0 ? tuningBucket(sizes.m) : sizes.m;
  std::string key = toString(problem);
  std::unique_lock<std::mutex> guard(lock);
  auto found = entries.find(key);
  if (found == entries.end()) {
    guard.unlock();
    auto made =
        jit::Compiler::instance().compileProblem(problem, options.compile);
    if (!made)
      return made.status();
    guard.lock();
    found = entries.try_emplace(key, Entry{problem, *made, {}}).first;
  }
  Entry &entry = found->second;
  auto [size, isNew] = entry.sizes.try_emplace(m);
  if (isNew)
    size->second = newSize(problem, m);
  ++size->second.calls;
  if (isNew && size->second.state == Size::Queued)
    changed.notify_all();
  return entry.artifact;
}

size_t OnlineTuner::pendingLocked() const {
  size_t count = 0;
  for (const auto &[key, entry] : entries)
    for (const auto &[m, size] : entry.sizes)
      count += size.state != Size::Done;
  return count;
}

size_t OnlineTuner::pending() const {
  std::lock_guard<std::mutex> guard(lock);
  return pendingLocked();
}

bool OnlineTuner::waitUntilTuned(double seconds) {
  std::unique_lock<std::mutex> guard(lock);
  return changed.wait_for(guard, std::chrono::duration<double>(seconds),
                          [this] { return pendingLocked() == 0; });
}

//===----------------------------------------------------------------------===//
// The tuning thread
//===----------------------------------------------------------------------===//

/// The queued size with the most calls and its problem; null: none.
OnlineTuner::Size *OnlineTuner::mostFrequent(Entry *&of) {
  Size *best = nullptr;
  for (auto &[key, entry] : entries)
    for (auto &[m, size] : entry.sizes)
      if (size.state == Size::Queued && (!best || size.calls > best->calls)) {
        best = &size;
        of = &entry;
      }
  return best;
}

void OnlineTuner::work() {
  std::unique_lock<std::mutex> guard(lock);
  while (!stop) {
    Entry *entry = nullptr;
    Size *size = mostFrequent(entry);
    if (!size) {
      changed.wait(guard);
      continue;
    }
    size->state = Size::UnderWay;
    TuneTask task = size->task;
    guard.unlock();
    OnlineResult result = tuneOne(task);
    if (result.error.empty())
      recompile(*entry, result);
    if (options.finished)
      options.finished(result);
    guard.lock();
    size->state = Size::Done;
    changed.notify_all();
  }
}

OnlineResult OnlineTuner::tuneOne(const TuneTask &task) {
  OnlineResult result;
  result.problem = task.problem;
  idle.wait(stop);
  if (!worker && !stop) {
    auto started = options.startWorker();
    if (!started) {
      result.error = started.message();
      return result;
    }
    worker = std::move(*started);
  }
  if (stop) {
    result.error = "stopped";
    return result;
  }
  auto tuned =
      tune({task}, options.tuning, options.compileCandidate, *worker, {}, stop);
  if (!tuned) {
    // No worker comes up any more; the next problem tries again.
    worker.reset();
    result.error = tuned.message();
  } else if (tuned->front().unfinished) {
    result.error = "stopped";
  } else {
    result.error = tuned->front().error;
    result.winner = tuned->front().winner;
  }
  return result;
}

static bool sameSchedules(const LaunchMetadata &a, const LaunchMetadata &b) {
  return std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(),
                    b.kernels.end(), [](const auto &one, const auto &other) {
                      return one.schedule == other.schedule;
                    });
}

/// The database has a record more; what the compiler makes of it takes the
/// place of the artifact.
void OnlineTuner::recompile(Entry &entry, OnlineResult &result) {
  auto made =
      jit::Compiler::instance().compileProblem(entry.problem, options.compile);
  if (!made) {
    result.error = made.message();
    return;
  }
  std::lock_guard<std::mutex> guard(lock);
  result.swapped = !sameSchedules((*made)->metadata, entry.artifact->metadata);
  entry.artifact = std::move(*made);
}

} // namespace dgemm::tuner
