// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning one problem. A session is prepared and compiles its first candidates
// while the one before it still measures.

#ifndef DGEMM_LIB_TUNER_SESSION_H
#define DGEMM_LIB_TUNER_SESSION_H

#include "dgemm/Tuner/Search.h"
#include "dgemm/Tuner/Tuner.h"

#include <chrono>
#include <memory>
#include <optional>
#include <set>

namespace dgemm::tuner {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Note of the records that the last comparison of a problem writes: they say
/// that the problem is finished.
inline constexpr const char *kFinalNote = "final comparison";

/// What a journal knows about one problem: by schedule, the last record wins.
using JournalRecords = std::map<std::string, TuningRecord>;

/// What all sessions of a run share.
struct RunContext {
  const TuneOptions &options;
  const CompileFunction &compile;
  Worker &worker;
  JobPool &pool;
  const std::atomic<bool> &stop;
  std::string folder; ///< for kernels, goes away with the run
  TuningVersions versions;
  std::optional<Clock::time_point> deadline; ///< of the whole run
};

class Session {
public:
  /// `progress` is called after every measurement with done, planned, best and
  /// the model's time filled in.
  Session(RunContext &run, const TuneTask &task, size_t number,
          const JournalRecords &known);
  ~Session();

  /// Enumerates the space and hands the first candidates to the compilers;
  /// may run on another thread than the rest. Touches no worker.
  void prepare();
  /// Searches until `slot` (empty: no limit) and compares the best.
  Status run(std::optional<Clock::time_point> slot,
             const std::function<void(const TuneProgress &)> &progress);
  TuneResult takeResult() { return std::move(result); }

private:
  struct Candidate {
    Schedule schedule;
    Plant plant = Plant::None;
    CompiledKernel kernel;
    TuningRecord record;
    bool done = false;   ///< has an outcome
    bool loaded = false; ///< the worker holds it
    bool ok() const { return done && record.status == RecordStatus::Ok; }
  };
  struct Kernels;

  int add(const Schedule &schedule);
  void compile(int id, JobPool::Rank rank);
  void submit(const Schedule &schedule, JobPool::Rank rank);
  std::vector<int> takeCompiled(bool wait);
  void refill();
  bool neighbourhoodLeft();
  bool ended() const;
  bool looked() const;

  Status finish(int id, RecordStatus status, const std::string &note);
  Status finishTimed(int id, const std::vector<double> &samples, double factor,
                     const char *note, double modelPickUs);
  void waitForDevice();
  Result<bool> load(int id);
  Status measureBatch(const std::vector<int> &ids);
  Status measureFirst(std::vector<int> ids);
  Status timeOnce(std::vector<int> ids, const Rounds &rounds,
                  std::map<int, std::vector<double>> &samples);
  Status compareFinalists();
  Result<std::vector<int>> loadFinalists();
  void dropSlow();
  std::vector<int> fastest(size_t count) const;
  double pauseMs() const;
  void explainFailure();

  RunContext &context;
  TuneTask task;
  JournalRecords known;
  std::string preparationError;
  std::unique_ptr<Space> space;
  std::unique_ptr<Search> search;
  std::vector<Candidate> candidates; ///< by id; 0 is the model's choice
  std::shared_ptr<Kernels> kernels;
  size_t inFlight = 0; ///< submitted, without an outcome yet
  int neighbourhoods = 0;
  Schedule lastCenter;
  int64_t sinceBetter = 0;
  double lastBetter = 0;
  int anchor = -1; ///< measured in every round, against drift
  double anchorUs = 0;
  bool proposing = true;
  std::optional<Clock::time_point> slotEnd;
  TuneResult result;
};

} // namespace dgemm::tuner

#endif // DGEMM_LIB_TUNER_SESSION_H
