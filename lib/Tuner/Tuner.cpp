// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A run over all problems: resuming, sharing out the time, writing winners.

#include "dgemm/Tuner/Tuner.h"

#include "Session.h"

#include "dgemm/Support/File.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <algorithm>
#include <future>

namespace dgemm::tuner {

/// What a record and a run have to agree in for the record to count.
static std::string whyForeign(const TuningRecord &record,
                              const TuneOptions &options) {
  if (record.device != options.deviceName)
    return "measured on " + record.device;
  if (record.l2 != options.l2)
    return std::string("measured with L2 ") + toString(record.l2);
  return whyOutdated(record.versions);
}

namespace {
/// A journal as it was when the run began: problem's text to its records.
using Journal = std::map<std::string, JournalRecords>;
} // namespace

static Result<Journal> readJournal(const TuneOptions &options,
                                   std::vector<std::string> *warnings) {
  Journal journal;
  if (options.journal.empty() || !fileExists(options.journal))
    return journal;
  Result<RecordFile> file = readRecordFile(options.journal);
  if (!file)
    return file.status();
  std::map<std::string, int64_t> foreign;
  for (LocatedRecord &located : file->records) {
    std::string why = whyForeign(located.record, options);
    if (!why.empty()) {
      ++foreign[why];
      continue;
    }
    TuningRecord &record = located.record;
    std::string schedule = toString(record.schedule);
    TuningRecord &kept = journal[toString(record.problem)][schedule];
    kept = std::move(record);
  }
  if (!warnings)
    return journal;
  for (const SkippedRecord &skipped : file->skipped)
    warnings->push_back(toString(skipped));
  for (const auto &[why, count] : foreign)
    warnings->push_back(options.journal + ": " + std::to_string(count) +
                        " records are not used: " + why);
  return journal;
}

static bool isModel(const std::string &device) {
  return device.rfind("model:", 0) == 0;
}

Status checkFiles(const TuneOptions &options,
                  std::vector<std::string> &warnings) {
  if (Result<Journal> journal = readJournal(options, &warnings); !journal)
    return Status::error("journal: " + journal.message());
  if (options.database.empty() || !fileExists(options.database))
    return Status::success();
  Result<RecordFile> file = readRecordFile(options.database);
  if (!file)
    return Status::error("database: " + file.message());
  for (const SkippedRecord &skipped : file->skipped)
    warnings.push_back(toString(skipped));
  for (const LocatedRecord &located : file->records)
    if (isModel(located.record.device) != isModel(options.deviceName))
      return Status::error("database '" + options.database +
                           "' holds records of " + located.record.device +
                           ", those of " + options.deviceName +
                           " may not be mixed with them");
  return Status::success();
}

/// The winner of a problem that a former run finished; null: none.
static const TuningRecord *finished(const JournalRecords &records) {
  for (const auto &[schedule, record] : records)
    if (record.status == RecordStatus::Ok && record.note == kFinalNote)
      return &record;
  return nullptr;
}

/// Adds the winner unless the database holds this very record.
static Status storeWinner(const TuneOptions &options,
                          const TuningRecord &winner) {
  if (options.database.empty() || winner.status != RecordStatus::Ok)
    return Status::success();
  if (fileExists(options.database)) {
    Result<RecordFile> file = readRecordFile(options.database);
    if (!file)
      return file.status();
    for (const LocatedRecord &located : file->records)
      if (located.record == winner)
        return Status::success();
  }
  return appendRecord(options.database, winner);
}

/// Threads that compile: all cores but the one that measures.
static int compileThreads(const TuneOptions &options) {
  if (options.threads > 0)
    return int(options.threads);
  return std::max(1, int(std::thread::hardware_concurrency()) - 1);
}

Result<std::vector<TuneResult>>
tune(const std::vector<TuneTask> &tasks, const TuneOptions &options,
     const CompileFunction &compile, Worker &worker,
     const TuneObserver &observer, const std::atomic<bool> &stop) {
  auto begin = Clock::now();
  Result<Journal> journal = readJournal(options, nullptr);
  if (!journal)
    return journal.status();
  Result<TempDir> folder = TempDir::create();
  if (!folder)
    return folder.status();
  JobPool pool(compileThreads(options));
  RunContext context{options,
                     compile,
                     worker,
                     pool,
                     stop,
                     folder->path(),
                     currentVersions(options.ptxasVersion),
                     {}};
  if (options.budgetSeconds > 0)
    context.deadline =
        begin + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(options.budgetSeconds));

  std::vector<TuneResult> results;
  std::vector<size_t> todo;
  for (size_t i = 0; i < tasks.size(); ++i) {
    TuneResult &result = results.emplace_back();
    result.task = tasks[i];
    if (const TuningRecord *winner =
            finished((*journal)[toString(tasks[i].problem)])) {
      result.fromJournal = true;
      result.winner = *winner;
      if (Status s = storeWinner(options, *winner); !s)
        return s;
      if (observer.finished)
        observer.finished(result);
    } else {
      todo.push_back(i);
    }
  }

  auto prepare = [&](size_t place) {
    return std::async(std::launch::async, [&, i = todo[place]] {
      auto session = std::make_unique<Session>(
          context, tasks[i], i, (*journal)[toString(tasks[i].problem)]);
      session->prepare();
      return session;
    });
  };
  std::future<std::unique_ptr<Session>> next;
  if (!todo.empty())
    next = prepare(0);
  for (size_t place = 0; place < todo.size(); ++place) {
    TuneResult &result = results[todo[place]];
    std::unique_ptr<Session> session = next.get();
    if (place + 1 < todo.size())
      next = prepare(place + 1);
    std::optional<Clock::time_point> slot = context.deadline;
    // What one problem leaves over is shared out among the rest.
    if (slot && options.exhaustive == 0)
      slot =
          Clock::now() + (*slot - Clock::now()) / int64_t(todo.size() - place);
    bool late = context.deadline && Clock::now() >= *context.deadline;
    if (stop || late) {
      result.unfinished = true;
    } else {
      Status ran = session->run(slot, [&](TuneProgress now) {
        now.problem = todo[place];
        now.problems = tasks.size();
        now.elapsedSeconds = secondsSince(begin);
        double share =
            now.planned > 0 ? std::min(1.0, double(now.done) / now.planned) : 0;
        double complete = (double(place) + share) / double(todo.size());
        if (complete > 0)
          now.remainingSeconds = now.elapsedSeconds * (1 / complete - 1);
        if (context.deadline) {
          double left = options.budgetSeconds - now.elapsedSeconds;
          now.remainingSeconds = now.remainingSeconds < 0
                                     ? left
                                     : std::min(left, now.remainingSeconds);
        }
        if (observer.progress)
          observer.progress(now);
      });
      result = session->takeResult();
      if (!ran)
        return ran;
      if (result.error.empty() && !result.unfinished)
        if (Status s = storeWinner(options, result.winner); !s)
          return s;
    }
    if (observer.finished)
      observer.finished(result);
  }
  return results;
}

} // namespace dgemm::tuner
