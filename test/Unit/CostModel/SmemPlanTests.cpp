// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared-memory plans against layouts worked out by hand and against the byte
// counts of kernels that ran on an H200.

#include "dgemm/CostModel/Schedule.h"

#include <gtest/gtest.h>

using namespace dgemm;

static Problem bf16() {
  Problem problem;
  problem.m = problem.n = problem.k = 4096;
  return problem;
}

static Problem fp8(ScaleMajor major = ScaleMajor::K) {
  Problem problem = bf16();
  problem.a = problem.b = DType::F8E4M3FN;
  problem.scaleA = {DType::F32, 1, 128, major};
  problem.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  return problem;
}

static Schedule schedule(const std::string &text) {
  Result<Schedule> parsed = parseSchedule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  return parsed.ok() ? *parsed : Schedule();
}

TEST(SmemPlan, Bf16ChunkedStore) {
  SmemPlan plan = planSharedMemory(bf16(), schedule("tile = 128x256x64"));
  EXPECT_EQ(plan.slotBytesA, 16384);
  EXPECT_EQ(plan.slotBytesB, 32768);
  EXPECT_EQ(plan.offsetB, 65536);
  EXPECT_EQ(plan.slotBytesScaleA, 0);
  EXPECT_EQ(plan.offsetStore, 196608);
  EXPECT_EQ(plan.storeBoxColumns, 64);
  EXPECT_EQ(plan.storeBoxBytes, 8192);
  EXPECT_EQ(plan.storeBoxes, 4);
  EXPECT_EQ(plan.storeBoxesPerChunk, 2);
  EXPECT_EQ(plan.storeChunks, 2);
  EXPECT_EQ(plan.storeBytes, 32768);
  EXPECT_EQ(plan.offsetBarriers, 229376);
  EXPECT_EQ(plan.barrierBytes, 64);
  EXPECT_EQ(plan.total, 229440); // as the measured kernel of this schedule
}

TEST(SmemPlan, Bf16WholeTileStaged) {
  SmemPlan plan =
      planSharedMemory(bf16(), schedule("tile = 128x256x64, stages = 3"));
  EXPECT_EQ(plan.storeChunks, 1);
  EXPECT_EQ(plan.storeBytes, 65536);
  EXPECT_EQ(plan.total, 213040);
}

TEST(SmemPlan, Bf16PingPong) {
  SmemPlan plan = planSharedMemory(
      bf16(),
      schedule("tile = 128x176x64, consumers = 2 pingpong, stages = 5"));
  // Each warpgroup has a tile of its own: 2 m64 blocks x 3 boxes.
  EXPECT_EQ(plan.storeBoxes, 6);
  EXPECT_EQ(plan.storeBoxesPerChunk, 2);
  EXPECT_EQ(plan.storeChunks, 3);
  EXPECT_EQ(plan.barrierBytes, 8 * (2 * 5 + 2));
  EXPECT_EQ(plan.orderBarrier(1, 5), plan.offsetBarriers + 88);
  EXPECT_EQ(plan.total, 5 * (16384 + 22528) + 32768 + 96);
}

TEST(SmemPlan, TileQueueBehindTheBarriers) {
  SmemPlan plan = planSharedMemory(
      bf16(), schedule("tile = 128x128x64, stages = 4, tiles = dynamic"));
  EXPECT_EQ(plan.offsetTileQueue, plan.offsetBarriers + 8 * 2 * 4);
  EXPECT_EQ(plan.barrierBytes, 8 * 2 * 4 + 4 * 8 + 2 * 4);
  EXPECT_EQ(plan.total, plan.offsetBarriers + plan.barrierBytes);
}

TEST(SmemPlan, Bf16PingPongOneBoxAtATime) {
  SmemPlan plan = planSharedMemory(
      bf16(),
      schedule("tile = 128x192x64, consumers = 2 pingpong, stages = 5"));
  EXPECT_EQ(plan.storeBoxesPerChunk, 1);
  EXPECT_EQ(plan.storeChunks, 6);
  EXPECT_EQ(plan.total, 5 * (16384 + 24576) + 16384 + 96);
}

TEST(SmemPlan, Fp8WithStagedScales) {
  Schedule s = schedule("tile = 128x176x128, n_blocks = 2 overlapped, "
                        "promote = 128");
  SmemPlan plan = planSharedMemory(fp8(ScaleMajor::MN), s);
  EXPECT_EQ(plan.slotBytesScaleA, 512);
  EXPECT_EQ(plan.offsetScaleA, 4 * (16384 + 22528));
  EXPECT_EQ(plan.offsetStore, 157696);
  EXPECT_EQ(plan.storeBoxes, 3); // 64, 64 and an overlapping 64 from 112
  EXPECT_EQ(plan.storeChunks, 1);
  EXPECT_EQ(plan.total, 206912); // as the measured kernel of this schedule
  EXPECT_EQ(planSharedMemory(fp8(), s).total, 206912 - 2048);
}

TEST(SmemPlan, ScalesOfOtherShapesAreNotStaged) {
  Schedule s = schedule("tile = 128x128x128, promote = 128");
  Problem problem = fp8(ScaleMajor::MN);
  EXPECT_TRUE(stagesScaleA(problem, s));
  problem.scaleA.rows = 128;
  EXPECT_FALSE(stagesScaleA(problem, s));
  problem.scaleA = {DType::F32, 1, 0, ScaleMajor::MN};
  EXPECT_FALSE(stagesScaleA(problem, s));
  EXPECT_FALSE(stagesScaleA(bf16(), s));
}

