// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Scores of a model against records whose best and order are known.

#include "TestJournal.h"

#include "dgemm/Tuner/Evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dgemm;
using namespace dgemm::tuner;

static DeviceModel h200() { return *findDevice("H200"); }

static const EvaluationGroup *find(const Evaluation &evaluation,
                                   const std::string &name) {
  for (const EvaluationGroup &group : evaluation.groups)
    if (group.name == name)
      return &group;
  return nullptr;
}

TEST(Evaluate, TheFirstIsWhatIsSelected) {
  DeviceModel device = h200();
  Problem problem = testProblem(4096, 7168, 2048, false);
  Schedule pick = selectSchedule(problem, device)->schedule;
  Result<Space> space = Space::create(problem, device, L2State::Clean);
  ASSERT_TRUE(space.ok());
  // Ten others that are measured faster by 1, 2, ... us; the pick takes 110.
  std::vector<TuningRecord> records = {testRecord(problem, pick, 110)};
  for (size_t i = 0; records.size() < 11; ++i)
    if (!(space->schedule(i) == pick))
      records.push_back(testRecord(problem, space->schedule(i),
                                   110 - double(records.size())));
  Evaluation evaluation = evaluate(records, device);
  ASSERT_EQ(evaluation.problems.size(), 1u);
  const JudgedProblem &judged = evaluation.problems[0];
  EXPECT_TRUE(judged.pickMeasured);
  EXPECT_EQ(judged.schedules[0].schedule, pick);
  EXPECT_EQ(judged.bestUs(), 100);
  EXPECT_EQ(judged.best, 10u);
  EXPECT_DOUBLE_EQ(judged.top1, 100. / 110);
  // The pick and the next seven by prediction: 103 us is the best of them.
  EXPECT_DOUBLE_EQ(judged.top8, 100. / 103);
}

TEST(Evaluate, SaysWhenThePickIsMissing) {
  DeviceModel device = h200();
  Problem problem = testProblem(4096, 7168, 2048, false);
  Result<Space> space = Space::create(problem, device, L2State::Clean);
  ASSERT_TRUE(space.ok());
  size_t last = space->size() - 1;
  Evaluation evaluation =
      evaluate({testRecord(problem, space->schedule(last), 100),
                testRecord(problem, space->schedule(last / 2), 200)},
               device);
  ASSERT_EQ(evaluation.problems.size(), 1u);
  EXPECT_FALSE(evaluation.problems[0].pickMeasured);
  // By prediction, then.
  EXPECT_EQ(evaluation.problems[0].schedules[0].measuredUs, 200);
  EXPECT_DOUBLE_EQ(evaluation.problems[0].top1, 0.5);
  EXPECT_NE(toText(evaluation).find("not measured: 4096x7168x2048 bf16: tile"),
            std::string::npos);
}

TEST(Evaluate, AnotherRasterGroupStandsForThePick) {
  DeviceModel device = h200();
  Problem problem = testProblem(4096, 7168, 2048, false);
  Schedule pick = selectSchedule(problem, device)->schedule;
  auto with = [&](int group) {
    Schedule schedule = pick;
    schedule.rasterGroup = group;
    return schedule;
  };
  Schedule slow = pick;
  slow.stages = 2;
  int group = pick.rasterGroup;
  Evaluation evaluation = evaluate({testRecord(problem, with(group * 4), 130),
                                    testRecord(problem, with(group * 2), 120),
                                    testRecord(problem, slow, 100)},
                                   device);
  ASSERT_EQ(evaluation.problems.size(), 1u);
  EXPECT_TRUE(evaluation.problems[0].pickMeasured);
  EXPECT_EQ(evaluation.problems[0].schedules[0].measuredUs, 120);
  EXPECT_DOUBLE_EQ(evaluation.problems[0].top1, 100. / 120);
}

TEST(Evaluate, ErrorsUseTheStateOfL2) {
  DeviceModel device = h200();
  Problem problem = testProblem(16, 7168, 2048, true);
  std::vector<TuningRecord> records;
  addJournal(records, problem, device, 30, L2State::Dirty);
  addJournal(records, problem, device, 30, L2State::Clean);
  Evaluation evaluation = evaluate(records, device);
  ASSERT_EQ(evaluation.problems.size(), 2u);
  for (const JudgedProblem &judged : evaluation.problems)
    EXPECT_LT(judged.medianError, 1e-9) << toString(judged.l2);
  // A tenth off everywhere.
  for (TuningRecord &record : records)
    record.medianUs /= 1.1;
  evaluation = evaluate(records, device);
  EXPECT_NEAR(find(evaluation, "all")->medianError, 0.1, 1e-9);
}

