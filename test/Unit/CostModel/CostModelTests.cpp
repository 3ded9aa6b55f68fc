// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Terms of the cost model against values worked out by hand, and the
// directions in which it must move.

#include "dgemm/CostModel/CostModel.h"

#include "../../../lib/CostModel/SoftMax.h"

#include <gtest/gtest.h>

using namespace dgemm;

static Problem problem(int64_t m, int64_t n, int64_t k, bool fp8 = false) {
  Problem out;
  out.m = m;
  out.n = n;
  out.k = k;
  if (fp8) {
    out.a = out.b = DType::F8E4M3FN;
    out.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
    out.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  }
  return out;
}

static Schedule schedule(const char *text) {
  Result<Schedule> parsed = parseSchedule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  return parsed.ok() ? *parsed : Schedule();
}

/// A device on which one thing at a time can be switched on.
static DeviceModel ideal() {
  DeviceModel device;
  device.maxClock = 1;
  LargeCoefficients &c = device.large;
  c.fixed = 0;
  c.clock16 = c.clock8 = 1;
  c.powerExponent = 0;
  c.promotion = c.chainSync = c.extraBlock = c.promotionContention = 0;
  c.scaleGroup = c.scaleLoad = 0;
  c.loadLatency = c.tmaRow = 0;
  c.epilogueBase = c.epilogueColumn = c.epilogueRound = 0;
  c.cluster = c.cluster8 = 0;
  c.hbmRead = c.hbmWrite = 1e9;
  // So steep that a soft maximum is a maximum.
  c.softKBlock = c.softChain = c.softBody = 400;
  return device;
}

static double largeUs(const Problem &p, const char *text,
                      const DeviceModel &device) {
  return largeCost(costInputs(p, schedule(text), device), device).microseconds;
}

TEST(CostModel, TensorTimeOfOneTile) {
  // 128x256 with 64 K blocks: 4 x 2 x 128 cycles each, at 1 GHz.
  EXPECT_NEAR(largeUs(problem(128, 256, 4096), "tile = 128x256x64", ideal()),
              64 * 4 * 2 * 128 / 1000.0, 0.2);
}

TEST(CostModel, SharedMemoryBindsNarrowBlocks) {
  // n = 32: 16 + 8 cycles of reads against 16 of multiplication.
  double us = largeUs(problem(128, 32, 4096),
                      "tile = 128x32x64, swizzle = [128, 128, 64]", ideal());
  EXPECT_NEAR(us, 64 * 4 * 2 * 24 / 1000.0, 0.05);
}

TEST(CostModel, WavesAreWhole) {
  // 133 tiles on 132 SMs take twice the time of 132.
  double one =
      largeUs(problem(132 * 128, 256, 4096), "tile = 128x256x64", ideal());
  double two =
      largeUs(problem(133 * 128, 256, 4096), "tile = 128x256x64", ideal());
  EXPECT_NEAR(two / one, 2, 1e-6);
}

TEST(CostModel, LatencyNeedsStages) {
  DeviceModel device = ideal();
  device.large.loadLatency = 6000;
  // Three stages leave 6000 / 2 cycles per K block.
  EXPECT_NEAR(
      largeUs(problem(128, 256, 4096), "tile = 128x256x64, stages = 3", device),
      64 * 3000 / 1000.0, 0.5);
}

TEST(CostModel, PromotionIsInTheChainUnlessOverlapped) {
  DeviceModel device = ideal();
  device.large.promotion = 10;
  Problem p = problem(128, 192, 4096, true);
  // 32 K blocks; a consumer multiplies 64x192 alone (4 x 96 cycles), then
  // promotes 64 x 192 / 128 x 10 = 960.
  EXPECT_NEAR(largeUs(p, "tile = 128x192x128, promote = 128", device),
              32 * (4 * 96 + 960) / 1000.0, 0.2);
  // Overlapped: only the second of two n-blocks.
  EXPECT_NEAR(largeUs(p,
                      "tile = 128x192x128, n_blocks = 2 overlapped, "
                      "promote = 128",
                      device),
              32 * (4 * 96 + 480) / 1000.0, 0.2);
}

TEST(CostModel, PingPongHidesTheEpilogue) {
  DeviceModel device = ideal();
  device.large.epilogueBase = 10000;
  Problem p = problem(2 * 132 * 128, 176, 2048);
  double coop = largeUs(p, "tile = 128x176x64", device);
  double pingPong = largeUs(
      p, "tile = 128x176x64, consumers = 2 pingpong, stages = 5", device);
  EXPECT_NEAR(coop - pingPong, 10, 0.1); // paid twice against once
}

