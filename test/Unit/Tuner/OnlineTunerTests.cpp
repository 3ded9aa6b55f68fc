// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning beside a program, with the real compiler for what the program gets and
// the model device for what is measured.

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tuner/OnlineTuner.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace dgemm;
using namespace dgemm::tuner;

TEST(IdleGate, WaitsForTheEndOfEveryUseAndAWhileLonger) {
  using Clock = std::chrono::steady_clock;
  IdleGate gate(0.05);
  std::atomic<bool> stop = false;
  gate.begin();
  gate.begin();
  EXPECT_EQ(gate.uses(), 2);
  Clock::time_point end;
  std::thread program([&] {
    gate.end();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    end = Clock::now();
    gate.end();
  });
  gate.wait(stop);
  EXPECT_GE(Clock::now() - end, std::chrono::milliseconds(49));
  program.join();
  gate.wait(stop); // at once

  // Whoever waits for a device that is never free can be stopped.
  IdleGate::Use use(gate);
  std::thread stopper([&] { stop = true; });
  gate.wait(stop);
  stopper.join();
}

class OnlineTunerTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    options.tuning.model = *findDevice("H200");
    // As if they were of a device, so that the compiler takes the records.
    options.tuning.deviceName = "H200";
    options.tuning.candidates = 12;
    options.tuning.top = 8;
    options.tuning.database = folder->path() + "/db";
    options.tuning.journal = folder->path() + "/journal";
    options.compile.emitCubin = false;
    options.compile.cacheDir = "none";
    options.compileCandidate = makeNoCompiler();
    options.idleSeconds = 0;
    options.startWorker = [this] {
      ++workers;
      WorkerOptions worker;
      worker.program = "/proc/self/exe";
      worker.arguments = {"TunerTests", "--worker"};
      worker.device = "model:H200";
      worker.timeoutSeconds = 0.2;
      return Worker::start(worker);
    };
    options.finished = [this](const OnlineResult &result) {
      std::lock_guard<std::mutex> guard(lock);
      results.push_back(result);
    };
    problem = parseGemm("m=80,n=1032,k=520")->problem;
  }

  std::unique_ptr<OnlineTuner> create() {
    auto made = OnlineTuner::create(options);
    EXPECT_TRUE(made) << made.message();
    return made ? std::move(*made) : nullptr;
  }

  static LaunchSizes sizes(const Problem &problem, int64_t m) {
    return defaultSizes(problem, m, problem.n, problem.k);
  }

  std::shared_ptr<const jit::Artifact> call(OnlineTuner &tuner, int64_t m) {
    auto artifact = tuner.artifact(problem, sizes(problem, m));
    EXPECT_TRUE(artifact) << artifact.message();
    return artifact ? *artifact : nullptr;
  }

  Schedule modelChoice(int64_t m) {
    Problem at = problem;
    at.m = m;
    return selectSchedule(at, options.tuning.model)->schedule;
  }

  std::optional<TempDir> folder;
  OnlineOptions options;
  Problem problem;
  std::mutex lock;
  std::vector<OnlineResult> results;
  std::atomic<int> workers = 0;
};

TEST_F(OnlineTunerTest, TheModelsChoiceFirstAndTheWinnerLater) {
  // Everything the model puts first is slow, so that something else wins.
  options.tuning.plants = {{0, Plant::Slow}};
  auto tuner = create();
  std::shared_ptr<const jit::Artifact> first = call(*tuner, 80);
  EXPECT_EQ(first->metadata.kernels[0].schedule, modelChoice(80));
  EXPECT_EQ(first->metadata.kernels[0].scheduleSource, "model");
  ASSERT_TRUE(tuner->waitUntilTuned(60));
  std::shared_ptr<const jit::Artifact> later = call(*tuner, 80);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error, "");
  EXPECT_TRUE(results[0].swapped);
  EXPECT_EQ(results[0].problem, problem);
  EXPECT_LT(results[0].winner.medianUs, results[0].winner.modelPickUs);
  EXPECT_EQ(later->metadata.kernels[0].schedule, results[0].winner.schedule);
  EXPECT_NE(later->metadata.kernels[0].schedule, modelChoice(80));
  EXPECT_EQ(later->metadata.kernels[0].scheduleSource, "tuned");
  // What the program still holds is what it was.
  EXPECT_EQ(first->metadata.kernels[0].schedule, modelChoice(80));
  auto database = readRecordFile(options.tuning.database);
  ASSERT_EQ(database->records.size(), 1u);
  EXPECT_EQ(database->records[0].record, results[0].winner);

  // Neither a second call nor another run tunes again.
  EXPECT_EQ(tuner->pending(), 0u);
  tuner = create();
  EXPECT_EQ(call(*tuner, 80)->metadata.kernels[0].scheduleSource, "tuned");
  EXPECT_EQ(tuner->pending(), 0u);
  EXPECT_EQ(workers, 1);
}

