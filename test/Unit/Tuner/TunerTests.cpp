// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs on the model device.

#include "dgemm/Support/File.h"
#include "dgemm/Tuner/Tuner.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace dgemm;
using namespace dgemm::tuner;

class TunerTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    options.deviceName = "model:H200";
    options.candidates = 30;
    options.threads = 2;
    options.journal = folder->path() + "/journal";
    options.database = folder->path() + "/db";
    for (const char *text : {"m=64,n=512,k=1024", "m=16,n=1024,k=512"}) {
      Problem problem = parseGemm(text)->problem;
      tasks.push_back({text, problem,
                       defaultSizes(problem, problem.m, problem.n, problem.k)});
    }
    start();
  }

  void start() {
    WorkerOptions worker;
    worker.program = "/proc/self/exe";
    worker.arguments = {"TunerTests", "--worker"};
    worker.device = "model:H200";
    worker.timeoutSeconds = 0.2;
    auto started = Worker::start(worker);
    ASSERT_TRUE(started) << started.message();
    process = std::move(*started);
  }

  std::vector<TuneResult> run() {
    CompileFunction compile = makeNoCompiler();
    auto results = tune(
        tasks, options,
        [&](const Problem &problem, const Schedule &schedule, Plant plant,
            const std::string &base) {
          ++compiled;
          std::this_thread::sleep_for(compileTime);
          return compile(problem, schedule, plant, base);
        },
        *process, observer, stop);
    EXPECT_TRUE(results) << results.message();
    return results ? *results : std::vector<TuneResult>();
  }

  RecordFile read(const std::string &path) {
    auto file = readRecordFile(path);
    EXPECT_TRUE(file) << file.message();
    return file ? *file : RecordFile();
  }

  std::optional<TempDir> folder;
  TuneOptions options;
  std::vector<TuneTask> tasks;
  std::unique_ptr<Worker> process;
  TuneObserver observer;
  std::atomic<bool> stop = false;
  std::atomic<int> compiled = 0;
  std::chrono::milliseconds compileTime{0};
};

TEST_F(TunerTest, WinnersAreTheFastestOfTheLastComparison) {
  std::vector<TuneResult> results = run();
  ASSERT_EQ(results.size(), 2u);
  RecordFile journal = read(options.journal), database = read(options.database);
  EXPECT_TRUE(journal.skipped.empty());
  ASSERT_EQ(database.records.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const TuningRecord &winner = results[i].winner;
    EXPECT_EQ(results[i].error, "");
    EXPECT_EQ(database.records[i].record, winner);
    EXPECT_EQ(winner.device, "model:H200");
    EXPECT_EQ(winner.samples, 21);
    EXPECT_GT(winner.modelPickUs, 0);
    EXPECT_GT(winner.predictedUs, 0);
    EXPECT_LE(winner.medianUs, winner.modelPickUs * 1.003);
    EXPECT_LE(winner.minUs, winner.medianUs);
    // Nothing that was measured is much faster.
    for (const LocatedRecord &located : journal.records)
      if (located.record.problem == tasks[i].problem) {
        EXPECT_GE(located.record.medianUs, winner.medianUs * 0.98);
      }
  }
}

TEST_F(TunerTest, AnInterruptedRunGoesOnWhereItWas) {
  int64_t seen = 0;
  observer.progress = [&](const TuneProgress &now) {
    seen = now.done;
    if (now.done >= 12)
      stop = true;
  };
  std::vector<TuneResult> first = run();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(first[0].unfinished && first[1].unfinished);
  size_t before = read(options.journal).records.size();
  EXPECT_GE(before, 12u);
  EXPECT_LT(before, 30u);
  stop = false;
  observer.progress = nullptr;
  std::vector<TuneResult> second = run();
  EXPECT_EQ(second[0].error, "");
  EXPECT_FALSE(second[0].unfinished);
  // The model's choice is measured again, all others are taken over.
  EXPECT_EQ(second[0].resumed, int64_t(before) - 1);
  std::map<std::string, int> times;
  for (const LocatedRecord &located : read(options.journal).records)
    if (located.record.problem == tasks[0].problem &&
        located.record.modelPickUs == 0)
      ++times[toString(located.record.schedule)];
  int again = 0;
  for (const auto &[schedule, count] : times)
    again += count > 1;
  EXPECT_EQ(again, 1);
  int sofar = compiled;
  std::vector<TuneResult> third = run();
  EXPECT_TRUE(third[0].fromJournal && third[1].fromJournal);
  EXPECT_EQ(third[0].winner, second[0].winner);
  EXPECT_EQ(compiled, sofar);
  EXPECT_EQ(read(options.database).records.size(), 2u);
}

