// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker process and what becomes of it.

#include "dgemm/Tuner/Space.h"
#include "dgemm/Tuner/Worker.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::tuner;

class WorkerTest : public testing::Test {
protected:
  void SetUp() override {
    options.program = "/proc/self/exe";
    options.arguments = {"TunerTests", "--worker"};
    options.device = "model:H200";
    options.timeoutSeconds = 0.1;
    auto started = Worker::start(options);
    ASSERT_TRUE(started) << started.message();
    worker = std::move(*started);
    problem = parseGemm("m=64,n=512,k=1024")->problem;
    ASSERT_TRUE(
        worker->setProblem(problem, defaultSizes(problem, 64, 512, 1024), 1));
    auto made = Space::create(problem, *findDevice("H200"), L2State::Dirty);
    ASSERT_TRUE(made);
    space = std::make_unique<Space>(std::move(*made));
  }

  RecordStatus check(int id, Plant plant = Plant::None) {
    Result<CheckOutcome> outcome =
        worker->check({id, space->schedule(size_t(id)), {}, plant});
    EXPECT_TRUE(outcome) << outcome.message();
    return outcome ? outcome->status : RecordStatus::CompileError;
  }

  WorkerOptions options;
  std::unique_ptr<Worker> worker;
  Problem problem;
  std::unique_ptr<Space> space;
};

TEST_F(WorkerTest, ChecksTimesAndForgets) {
  EXPECT_EQ(worker->description().name, "model:H200");
  EXPECT_EQ(check(0), RecordStatus::Ok);
  EXPECT_EQ(check(3), RecordStatus::Ok);
  auto timed = worker->time({0, 3}, {1, 5, 0});
  ASSERT_TRUE(timed) << timed.message();
  ASSERT_EQ(timed->size(), 2u);
  EXPECT_EQ((*timed)[1].samplesUs.size(), 5u);
  EXPECT_NEAR((*timed)[0].samplesUs[0], space->predictedUs(0),
              0.2 * space->predictedUs(0));
  EXPECT_EQ(worker->restarts(), 0);
}

TEST_F(WorkerTest, SurvivesWhatCandidatesDo) {
  EXPECT_EQ(check(0), RecordStatus::Ok);
  EXPECT_EQ(check(1, Plant::Wrong), RecordStatus::Wrong);
  EXPECT_EQ(worker->restarts(), 0);
  EXPECT_EQ(check(2, Plant::Hang), RecordStatus::Hang);
  EXPECT_EQ(worker->restarts(), 1);
  EXPECT_EQ(check(3, Plant::Fault), RecordStatus::Fault);
  EXPECT_EQ(worker->restarts(), 2);
  // The new worker has the problem and the right candidate again.
  auto timed = worker->time({0}, {1, 2, 0});
  ASSERT_TRUE(timed) << timed.message();
  EXPECT_EQ((*timed)[0].status, RecordStatus::Ok);
  EXPECT_EQ((*timed)[0].samplesUs.size(), 2u);
}

TEST_F(WorkerTest, FindsTheOneThatTakesItDownWhileTiming) {
  EXPECT_EQ(check(0), RecordStatus::Ok);
  EXPECT_EQ(check(4), RecordStatus::Ok);
  // Nobody knows candidate 9, so timing it fails, alone and with others.
  auto timed = worker->time({0, 9, 4}, {1, 3, 0});
  ASSERT_TRUE(timed) << timed.message();
  EXPECT_EQ((*timed)[0].samplesUs.size(), 3u);
  EXPECT_EQ((*timed)[1].status, RecordStatus::Fault);
  EXPECT_NE((*timed)[1].note.find("no candidate 9"), std::string::npos);
  EXPECT_EQ((*timed)[2].samplesUs.size(), 3u);
}

TEST_F(WorkerTest, ErrorsOfStartingAreNamed) {
  options.device = "model:V100";
  auto unknown = Worker::start(options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.message().find("V100"), std::string::npos);
  options.program = "/nowhere/tool";
  auto missing = Worker::start(options);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.message().find("/nowhere/tool"), std::string::npos);
}