TEST_F(OnlineTunerTest, WrongHangingAndFaultyCandidatesNeverTakeThePlace) {
  options.tuning.plants = {{1, Plant::Wrong},        {2, Plant::Hang},
                           {3, Plant::Fault},        {4, Plant::Slow},
                           {5, Plant::CompileError}, {6, Plant::Spill}};
  auto tuner = create();
  call(*tuner, 80);
  ASSERT_TRUE(tuner->waitUntilTuned(60));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error, "");
  EXPECT_EQ(results[0].winner.status, RecordStatus::Ok);
  EXPECT_EQ(results[0].winner.note.find("planted"), std::string::npos);
  std::set<std::string> planted;
  auto journal = readRecordFile(options.tuning.journal);
  for (const LocatedRecord &located : journal->records)
    if (located.record.note.find("planted") == 0)
      planted.insert(toString(located.record.schedule));
  EXPECT_EQ(planted.size(), 6u);
  auto database = readRecordFile(options.tuning.database);
  ASSERT_EQ(database->records.size(), 1u);
  const Schedule &used = call(*tuner, 80)->metadata.kernels[0].schedule;
  EXPECT_EQ(used, database->records[0].record.schedule);
  EXPECT_FALSE(planted.count(toString(used)));
}

TEST_F(OnlineTunerTest, MeasuresNothingWhileTheProgramUsesTheDevice) {
  auto tuner = create();
  tuner->gate().begin();
  call(*tuner, 80);
  EXPECT_FALSE(tuner->waitUntilTuned(0.3));
  EXPECT_EQ(workers, 0);
  tuner->gate().end();
  EXPECT_TRUE(tuner->waitUntilTuned(60));
  EXPECT_EQ(workers, 1);
}

TEST_F(OnlineTunerTest, ARunTimeMIsTunedByItsBuckets) {
  problem.m = kDynamic;
  options.tuning.plants = {{0, Plant::Slow}};
  auto tuner = create();
  tuner->gate().begin();
  std::shared_ptr<const jit::Artifact> first = call(*tuner, 100);
  EXPECT_EQ(call(*tuner, 120), first);
  call(*tuner, 17);
  EXPECT_EQ(tuner->pending(), 2u); // 128 and 32
  tuner->gate().end();
  ASSERT_TRUE(tuner->waitUntilTuned(120));
  ASSERT_EQ(results.size(), 2u);
  // The one with more calls comes first.
  EXPECT_EQ(results[0].problem.m, 128);
  EXPECT_EQ(results[1].problem.m, 32);
  int tuned = 0;
  for (const KernelMetadata &kernel : call(*tuner, 100)->metadata.kernels)
    tuned += kernel.scheduleSource == "tuned";
  EXPECT_GE(tuned, 1);
}

TEST_F(OnlineTunerTest, EndsInTheMiddle) {
  options.tuning.candidates = 0;
  options.tuning.patience = 1 << 20;
  auto tuner = create();
  call(*tuner, 80);
  while (workers == 0)
    std::this_thread::yield();
  tuner.reset();
  if (!results.empty())
    EXPECT_EQ(results[0].error, "stopped");
}

TEST_F(OnlineTunerTest, AWorkerThatDoesNotComeUpChangesNothing) {
  options.startWorker = [] {
    return Result<std::unique_ptr<Worker>>(Status::error("no device"));
  };
  auto tuner = create();
  std::shared_ptr<const jit::Artifact> first = call(*tuner, 80);
  ASSERT_TRUE(tuner->waitUntilTuned(60));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error, "no device");
  EXPECT_FALSE(results[0].swapped);
  EXPECT_EQ(call(*tuner, 80), first);
}

TEST_F(OnlineTunerTest, NothingToTune) {
  options.compile.schedule = toString(modelChoice(80));
  auto tuner = create();
  call(*tuner, 80);
  EXPECT_EQ(tuner->pending(), 0u);
  options.compile.schedule.clear();
  tuner = create();
  problem.m = 0;
  call(*tuner, 0);
  EXPECT_EQ(tuner->pending(), 0u);
}

TEST_F(OnlineTunerTest, NeedsADatabase) {
  for (const char *name : {"", "shipped", "none"}) {
    options.tuning.database = name;
    auto made = OnlineTuner::create(options);
    ASSERT_FALSE(made);
    EXPECT_NE(made.message().find("expected the file of a database"),
              std::string::npos);
  }
  options.tuning.database = folder->path() + "/missing/db";
  EXPECT_FALSE(OnlineTuner::create(options));
}