TEST(SmemPlan, EverythingIsAligned) {
  for (int tileN : {16, 48, 96, 160, 176, 208, 256})
    for (int stages : {2, 3, 5})
      for (ScaleMajor major : {ScaleMajor::K, ScaleMajor::MN}) {
        Schedule s;
        s.tileN = tileN;
        s.tileK = 128;
        s.stages = stages;
        s.swizzleD = tileN < 32 ? 32 : tileN < 64 ? 64 : 128;
        SmemPlan plan = planSharedMemory(fp8(major), s);
        EXPECT_EQ(plan.offsetB % 1024, 0);
        EXPECT_EQ(plan.slotBytesA % 1024, 0);
        EXPECT_EQ(plan.slotBytesB % 1024, 0);
        EXPECT_EQ(plan.offsetScaleA % 128, 0);
        EXPECT_EQ(plan.slotBytesScaleA % 128, 0);
        EXPECT_EQ(plan.offsetStore % 1024, 0);
        EXPECT_EQ(plan.storeBoxBytes % 1024, 0);
        EXPECT_EQ(plan.offsetBarriers % 8, 0);
        EXPECT_EQ(plan.total, plan.offsetBarriers + 16 * stages);
      }
}

TEST(SmemPlan, NarrowTileAndF32Store) {
  Problem problem = bf16();
  problem.d = DType::F32;
  SmemPlan plan = planSharedMemory(problem, schedule("tile = 128x128x64"));
  EXPECT_EQ(plan.storeBoxColumns, 32);
  EXPECT_EQ(plan.storeBoxes, 4);
  plan = planSharedMemory(bf16(),
                          schedule("tile = 64x8x64, consumers = 1 cooperative, "
                                   "swizzle = [128, 128, 0]"));
  EXPECT_EQ(plan.storeBoxColumns, 8);
  EXPECT_EQ(plan.storeBoxBytes, 1024);
}

TEST(SmemPlan, SeveralKBlocksPerStageAndSeveralCtas) {
  Schedule s = schedule("tile = 64x64x64, consumers = 1 cooperative, "
                        "stages = 3, kblocks_per_stage = 2, ctas_per_sm = 2");
  SmemPlan plan = planSharedMemory(bf16(), s);
  EXPECT_EQ(plan.slotBytesA, 2 * 8192);
  EXPECT_EQ(sharedMemoryBudget(s, {}), 233472 / 2 - 1024);
}

TEST(SmemPlan, VectorStoreStagesNothing) {
  SmemPlan plan =
      planSharedMemory(bf16(), schedule("tile = 128x128x64, store = vector"));
  EXPECT_EQ(plan.storeBytes, 0);
  EXPECT_EQ(plan.storeChunks, 0);
  EXPECT_EQ(plan.total, 4 * 32768 + 64);
}

TEST(SmemPlan, RegisterFormHoldsPartialSums) {
  // 16x8 sums of each of 14 warps, 4 values of 32 lanes.
  std::string text = "tile = 8x16x64, consumers = 14 cooperative, stages = 2, "
                     "form = register, store = vector, persistent = false";
  SmemPlan plan = planSharedMemory(bf16(), schedule(text));
  EXPECT_EQ(plan.storeBytes, 14 * 512);
  EXPECT_EQ(plan.total, 14 * 512);
  EXPECT_EQ(plan.reducePart, 0);
  plan = planSharedMemory(bf16(), schedule(text + ", split_k = 4 cluster"));
  EXPECT_EQ(plan.offsetReduce, 14 * 512);
  EXPECT_EQ(plan.reducePart, 512);
  EXPECT_EQ(plan.total, (14 + 3) * 512);
  // 4 sums, and of 2 + 1 rows in each of 2 K blocks 2 x 4 words.
  EXPECT_EQ(accumulatorRegisters(bf16(), schedule(text)), 4 + 2 * 3 * 8);
  EXPECT_EQ(accumulatorRegisters(
                fp8(), schedule("tile = 16x32x128, stages = 1, promote = 128, "
                                "form = register")),
            2 * 16 + 6 * 8);
}

TEST(SmemPlan, AccumulatorRegisters) {
  EXPECT_EQ(accumulatorRegisters(bf16(), schedule("tile = 128x256x64")), 128);
  EXPECT_EQ(accumulatorRegisters(bf16(), schedule("tile = 256x128x64")), 128);
  // One chain of n128 in flight; two of n96 when overlapped.
  EXPECT_EQ(
      accumulatorRegisters(fp8(), schedule("tile = 128x256x128, n_blocks = 2, "
                                           "promote = 128")),
      128 + 64);
  EXPECT_EQ(accumulatorRegisters(
                fp8(), schedule("tile = 128x192x128, n_blocks = 2 overlapped, "
                                "promote = 128")),
            96 + 96);
  EXPECT_EQ(accumulatorRegisters(fp8(), schedule("tile = 128x256x128")), 128);
  // Swap-AB: two m64 blocks of n64, one chain, 16 scales of this step; from
  // global memory also those of the next, and addresses.
  Schedule swapped = schedule("tile = 64x256x128, promote = 128, "
                              "form = swap_ab, store = vector");
  Problem mMajor = fp8(), kMajor = fp8();
  mMajor.scaleA.major = ScaleMajor::MN;
  kMajor.scaleA.major = ScaleMajor::K;
  EXPECT_EQ(accumulatorRegisters(mMajor, swapped), 64 + 32 + 16);
  EXPECT_EQ(accumulatorRegisters(kMajor, swapped), 64 + 32 + 16 + 16 + 32);
  // One m64 block of n8, four K blocks in flight.
  EXPECT_EQ(accumulatorRegisters(
                mMajor, schedule("tile = 8x64x128, consumers = 1 cooperative, "
                                 "n_blocks = 1 overlapped, "
                                 "kblocks_per_stage = 4, promote = 128, "
                                 "form = swap_ab, store = vector")),
            4 + 4 * 4 + 4 * 2);
}
