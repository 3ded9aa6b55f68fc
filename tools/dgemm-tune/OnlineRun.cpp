// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "OnlineRun.h"

#include "Commands.h"

#include "dgemm/JIT/Ptxas.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tuner/OnlineTuner.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

namespace dgemm::tune {

/// How long a call keeps the device, and the pause between two rounds of calls.
/// Nothing is launched: what is shown does not depend on it.
static constexpr std::chrono::milliseconds kCall(1), kPause(100);

static int bad(const std::string &message) {
  return fail(kBadInput, message.c_str());
}

static void printResult(const tuner::OnlineResult &result) {
  std::string name = toString(result.problem);
  if (!result.error.empty())
    std::printf("tuned %s: nothing: %s\n", name.c_str(), result.error.c_str());
  else
    std::printf("tuned %s: %.2f us, the model's choice %.2f us%s\n",
                name.c_str(), result.winner.medianUs, result.winner.modelPickUs,
                result.swapped ? "" : ", no other kernel");
  std::fflush(stdout);
}

static void printCall(const tuner::TuneTask &task, int64_t call,
                      const jit::Artifact &artifact) {
  const KernelMetadata &kernel = artifact.metadata.kernels.front();
  std::printf("call %lld of %s: %s: %s\n", (long long)call, task.name.c_str(),
              kernel.scheduleSource.c_str(), toString(kernel.schedule).c_str());
  std::fflush(stdout);
}

int runOnline(CommandLine &line, const std::vector<tuner::TuneTask> &tasks,
              const std::atomic<bool> &stop) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  std::optional<TempDir> folder;
  tuner::TuneOptions &tuning = line.tuning;
  if (wantsModel(line)) {
    if (!tuning.database.empty())
      return bad("option --db: expected none with --online and a model, whose "
                 "times are for no database");
    Result<TempDir> made = TempDir::create();
    if (!made)
      return bad(made.message());
    folder.emplace(std::move(*made));
    tuning.database = folder->path() + "/db.jsonl";
  }
  // Says early that there is no GPU, and which one there is.
  auto worker = startWorker(line);
  if (!worker)
    return fail(kNotExecuted,
                ("nothing is measured: " + worker.message() +
                 "; --device=model:H200 takes times of the cost model")
                    .c_str());
  // As if of the device itself, so that the compiler takes the records.
  if (folder)
    tuning.deviceName = tuning.model.name;
  if (Result<jit::Ptxas> ptxas = jit::findPtxas(line.ptxas))
    tuning.ptxasVersion = ptxas->version;

  tuner::OnlineOptions options;
  double budget = tuning.budgetSeconds;
  options.tuning = tuning;
  options.tuning.budgetSeconds = 0; // the program's, not a problem's
  options.compile.device = tuning.model.name;
  options.compile.ptxasPath = line.ptxas;
  options.compile.emitCubin = !folder;
  options.compileCandidate =
      folder ? tuner::makeNoCompiler()
             : tuner::makeCompiler(tuning.model.name, line.ptxas);
  options.idleSeconds = line.idle;
  options.startWorker = [&] {
    return *worker ? std::move(worker) : startWorker(line);
  };
  std::atomic<bool> failed = false;
  options.finished = [&](const tuner::OnlineResult &result) {
    failed = failed || (!result.error.empty() && !stop);
    printResult(result);
  };
  auto tuner = tuner::OnlineTuner::create(std::move(options));
  if (!tuner)
    return bad(tuner.message());

  std::vector<std::shared_ptr<const jit::Artifact>> last(tasks.size());
  auto callAll = [&](int64_t call) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      tuner::IdleGate::Use use((*tuner)->gate());
      auto artifact = (*tuner)->artifact(tasks[i].problem, tasks[i].sizes);
      if (!artifact)
        return artifact.status();
      if (*artifact != last[i])
        printCall(tasks[i], call, **artifact);
      last[i] = *artifact;
      std::this_thread::sleep_for(kCall);
    }
    return Status::success();
  };
  bool tuned = false;
  for (int64_t call = 1; !stop; ++call) {
    // One more round after the last problem, which shows what it gets.
    bool over =
        tuned || (budget > 0 &&
                  Clock::now() - begin > std::chrono::duration<double>(budget));
    if (Status s = callAll(call); !s)
      return fail(kSomeFailed, s.message().c_str());
    if (over)
      break;
    tuned =
        (*tuner)->waitUntilTuned(std::chrono::duration<double>(kPause).count());
  }
  tuner->reset();
  return failed ? kSomeFailed : tuned ? kDone : kUnfinished;
}

} // namespace dgemm::tune