TEST_F(TunerTest, FaultsNeverReachTheDatabase) {
  options.plants = {{1, Plant::Hang},  {2, Plant::Wrong},
                    {3, Plant::Fault}, {4, Plant::Slow},
                    {5, Plant::Spill}, {6, Plant::CompileError}};
  std::vector<TuneResult> results = run();
  for (const TuneResult &result : results) {
    EXPECT_EQ(result.error, "");
    for (RecordStatus status :
         {RecordStatus::Hang, RecordStatus::Wrong, RecordStatus::Fault,
          RecordStatus::SlowWarning, RecordStatus::CompileError})
      EXPECT_EQ(result.outcomes.at(status), 1) << toString(status);
  }
  EXPECT_EQ(process->restarts(), 4);
  std::set<std::string> bad;
  for (const LocatedRecord &located : read(options.journal).records)
    if (located.record.note.rfind("planted", 0) == 0)
      bad.insert(toString(located.record.problem) +
                 toString(located.record.schedule));
  EXPECT_EQ(bad.size(), 12u);
  for (const LocatedRecord &located : read(options.database).records)
    EXPECT_FALSE(bad.count(toString(located.record.problem) +
                           toString(located.record.schedule)));
}

TEST_F(TunerTest, ExhaustiveRunsDrawTheSameAgain) {
  options.exhaustive = 40;
  options.top = 8;
  tasks.resize(1);
  run();
  std::set<std::string> first;
  for (const LocatedRecord &located : read(options.journal).records)
    first.insert(toString(located.record.schedule));
  EXPECT_GT(first.size(), 49u);
  // Another run, stopped in the middle and resumed, measures as many.
  options.journal += "2";
  observer.progress = [&](const TuneProgress &now) { stop = now.done >= 20; };
  run();
  stop = false;
  observer.progress = nullptr;
  run();
  std::set<std::string> second;
  for (const LocatedRecord &located : read(options.journal).records)
    second.insert(toString(located.record.schedule));
  size_t common = 0;
  for (const std::string &schedule : first)
    common += second.count(schedule);
  // The neighbourhood of the best depends on noise.
  EXPECT_GE(common, 49u);
}

TEST_F(TunerTest, ABudgetIsKept) {
  options.candidates = 0;
  options.patience = 1000000;
  options.budgetSeconds = 1;
  auto begin = std::chrono::steady_clock::now();
  std::vector<TuneResult> results = run();
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  EXPECT_EQ(results[0].error + results[1].error, "");
  EXPECT_FALSE(results[1].unfinished);
  EXPECT_LT(seconds, 3);
}

TEST_F(TunerTest, AShareThatIsOverStillGivesAFirstLook) {
  options.budgetSeconds = 3;
  compileTime = std::chrono::milliseconds(1600);
  std::vector<TuneResult> results = run();
  EXPECT_EQ(results[0].error + results[1].error, "");
  EXPECT_FALSE(results[0].unfinished);
  EXPECT_GT(results[0].winner.samples, 0);
}

TEST_F(TunerTest, AProblemThatTheBudgetDoesNotReachIsNoFailure) {
  options.budgetSeconds = 0.3;
  compileTime = std::chrono::milliseconds(600);
  std::vector<TuneResult> results = run();
  EXPECT_EQ(results[0].error + results[1].error, "");
  EXPECT_TRUE(results[0].unfinished);
  EXPECT_TRUE(results[1].unfinished);
}

TEST_F(TunerTest, AProblemWithoutASpaceDoesNotEndTheRun) {
  options.model.limits.sharedMemoryPerBlock = 4096;
  options.model.limits.sharedMemoryPerSM = 4096;
  std::vector<TuneResult> results = run();
  EXPECT_NE(results[0].error.find("shared memory"), std::string::npos)
      << results[0].error;
  EXPECT_FALSE(results[1].error.empty());
}

TEST_F(TunerTest, TheCompilerMakesFiles) {
  Schedule schedule = *parseSchedule(
      "tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]");
  CompileFunction compile = makeCompiler("H200", "");
  CompiledKernel made = compile(tasks[0].problem, schedule, Plant::None,
                                folder->path() + "/kernel");
  EXPECT_EQ(made.status, RecordStatus::Ok) << made.note;
  auto metadata = readFile(made.files.metadata);
  ASSERT_TRUE(metadata) << metadata.message();
  EXPECT_TRUE(parseLaunchMetadata(*metadata));
  EXPECT_TRUE(readFile(made.files.image));
  schedule.tileK = 8;
  made =
      compile(tasks[0].problem, schedule, Plant::None, folder->path() + "/bad");
  EXPECT_EQ(made.status, RecordStatus::CompileError);
  EXPECT_FALSE(made.note.empty());
}

TEST_F(TunerTest, PlantedFaultsAssemble) {
  Schedule schedule = *parseSchedule(
      "tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]");
  CompileFunction compile = makeCompiler("H200", "");
  for (Plant plant : {Plant::Hang, Plant::Fault, Plant::Slow, Plant::Wrong}) {
    CompiledKernel made = compile(tasks[0].problem, schedule, plant,
                                  folder->path() + "/" + toString(plant));
    EXPECT_EQ(made.status, RecordStatus::Ok) << made.note;
  }
}
