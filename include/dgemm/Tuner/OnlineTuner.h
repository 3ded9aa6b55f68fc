// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning inside a running program: the first call of a problem gets what the
// compiler chooses by itself, better schedules are looked for while the device
// is idle, and later calls get the best one. docs/tuning.md has the contract.

#ifndef DGEMM_TUNER_ONLINETUNER_H
#define DGEMM_TUNER_ONLINETUNER_H

#include "dgemm/JIT/Compiler.h"
#include "dgemm/Tuner/IdleGate.h"
#include "dgemm/Tuner/Tuner.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dgemm::tuner {

/// What became of a problem; given to OnlineOptions::finished.
struct OnlineResult {
  Problem problem;     ///< with the M that was tuned
  TuningRecord winner; ///< unless `error` says why there is none
  std::string error;
  /// Calls get another artifact from now on.
  bool swapped = false;
};

struct OnlineOptions {
  /// How to tune. `database` is required: winners go there, and the artifacts
  /// come from there. The budget is that of one problem and counts idle and
  /// busy time alike.
  TuneOptions tuning;
  /// How artifacts are compiled; tuningDB is set to the database. A schedule
  /// given here decides, so nothing is tuned then.
  jit::CompileOptions compile;
  /// Compiles candidates; makeCompiler, or makeNoCompiler on the model device.
  CompileFunction compileCandidate;
  /// Starts the process that measures, when there is something to measure.
  std::function<Result<std::unique_ptr<Worker>>()> startWorker;
  /// The device has to have been free for so long before a measurement.
  double idleSeconds = 0.05;
  /// Called on the tuning thread.
  std::function<void(const OnlineResult &)> finished;
};

/// Artifacts that get better. All members may be called from any thread.
class OnlineTuner {
public:
  /// Errors: no database is named, or it cannot be used (checkFiles).
  static Result<std::unique_ptr<OnlineTuner>> create(OnlineOptions options);
  /// Stops tuning, which takes as long as a measurement that is under way; what
  /// was measured is in the journal, if there is one.
  ~OnlineTuner();
  OnlineTuner(const OnlineTuner &) = delete;
  OnlineTuner &operator=(const OnlineTuner &) = delete;

  /// What to launch for a problem with these sizes. The first call of a problem
  /// compiles it, later ones look it up. A size of M that the database knows
  /// nothing about is queued: itself, or, where M is left open, its bucket. The
  /// artifact stays valid when another one takes its place. Errors: those of
  /// Compiler::compileProblem.
  Result<std::shared_ptr<const jit::Artifact>>
  artifact(const Problem &problem, const LaunchSizes &sizes);

  /// Tells the tuner when the program uses the device.
  IdleGate &gate() { return idle; }

  /// Problems that are queued or being tuned.
  size_t pending() const;
  /// Waits until there are none, or for so many seconds; whether there are
  /// none.
  bool waitUntilTuned(double seconds);

private:
  explicit OnlineTuner(OnlineOptions options);

  /// An M of a problem: itself, or its bucket.
  struct Size {
    TuneTask task;
    int64_t calls = 0; ///< the most frequent one is tuned first
    enum { Done, Queued, UnderWay } state = Done;
  };
  /// A problem as the program asks for it.
  struct Entry {
    Problem problem;
    std::shared_ptr<const jit::Artifact> artifact;
    std::map<int64_t, Size> sizes;
  };

  Size newSize(const Problem &problem, int64_t m) const;
  Size *mostFrequent(Entry *&of);
  size_t pendingLocked() const;
  void work();
  OnlineResult tuneOne(const TuneTask &task);
  void recompile(Entry &entry, OnlineResult &result);

  OnlineOptions options;
  IdleGate idle;
  std::unique_ptr<Worker> worker;
  std::atomic<bool> stop = false;
  mutable std::mutex lock;
  std::condition_variable changed;
  std::map<std::string, Entry> entries; ///< by the problem's text; they stay
  std::thread thread;
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_ONLINETUNER_H
