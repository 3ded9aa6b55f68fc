// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-tune: finds the fastest schedules of problems on a device.

#include "Commands.h"
#include "OnlineRun.h"
#include "Progress.h"
#include "TuneOptions.h"

#include "dgemm/CostModel/Selector.h"
#include "dgemm/JIT/Ptxas.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tools/CudaGemm.h"
#include "dgemm/Tools/GemmOption.h"
#include "dgemm/Tuner/Space.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

using namespace dgemm;
using namespace dgemm::tune;

/// Set by the first SIGINT or SIGTERM; the second one ends the process.
static std::atomic<bool> stopAsked = false;

static void askToStop(int signal) {
  stopAsked = true;
  std::signal(signal, SIG_DFL);
}

int dgemm::tune::fail(int code, const char *message) {
  std::fprintf(stderr, "dgemm-tune: %s\n", message);
  return code;
}

static int fail(int code, const std::string &message) {
  return dgemm::tune::fail(code, message.c_str());
}

/// The command that the first argument asks for; null: none, so tuning.
static const Command *findCommand(int argc, char **argv) {
  if (argc < 2)
    return nullptr;
  for (const Command *command = kCommands; command->option; ++command) {
    size_t length = std::strlen(command->option);
    if (std::strncmp(argv[1], command->option, length) == 0 &&
        (argv[1][length] == '\0' || argv[1][length] == '='))
      return command;
  }
  return nullptr;
}

static std::string commandHelp() {
  std::string text;
  for (const Command *command = kCommands; command->option; ++command) {
    std::string left = std::string("  ") + command->option;
    left.resize(std::max<size_t>(left.size() + 2, 28), ' ');
    text += left + command->help + "\n";
  }
  return text.empty()
             ? text
             : "Other commands; --help after one explains it:\n" + text;
}

