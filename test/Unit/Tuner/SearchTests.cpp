// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The search against devices that differ from the model in known ways.

#include "dgemm/Tuner/Search.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace dgemm;
using namespace dgemm::tuner;

class SearchTest : public testing::Test {
protected:
  void SetUp() override {
    Problem problem = parseGemm("m=512,n=1024,k=1024")->problem;
    auto made = Space::create(problem, DeviceModel(), L2State::Dirty);
    ASSERT_TRUE(made) << made.message();
    space = std::make_unique<Space>(std::move(*made));
  }

  using Truth = std::function<double(const Schedule &)>;

  double predicted(const Schedule &schedule) {
    return predictUs(space->problem(), schedule, space->device(), space->l2());
  }

  /// The best time after `count` measurements.
  double search(const Truth &truth, int count) {
    Search search(*space, 1);
    double best = INFINITY;
    auto measure = [&](const Schedule &schedule) {
      double us = truth(schedule);
      best = std::min(best, us);
      search.tell(schedule, us);
    };
    std::vector<Schedule> first = search.first(16);
    for (const Schedule &schedule : first)
      measure(schedule);
    for (int i = int(first.size()); i < count; ++i)
      if (std::optional<Schedule> next = search.propose())
        measure(*next);
    return best;
  }

  double bestOfAll(const Truth &truth) {
    double best = INFINITY;
    for (size_t i = 0; i < space->size(); ++i)
      best = std::min(best, truth(space->schedule(i)));
    return best;
  }

  std::unique_ptr<Space> space;
};

TEST_F(SearchTest, CorrectsAModelThatIsWrongWhereItChooses) {
  // The 100 it likes best are 30 % slower than it thinks.
  std::set<std::string> liked;
  for (size_t i = 0; i < 100; ++i)
    liked.insert(toString(space->schedule(i)));
  Truth truth = [&](const Schedule &s) {
    return predicted(s) * (liked.count(toString(s)) ? 1.3 : 1.0);
  };
  double all = bestOfAll(truth);
  EXPECT_LE(search(truth, 60), all * 1.01);
  // Taking the model's word for it does not get there.
  double top = INFINITY;
  for (size_t i = 0; i < 60; ++i)
    top = std::min(top, truth(space->schedule(i)));
  EXPECT_GT(top, all * 1.01);
}

TEST_F(SearchTest, FindsADecisionTheModelKnowsNothingOf) {
  Truth truth = [&](const Schedule &s) {
    return predicted(s) * (s.persistent ? 1.0 : 0.8);
  };
  double model = predicted(space->schedule(0));
  EXPECT_LE(search(truth, 80), model * 0.81);
}

TEST_F(SearchTest, NeverProposesTwiceAndRunsOut) {
  Search search(*space, 1);
  std::set<std::string> seen;
  auto add = [&](const Schedule &schedule) {
    EXPECT_TRUE(seen.insert(toString(schedule)).second) << toString(schedule);
  };
  for (const Schedule &schedule : search.first(10))
    add(schedule);
  for (const Schedule &schedule : search.best(10))
    add(schedule);
  for (const Schedule &schedule : search.random(10))
    add(schedule);
  for (const Schedule &schedule : search.around(space->schedule(0), 10))
    add(schedule);
  while (std::optional<Schedule> next = search.propose())
    add(*next);
  EXPECT_GE(seen.size(), space->size());
}

TEST_F(SearchTest, ToldSchedulesAreNotProposed) {
  Search search(*space, 1);
  for (size_t i = 0; i < 50; ++i)
    search.tell(space->schedule(i), 1.0);
  for (int i = 0; i < 50; ++i) {
    std::optional<Schedule> next = search.propose();
    ASSERT_TRUE(next);
    for (size_t told = 0; told < 50; ++told)
      EXPECT_NE(toString(*next), toString(space->schedule(told)));
  }
  EXPECT_TRUE(search.knows(space->schedule(0)));
}

TEST_F(SearchTest, FailuresMakeNeighboursLessAttractive) {
  // Everything near the model's first choice fails to compile.
  Schedule first = space->schedule(0);
  Search search(*space, 1);
  for (size_t i = 0; i < 40; ++i)
    if (distance(space->schedule(i), first) <= 1)
      search.tell(space->schedule(i), std::nullopt);
  double sum = 0;
  int count = 12;
  for (int i = 0; i < count; ++i)
    sum += distance(*search.propose(), first);
  Search trusting(*space, 1);
  double near = 0;
  for (int i = 0; i < count; ++i)
    near += distance(*trusting.propose(), first);
  EXPECT_GT(sum, near);
}

TEST_F(SearchTest, EqualSeedsDrawEqually) {
  Search a(*space, 7), b(*space, 7), c(*space, 8);
  EXPECT_EQ(a.random(20), b.random(20));
  EXPECT_NE(a.random(20), c.random(20));
}
