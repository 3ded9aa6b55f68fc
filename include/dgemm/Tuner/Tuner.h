// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning: from problems to the fastest schedule of each, with everything that
// was tried written to a journal. docs/tuning.md says how it searches and what
// it measures.

#ifndef DGEMM_TUNER_TUNER_H
#define DGEMM_TUNER_TUNER_H

#include "dgemm/Tuner/Compilation.h"
#include "dgemm/Tuner/IdleGate.h"
#include "dgemm/Tuner/Worker.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// A problem of known sizes, with its strides.
struct TuneTask {
  std::string name; ///< for tables: "fp8 m=64,n=.."
  Problem problem;
  LaunchSizes sizes;
};

struct TuneOptions {
  /// Cost model of the device, and the name records carry.
  DeviceModel model;
  std::string deviceName;
  L2State l2 = L2State::Dirty;
  /// Schedules taken from the model before the search begins.
  int64_t top = 16;
  /// Measure the model's top schedules, this many random ones and the
  /// neighbourhood of the best instead of searching; 0: search.
  int64_t exhaustive = 0;
  /// Schedules a search measures for one problem, at most; 0: as many as the
  /// budget allows, or kDefaultCandidates without one.
  int64_t candidates = 0;
  /// A search ends when this many in a row were no faster by a third of a
  /// percent.
  int64_t patience = 64;
  double budgetSeconds = 0; ///< of the whole run; 0: none
  /// Threads that compile; 0: all cores but the one that measures.
  int64_t threads = 0;
  int64_t seed = 1;
  std::string ptxasVersion; ///< for the records
  std::string journal;      ///< file of every outcome; empty: none
  std::string database;     ///< file of winners; empty: none
  std::map<int, Plant> plants;
  /// What measurements wait for; null: nothing. Those that the program's own
  /// work disturbed are done again.
  IdleGate *gate = nullptr;
};
inline constexpr int64_t kDefaultCandidates = 200;

/// Seconds by what the measuring thread did.
struct PhaseTimes {
  double prepare = 0; ///< operands, the space
  double compile = 0; ///< waiting for compilers
  double check = 0;   ///< loading and checking numbers
  double measure = 0; ///< first measurements
  double final = 0;   ///< the last comparison
};

struct TuneResult {
  TuneTask task;
  std::string error; ///< why there is no winner; empty: there is one
  /// The run ended (budget, interrupt) before this problem was done; what was
  /// measured is in the journal.
  bool unfinished = false;
  bool fromJournal = false; ///< a former run had finished it
  TuningRecord winner;      ///< modelPickUs is the model's choice
  std::map<RecordStatus, int64_t> outcomes; ///< candidates by outcome
  int64_t resumed = 0; ///< of these, taken from the journal
  PhaseTimes times;
};

/// Where a run stands; sent after every measurement.
struct TuneProgress {
  size_t problem = 0, problems = 0; ///< 0-based
  std::string name;
  int64_t done = 0, planned = 0;  ///< candidates; planned 0: unknown
  double bestUs = 0, modelUs = 0; ///< 0: not measured yet
  double elapsedSeconds = 0;
  double remainingSeconds = -1; ///< estimated; below 0: unknown
};

/// Called on the thread that tunes.
struct TuneObserver {
  std::function<void(const TuneProgress &)> progress;
  std::function<void(const TuneResult &)> finished;
};

/// Checks files and options before anything is started: a journal that cannot
/// be read or written, a database that holds records of a real device when
/// this one is a model or the other way round. Lines of the journal that are
/// not used are named in `warnings`.
Status checkFiles(const TuneOptions &options,
                  std::vector<std::string> &warnings);

/// Tunes every task. `stop` ends the run early. An error: the journal cannot
/// be written, or no worker comes up any more; what was measured until then is
/// in the journal.
Result<std::vector<TuneResult>>
tune(const std::vector<TuneTask> &tasks, const TuneOptions &options,
     const CompileFunction &compile, Worker &worker,
     const TuneObserver &observer, const std::atomic<bool> &stop);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_TUNER_H