/// Milliseconds of processor time since `begin`.
static double processorMs(std::clock_t begin) {
  return 1e3 * double(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// With --missing leaves out what the database or the shipped table knows of
/// the run's device and L2 state.
static Status leaveOutKnown(const CommandLine &line,
                            std::vector<tuner::TuneTask> &tasks) {
  if (!line.missing)
    return Status::success();
  const std::string &file = line.tuning.database;
  auto database = openTuningDatabase(fileExists(file) ? file : "shipped");
  if (!database)
    return database.status();
  size_t all = tasks.size();
  std::erase_if(tasks, [&](const tuner::TuneTask &task) {
    return (*database)->find(task.problem, line.tuning.model.name,
                             line.tuning.l2) != nullptr;
  });
  std::printf("%zu of %zu problems have no record\n", tasks.size(), all);
  return Status::success();
}

/// Prints the cost model's schedules, and what ranking them costs.
static int list(const CommandLine &line, std::vector<tuner::TuneTask> tasks) {
  if (Status s = leaveOutKnown(line, tasks); !s)
    return fail(kBadInput, s.message());
  int code = kDone;
  for (const tuner::TuneTask &task : tasks) {
    std::printf("%s\n", task.name.c_str());
    std::clock_t begin = std::clock();
    Result<tuner::Space> space =
        tuner::Space::create(task.problem, line.tuning.model, line.tuning.l2);
    double rankedMs = processorMs(begin);
    begin = std::clock();
    Result<Selection> choice = selectSchedule(task.problem, line.tuning.model);
    double chosenMs = processorMs(begin);
    if (!space) {
      code = fail(kSomeFailed, space.message());
      continue;
    }
    std::printf("  %zu legal schedules, ranked in %.1f ms of one core (the "
                "model's choice alone %.2f ms)\n",
                space->size(), rankedMs, chosenMs);
    size_t count = std::min(space->size(), size_t(line.tuning.top));
    for (size_t i = 0; i < count; ++i)
      std::printf("  %10.2f us  %s\n", space->predictedUs(i),
                  toString(space->schedule(i)).c_str());
  }
  return code;
}

static Result<std::vector<tuner::TuneTask>> makeTasks(const ProblemSet &set) {
  std::vector<tuner::TuneTask> tasks;
  for (const ProblemSetEntry &entry : set.entries) {
    std::string name = entry.recipe + " " + entry.text;
    Result<LaunchSizes> sizes = launchSizes(entry.gemm);
    if (!sizes)
      return Status::error(name + ": " + sizes.message());
    tasks.push_back({name, entry.gemm.problem, *sizes});
  }
  return tasks;
}

/// Cost model and L2 state of the run, as far as the command line says.
static Status chooseModel(CommandLine &line, const ProblemSet &set) {
  Result<DeviceModel> model =
      findDevice(wantsModel(line) ? line.device.substr(6) : "H200");
  if (!model)
    return model.status();
  if (!wantsModel(line) && line.device != "auto" && line.device != "cuda")
    return Status::error("option --device: expected auto, cuda or "
                         "model:NAME, found '" +
                         line.device + "'");
  line.tuning.model = *model;
  line.tuning.deviceName = "model:" + model->name;
  std::string l2 = !line.l2.empty() ? line.l2 : set.l2;
  Result<L2State> state = parseL2State(l2.empty() ? "dirty" : l2);
  if (!state)
    return Status::error("L2 state: " + state.message());
  line.tuning.l2 = *state;
  return Status::success();
}

Result<std::unique_ptr<tuner::Worker>>
dgemm::tune::startWorker(CommandLine &line) {
  tuner::WorkerOptions options;
  options.program = "/proc/self/exe";
  options.arguments = {"dgemm-tune", "--worker"};
  options.device = wantsModel(line) ? line.device : "cuda";
  options.l2 = line.tuning.l2;
  options.timeoutSeconds = line.timeout;
  auto worker = tuner::Worker::start(options);
  if (!worker || wantsModel(line))
    return worker;
  cuda::DeviceInfo info;
  info.name = (*worker)->description().name;
  Result<DeviceModel> model = findDevice(deviceModel(info));
  if (!model)
    return model.status();
  line.tuning.model = *model;
  line.tuning.deviceName = model->name;
  return worker;
}

static int runTuning(CommandLine &line, std::vector<tuner::TuneTask> tasks) {
  auto begin = std::chrono::steady_clock::now();
  auto worker = startWorker(line);
  if (!worker)
    return fail(kNotExecuted,
                "nothing was measured: " + worker.message() +
                    "; --device=model:H200 takes times of the cost model");
  // Only now is it known which device's records count.
  if (Status s = leaveOutKnown(line, tasks); !s)
    return fail(kBadInput, s.message());
  if (tasks.empty())
    return kDone;
  if (Result<jit::Ptxas> ptxas = jit::findPtxas(line.ptxas))
    line.tuning.ptxasVersion = ptxas->version;
  else if (!line.ptxas.empty())
    return fail(kBadInput, ptxas.message());
  std::vector<std::string> warnings;
  if (Status s = checkFiles(line.tuning, warnings); !s)
    return fail(kBadInput, s.message());
  if (!line.quiet)
    for (const std::string &warning : warnings)
      std::fprintf(stderr, "dgemm-tune: warning: %s\n", warning.c_str());

  std::printf("%s, L2 %s, times by %s, %zu problems\n",
              (*worker)->description().name.c_str(), toString(line.tuning.l2),
              (*worker)->description().method.c_str(), tasks.size());
  std::fflush(stdout);
  ProgressLine progress(!line.quiet);
  tuner::TuneObserver observer;
  observer.progress = [&](const tuner::TuneProgress &now) {
    progress.show(now);
  };
  observer.finished = [&](const tuner::TuneResult &result) {
    progress.clear();
    std::fputs(resultLine(result).c_str(), stdout);
    std::fflush(stdout);
  };
  tuner::CompileFunction compile =
      wantsModel(line)
          ? tuner::makeNoCompiler()
          : tuner::makeCompiler(line.tuning.model.name, line.ptxas);
  auto results =
      tuner::tune(tasks, line.tuning, compile, **worker, observer, stopAsked);
  progress.clear();
  if (!results)
    return fail(kSomeFailed, results.message());
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  std::fputs(summary(*results, seconds).c_str(), stdout);
  if (int restarts = (*worker)->restarts(); restarts > 0)
    std::printf("the worker was started again %d times\n", restarts);
  int code = kDone;
  for (const tuner::TuneResult &result : *results) {
    if (!result.error.empty())
      return kSomeFailed;
    if (result.unfinished)
      code = kUnfinished;
  }
  return code;
}

int dgemmTuneMain(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--worker") == 0)
    return tuner::workerMain();
  if (const Command *command = findCommand(argc, argv))
    return command->run(argc, argv);
  CommandLine line;
  Arguments arguments(
      "(--problems=FILE.json | --gemm=TEXT | --recorded=FILE) [options]\n"
      "Finds the fastest schedule of every problem on a device.\n"
      "Ends with 0: done, 1: some failed, 2: bad input, 3: no GPU, 4: stopped "
      "before the end.");
  declareOptions(arguments, line);
  if (Status s = arguments.parse(argc, argv); !s)
    return fail(kBadInput, s.message());
  if (arguments.wantsHelp()) {
    std::fputs((arguments.help("dgemm-tune") + commandHelp()).c_str(), stdout);
    return kDone;
  }
  if (Status s = checkOptions(arguments, line); !s)
    return fail(kBadInput, s.message());
  Result<ProblemSet> set = readProblems(line);
  if (!set)
    return fail(kBadInput, set.message());
  if (Status s = chooseModel(line, *set); !s)
    return fail(kBadInput, s.message());
  Result<std::vector<tuner::TuneTask>> tasks = makeTasks(*set);
  if (!tasks)
    return fail(kBadInput, tasks.message());
  std::signal(SIGINT, askToStop);
  std::signal(SIGTERM, askToStop);
  if (line.list)
    return list(line, std::move(*tasks));
  return line.online ? runOnline(line, *tasks, stopAsked)
                     : runTuning(line, std::move(*tasks));
}
