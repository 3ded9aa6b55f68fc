// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Space.h"

#include <gtest/gtest.h>
#include <set>

using namespace dgemm;
using namespace dgemm::tuner;

static Problem problemOf(const std::string &text) {
  return parseGemm(text)->problem;
}

TEST(SpaceTest, HoldsLegalSchedulesOnceFastestFirst) {
  DeviceModel device;
  for (const char *text : {"m=64,n=2112,k=7168", "m=1024,n=512,k=1024"}) {
    Problem problem = problemOf(text);
    auto space = Space::create(problem, device, L2State::Dirty);
    ASSERT_TRUE(space) << space.message();
    ASSERT_GT(space->size(), 100u);
    std::set<std::string> seen;
    for (size_t i = 0; i < space->size(); ++i) {
      const Schedule &schedule = space->schedule(i);
      EXPECT_TRUE(verifySchedule(problem, schedule, device.limits).empty());
      EXPECT_TRUE(seen.insert(toString(schedule)).second);
      if (i > 0) {
        EXPECT_LE(space->predictedUs(i - 1), space->predictedUs(i));
      }
    }
  }
}

TEST(SpaceTest, StateOfL2CountsForFewRows) {
  DeviceModel device;
  Problem problem = problemOf("m=64,n=2112,k=7168");
  auto clean = Space::create(problem, device, L2State::Clean);
  auto dirty = Space::create(problem, device, L2State::Dirty);
  ASSERT_TRUE(clean && dirty);
  EXPECT_LT(clean->predictedUs(0), dirty->predictedUs(0));
}

TEST(SpaceTest, OpenAndEmptySizesAreRefused) {
  DeviceModel device;
  auto open = Space::create(problemOf("m=?,n=64,k=64"), device, L2State::Dirty);
  EXPECT_EQ(open.message(),
            "m: expected a size of at least 1 to tune for, found ?");
  Problem problem = problemOf("m=64,n=64,k=64");
  problem.k = 0;
  EXPECT_EQ(Space::create(problem, device, L2State::Dirty).message(),
            "k: expected a size of at least 1 to tune for, found 0");
}

TEST(SpaceTest, EmptySpaceNamesTheLimit) {
  DeviceModel device;
  device.limits.sharedMemoryPerBlock = device.limits.sharedMemoryPerSM = 8192;
  auto space =
      Space::create(problemOf("m=64,n=64,k=64"), device, L2State::Dirty);
  EXPECT_NE(space.message().find("shared memory"), std::string::npos)
      << space.message();
}

TEST(SpaceTest, DistanceCountsDecisions) {
  Schedule a;
  EXPECT_EQ(distance(a, a), 0);
  Schedule b = a;
  b.tileN = 256;
  EXPECT_DOUBLE_EQ(distance(a, b), 2);
  b = a;
  b.persistent = false;
  EXPECT_EQ(distance(a, b), 1);
  EXPECT_EQ(distance(a, b), distance(b, a));
  b = a;
  // Follows from other decisions.
  b.regsConsumer = 240;
  EXPECT_EQ(distance(a, b), 0);
}

TEST(SpaceTest, NeighboursOfASplitTileAreNotPersistent) {
  DeviceModel device;
  Problem problem = problemOf("m=64,n=2112,k=7168");
  auto space = Space::create(problem, device, L2State::Dirty);
  ASSERT_TRUE(space);
  Schedule center = *parseSchedule(
      "tile = 64x64x64, consumers = 1 cooperative, kblocks_per_stage = 2, "
      "regs = [0, 0], split_k = 2 cluster, form = swap_ab, store = vector, "
      "persistent = false");
  ASSERT_TRUE(verifySchedule(problem, center, device.limits).empty());
  int split = 0;
  for (const Schedule &schedule : space->neighbours(center)) {
    split += schedule.splitK != 1;
    EXPECT_FALSE(schedule.splitK != 1 && schedule.persistent)
        << toString(schedule);
    EXPECT_FALSE(schedule.splitK != 1 && schedule.clusterN != 1)
        << toString(schedule);
  }
  EXPECT_GT(split, 0);
}

TEST(SpaceTest, NeighboursAreLegalAndNear) {
  DeviceModel device;
  Problem problem = problemOf("m=1024,n=512,k=1024");
  auto space = Space::create(problem, device, L2State::Dirty);
  ASSERT_TRUE(space);
  Schedule center = space->schedule(0);
  std::vector<Schedule> near = space->neighbours(center);
  ASSERT_FALSE(near.empty());
  std::set<std::string> listed;
  for (size_t i = 0; i < space->size(); ++i)
    listed.insert(toString(space->schedule(i)));
  int beyond = 0;
  for (const Schedule &schedule : near) {
    EXPECT_TRUE(verifySchedule(problem, schedule, device.limits).empty());
    // Slots of twice the size, and half as many, count as two doublings.
    bool resliced = schedule.kBlocksPerStage != center.kBlocksPerStage;
    EXPECT_LE(distance(schedule, center), resliced ? 4 : 1);
    EXPECT_NE(toString(schedule), toString(center));
    beyond += !listed.count(toString(schedule));
  }
  EXPECT_GT(beyond, 0) << "no decision that the enumeration leaves fixed";
}