TEST(CostModel, TmaRowsCountLoadsAndStores) {
  DeviceModel device = ideal();
  device.large.tmaRow = 100;
  // 64 K blocks of 128 + 256 rows, and 128 rows x 4 store boxes.
  EXPECT_NEAR(largeUs(problem(128, 256, 4096), "tile = 128x256x64", device),
              100 * (64 * 384 + 128 * 4) / 1000.0, 10);
}

TEST(CostModel, PowerLimitLowersTheClock) {
  DeviceModel device;
  Problem p = problem(8192, 8192, 8192);
  CostBreakdown cost = predict(p, schedule("tile = 128x256x64"), device);
  EXPECT_LT(cost.clock, 1.75);
  EXPECT_GT(cost.utilisation, 0.9);
  device.large.powerExponent = 0;
  device.large.clock16 = 1.98;
  EXPECT_LT(predict(p, schedule("tile = 128x256x64"), device).microseconds,
            cost.microseconds);
}

TEST(CostModel, EveryPartIsAtLeastZero) {
  DeviceModel device;
  for (int64_t m : {1, 64, 128, 129, 4096})
    for (bool fp8 : {false, true}) {
      Schedule s = schedule(fp8 ? "tile = 128x128x128, promote = 128"
                                : "tile = 128x128x64");
      CostBreakdown cost = predict(problem(m, 3000, 5000, fp8), s, device);
      EXPECT_GT(cost.microseconds, 0);
      for (const auto &[name, value] : cost.parts())
        EXPECT_GE(value, 0) << name;
      for (double part :
           {cost.tensor, cost.sharedMemory, cost.chain, cost.promotion,
            cost.latency, cost.tma, cost.epilogue, cost.memory, cost.reduction,
            cost.fixed, cost.quantisation})
        EXPECT_GE(part, 0);
    }
}

TEST(CostModel, MoreBandwidthIsNeverSlower) {
  for (int64_t m : {8, 128, 4096}) {
    Schedule s = schedule(m == 4096 ? "tile = 128x256x64"
                                    : "tile = 64x64x64, consumers = 1 "
                                      "cooperative, regs = [0, 0]");
    double last = 1e30;
    for (double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      DeviceModel device;
      device.large.hbmRead *= factor;
      device.large.hbmWrite *= factor;
      device.decode.hbm *= factor;
      double us = predict(problem(m, 7168, 2048), s, device).microseconds;
      EXPECT_LT(us, last);
      last = us;
    }
  }
}

TEST(CostModel, DecodeIsBoundByTheWeights) {
  DeviceModel device;
  Schedule s = schedule("tile = 64x64x64, consumers = 1 cooperative, "
                        "stages = 8, regs = [0, 0]");
  CostBreakdown cost = predict(problem(16, 8192, 8192), s, device);
  EXPECT_STREQ(cost.bound, "memory");
  double floor = 8192.0 * 8192 * 2 / (device.decode.hbm * 1e6);
  EXPECT_NEAR(cost.memory, floor, floor * 0.01);
  EXPECT_GT(cost.microseconds, floor);
  EXPECT_LT(cost.microseconds, floor + 6);
}

TEST(CostModel, DirtyCacheCostsMore) {
  DeviceModel device;
  CostInputs in = costInputs(problem(16, 7168, 16384),
                             schedule("tile = 64x64x64, consumers = 1 "
                                      "cooperative, regs = [0, 0]"),
                             device);
  EXPECT_FALSE(in.evictFirst);
  double clean = decodeCost(in, device).microseconds;
  in.l2 = L2State::Dirty;
  in.evictFirst = true;
  double hinted = decodeCost(in, device).microseconds;
  in.evictFirst = false;
  double unhinted = decodeCost(in, device).microseconds;
  EXPECT_LT(clean, hinted);
  EXPECT_LT(hinted, unhinted);
}

TEST(CostModel, TextNamesTheBound) {
  CostBreakdown cost;
  cost.microseconds = 12.34;
  cost.tensor = 10;
  cost.memory = 2.5;
  EXPECT_EQ(toString(cost),
            "12.3 us, bound by tensor (tensor 10.0, memory 2.5)");
}

TEST(SoftMax, LiesBetweenMaximumAndSum) {
  EXPECT_DOUBLE_EQ(softMax(4, {0, 0}), 0);
  EXPECT_DOUBLE_EQ(softMax(4, {3, 0}), 3);
  EXPECT_NEAR(softMax(2, {3, 4}), 5, 1e-12);
  EXPECT_NEAR(softMax(4, {1e200, 1e200}), 1e200 * 1.189207, 1e194);
}