TEST(Evaluate, GroupsAndCriteria) {
  DeviceModel device = h200();
  std::vector<TuningRecord> records;
  for (bool fp8 : {false, true})
    for (int64_t m : {64, 4096})
      for (int64_t k : {2048, 7168})
        addJournal(records, testProblem(m, 7168, k, fp8), device, 20);
  Evaluation evaluation =
      evaluate(records, device, [](const Problem &p) { return p.k == 7168; });
  EXPECT_EQ(evaluation.problems.size(), 8u);
  EXPECT_EQ(find(evaluation, "all")->problems, 4u);
  EXPECT_EQ(find(evaluation, "large")->problems, 2u);
  EXPECT_EQ(find(evaluation, "large FP8")->problems, 1u);
  EXPECT_EQ(find(evaluation, "held out: all")->problems, 4u);
  EXPECT_EQ(find(evaluation, "held out: M <= 128 16-bit")->problems, 1u);
  ASSERT_EQ(evaluation.criteria.size(), 7u);
  for (const Criterion &criterion : evaluation.criteria)
    EXPECT_TRUE(criterion.met()) << criterion.name << " " << criterion.value;
  EXPECT_FALSE((Criterion{"error", 0.05, 0.03, true}).met());
  EXPECT_FALSE((Criterion{"top-1", 0.95, 0.97}).met());

  // Without: no rows for them.
  evaluation = evaluate(records, device);
  EXPECT_EQ(find(evaluation, "held out: all"), nullptr);
  EXPECT_EQ(evaluation.criteria.size(), 5u);
}

TEST(Evaluate, MeansAreGeometric) {
  DeviceModel device = h200();
  std::vector<TuningRecord> records;
  double losses[] = {1, 4};
  int64_t sizes[] = {2048, 4096};
  for (int i : {0, 1}) {
    Problem problem = testProblem(4096, 7168, sizes[i], false);
    Schedule pick = selectSchedule(problem, device)->schedule;
    Schedule other = pick;
    other.rasterGroup = pick.rasterGroup == 8 ? 4 : 8;
    records.push_back(testRecord(problem, pick, 100 * losses[i]));
    records.push_back(testRecord(problem, other, i == 0 ? 200 : 100));
  }
  Evaluation evaluation = evaluate(records, device);
  const EvaluationGroup *all = find(evaluation, "all");
  ASSERT_NE(all, nullptr);
  EXPECT_NEAR(all->top1, 0.5, 1e-12); // sqrt(1 x 1/4)
  EXPECT_NEAR(all->worst1, 0.25, 1e-12);
  EXPECT_EQ(all->worstProblem, "4096x7168x4096 bf16");
  EXPECT_NEAR(all->top8, 1, 1e-12);
}

TEST(Evaluate, RepeatedRecordsAreAveragedAndBadOnesLeftOut) {
  DeviceModel device = h200();
  Problem problem = testProblem(64, 7168, 2048, false);
  Result<Space> space = Space::create(problem, device, L2State::Clean);
  ASSERT_TRUE(space.ok());
  std::vector<TuningRecord> records = {
      testRecord(problem, space->schedule(0), 10),
      testRecord(problem, space->schedule(0), 12),
      testRecord(problem, space->schedule(1), 11.5)};
  for (RecordStatus status :
       {RecordStatus::Wrong, RecordStatus::Hang, RecordStatus::Fault,
        RecordStatus::CompileError, RecordStatus::SlowWarning}) {
    records.push_back(testRecord(problem, space->schedule(2), 1));
    records.back().status = status;
  }
  records.push_back(testRecord(problem, space->schedule(3), 1));
  records.back().device = "H100";
  records.push_back(testRecord(problem, space->schedule(4), 1));
  records.back().versions.generation = -1;
  records.push_back(
      testRecord(testProblem(32, 64, 64, false), space->schedule(0), 1));
  Evaluation evaluation = evaluate(records, device);
  ASSERT_EQ(evaluation.problems.size(), 1u);
  EXPECT_EQ(evaluation.problems[0].schedules.size(), 2u);
  EXPECT_EQ(evaluation.problems[0].bestUs(), 11);
  std::vector<std::string> expected = {"1 alone of their problem",
                                       "1 compile-error",
                                       "1 fault",
                                       "1 hang",
                                       "1 of another device",
                                       "1 of kernels of another version",
                                       "1 slow-warning",
                                       "1 wrong"};
  EXPECT_EQ(evaluation.skipped, expected);
}

TEST(Evaluate, NothingToJudge) {
  Evaluation evaluation = evaluate({}, h200());
  EXPECT_TRUE(evaluation.problems.empty());
  EXPECT_TRUE(evaluation.groups.empty());
  EXPECT_TRUE(evaluation.criteria.empty());
}