TEST(Predictor, SharedWalksChangeNothing) {
  DeviceModel device = *findDevice("H200");
  Predictor predictor(device);
  Problem p;
  p.m = 2000;
  p.n = 4096;
  p.k = 1000;
  for (int64_t m : {64, 2000})
    for (int stages : {3, 4})
      for (int tileN : {128, 192})
        for (int group : {1, 8, 100}) {
          p.m = m;
          Schedule schedule;
          schedule.tileN = tileN;
          schedule.stages = stages;
          schedule.rasterGroup = group;
          EXPECT_DOUBLE_EQ(
              predictor.predict(costInputs(p, schedule, device)).microseconds,
              predict(p, schedule, device).microseconds);
        }
}

TEST(DeviceModel, KnownDevices) {
  for (const std::string &name : deviceNames()) {
    Result<DeviceModel> device = findDevice(name);
    ASSERT_TRUE(device.ok());
    EXPECT_EQ(device->name, name);
  }
  EXPECT_EQ(findDevice("h20")->smCount, 78);
  EXPECT_TRUE(findDevice("H200")->measured);
  EXPECT_FALSE(findDevice("H100")->measured);
  EXPECT_LT(findDevice("H100")->decode.hbm, findDevice("H200")->decode.hbm);
  EXPECT_NE(findDevice("A100").message().find("expected one of H200"),
            std::string::npos);
}

TEST(DeviceModel, H20IsTensorBoundFourTimesSooner) {
  Problem p = problem(4096, 4096, 4096);
  Schedule s = schedule("tile = 128x256x64");
  CostBreakdown cost = predict(p, s, *findDevice("H20"));
  EXPECT_STREQ(cost.bound, "tensor");
  EXPECT_GT(cost.microseconds,
            4 * predict(p, s, *findDevice("H200")).microseconds);
}

static double gainOf(const std::vector<Bottleneck> &found,
                     const std::string &limit) {
  for (const Bottleneck &bottleneck : found)
    if (bottleneck.limit == limit)
      return bottleneck.gain;
  return 0;
}

TEST(Bottlenecks, NamesWhatHoldsAScheduleBack) {
  DeviceModel device;
  // Two stages cannot cover the load latency.
  std::vector<Bottleneck> found =
      bottlenecks(problem(8192, 8192, 8192),
                  schedule("tile = 128x256x64, stages = 2"), device);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].limit, "load latency");
  EXPECT_EQ(found[0].remedy, "more stages in flight");
  EXPECT_GT(found[0].gain, 0.2);
  for (size_t i = 1; i < found.size(); ++i)
    EXPECT_GE(found[i - 1].gain, found[i].gain);
  EXPECT_EQ(gainOf(found, "promotion"), 0);

  // 133 tiles: nearly half of the time is the last wave's.
  found = bottlenecks(problem(133 * 128, 256, 4096),
                      schedule("tile = 128x256x64"), device);
  EXPECT_GT(gainOf(found, "last wave"), 0.4);

  found = bottlenecks(problem(8192, 8192, 8192, true),
                      schedule("tile = 128x128x128, promote = 128"), device);
  EXPECT_GT(gainOf(found, "promotion"), 0.03);
}

TEST(Bottlenecks, ScalesAndRowsOfTiles) {
  DeviceModel device;
  Problem p = problem(8192, 8192, 8192, true); // scales of A with K contiguous
  Schedule s = schedule("tile = 128x192x128, promote = 128");
  EXPECT_GT(gainOf(bottlenecks(p, s, device), "scales"), 0.02);
  device.large.scaleLoad = device.large.scaleGroup = 0;
  EXPECT_EQ(gainOf(bottlenecks(p, s, device), "scales"), 0);

  p = problem(128, 7168, 16384);
  s = schedule("tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]");
  EXPECT_GT(gainOf(bottlenecks(p, s, device), "weights read again"), 0.01);
  p.m = 64;
  EXPECT_EQ(gainOf(bottlenecks(p, s, device), "weights read again"), 0);
}

TEST(Bottlenecks, Decode) {
  std::vector<Bottleneck> found = bottlenecks(
      problem(16, 16384, 16384),
      schedule("tile = 64x128x64, consumers = 1 cooperative, stages = 6, "
               "regs = [0, 0]"),
      DeviceModel());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].limit, "DRAM");
}
