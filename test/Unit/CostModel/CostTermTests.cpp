// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Each term of the two formulas alone, on a device that lacks all others,
// against a value worked out by hand.

#include "dgemm/CostModel/CostModel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dgemm;

/// Bandwidths that never bind, no fixed costs, 1 GHz, maxima that are not soft.
static DeviceModel ideal() {
  DeviceModel device;
  device.maxClock = 1;
  LargeCoefficients &l = device.large;
  l.fixed = 0;
  l.clock16 = l.clock8 = 1;
  l.powerExponent = 0;
  l.promotion = l.chainSync = l.extraBlock = l.promotionContention = 0;
  l.scaleGroup = l.scaleLoad = l.loadLatency = l.tmaRow = 0;
  l.epilogueBase = l.epilogueColumn = l.epilogueRound = 0;
  l.cluster = l.cluster8 = 0;
  l.hbmRead = l.hbmWrite = l.partialBandwidth = 1e9;
  l.softKBlock = l.softChain = l.softTma = l.softBody = 400;
  DecodeCoefficients &d = device.decode;
  d.launch = d.skew = d.dirty = 0;
  d.hbm = 1e9;
  d.writeBackHinted = d.writeBackUnhinted = d.reread = 0;
  d.latencyClean = d.latencyDirty = d.latencyRegister = 0;
  d.smBandwidth = d.smBandwidthRegister = 1e9;
  d.step = d.promotionSwap = d.promotionPlain = 0;
  d.promotionSMSwap = d.promotionSMPlain = d.tmaIssue = 0;
  d.reduceCluster = d.reduceClusterRegister = d.reduceWorkspace = 0;
  d.clusterBandwidthSwap = d.clusterBandwidthPlain = d.workspaceBandwidth = 1e9;
  d.storeSwap = d.storePlain = d.storeTma = 1e9;
  d.epilogueSwap = d.wave = d.registerForm = 0;
  d.clock = 1;
  d.softBody = 400;
  return device;
}

/// One FP8 tile of 128x128 with 32 K blocks: 4 x 2 x 64 = 512 tensor cycles
/// each, of which a consumer has half.
static CostInputs tile() {
  CostInputs in;
  in.m = in.n = 128;
  in.k = 4096;
  in.operandBytes = 1;
  in.fp8 = in.promoted = true;
  return in;
}

static double large(const CostInputs &in, const DeviceModel &device) {
  return largeCost(in, device).microseconds;
}

TEST(LargeTerm, TensorCycles) {
  EXPECT_NEAR(large(tile(), ideal()), 32 * 512 / 1e3, 1e-6);
  DeviceModel slow = ideal();
  slow.tensorCycleFactor = 4;
  EXPECT_NEAR(large(tile(), slow), 32 * 2048 / 1e3, 1e-6);
  // K of 4000 bytes is as many blocks as 4096.
  CostInputs ragged = tile();
  ragged.k = 4000;
  EXPECT_NEAR(large(ragged, ideal()), 32 * 512 / 1e3, 1e-6);
}

TEST(LargeTerm, PromotionContention) {
  DeviceModel device = ideal();
  device.large.promotionContention = 2; // per 128 elements: 128 of them
  EXPECT_NEAR(large(tile(), device), 32 * (512 + 256) / 1e3, 1e-6);
  CostInputs overlapped = tile();
  overlapped.nBlocks = 2;
  overlapped.blockColumns = 64;
  overlapped.overlapPromotion = true;
  // As many cycles of operand reads as of multiplication.
  EXPECT_NEAR(large(overlapped, device), 32 * 512 / 1e3, 0.03);
  CostInputs bf16 = tile();
  bf16.promoted = false;
  EXPECT_NEAR(large(bf16, device), 32 * 512 / 1e3, 1e-6);
}

TEST(LargeTerm, ChainSyncOncePerChain) {
  DeviceModel device = ideal();
  device.large.chainSync = 1000;
  EXPECT_NEAR(large(tile(), device), 32 * (256 + 1000) / 1e3, 1e-6);
  CostInputs two = tile();
  two.nBlocks = 2;
  two.blockColumns = 64;
  EXPECT_NEAR(large(two, device), 32 * (256 + 2000) / 1e3, 1e-6);
  two.overlapPromotion = true; // one that nothing hides
  EXPECT_NEAR(large(two, device), 32 * (256 + 1000) / 1e3, 1e-6);
}

TEST(LargeTerm, WarpgroupsFallInStep) {
  DeviceModel device = ideal();
  device.large.fallInStep = 1000;
  CostInputs two = tile();
  two.nBlocks = 2;
  two.blockColumns = 64;
  // 32 K blocks with as many cycles of operand reads as of multiplication, and
  // 32 / (32 + 64) of the term.
  EXPECT_NEAR(large(two, device), 32 * (512 + 1000 / 3.0) / 1e3, 0.03);
  CostInputs turns = two;
  turns.inTurn = true;
  EXPECT_NEAR(large(turns, device), 32 * 512 / 1e3, 0.03);
  two.overlapPromotion = true;
  EXPECT_NEAR(large(two, device), 32 * 512 / 1e3, 0.03);
}

TEST(LargeTerm, ExtraBlocksBeyondTwo) {
  DeviceModel device = ideal();
  device.large.extraBlock = 700;
  CostInputs four = tile();
  four.nBlocks = 4;
  four.blockColumns = 32;
  four.overlapPromotion = true;
  // Four chains of 32 columns: 4 x 2 x (4 x 16 + 32) = 768 cycles of operand
  // reads, half of them one consumer's.
  EXPECT_NEAR(large(four, device), 32 * (384 + 2 * 700) / 1e3, 1e-6);
}

TEST(LargeTerm, Scales) {
  DeviceModel device = ideal();
  device.large.scaleGroup = 400;
  CostInputs in = tile();
  in.furtherScalesB = 1.25;
  EXPECT_NEAR(large(in, device), 32 * (256 + 500) / 1e3, 1e-6);
  device.large.scaleGroup = 0;
  device.large.scaleLoad = 600;
  EXPECT_NEAR(large(in, device), 32 * 512 / 1e3, 1e-6);
  in.scaleAFromMemory = true;
  EXPECT_NEAR(large(in, device), 32 * (256 + 600) / 1e3, 1e-6);
  // Two m64 blocks load twice as many.
  in.mBlocks = 2;
  EXPECT_NEAR(large(in, device), 32 * (256 + 2 * 600) / 1e3, 1e-6);
}

TEST(LargeTerm, ScalesOfAProblem) {
  Problem problem;
  problem.m = problem.n = problem.k = 4096;
  problem.a = problem.b = DType::F8E4M3FN;
  problem.scaleA = {DType::F32, 1, 128, ScaleMajor::MN};
  problem.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  auto further = [&](int columns) {
    Schedule schedule;
    schedule.tileN = columns;
    schedule.tileK = 128;
    schedule.promotion = 128;
    return costInputs(problem, schedule, DeviceModel()).furtherScalesB;
  };
  EXPECT_EQ(further(64), 0);
  EXPECT_EQ(further(128), 0);
  EXPECT_EQ(further(192), 1); // begins at 0 or 64: two blocks
  EXPECT_EQ(further(256), 1);
  // Begins at 0, 16, ..., 112: the last two reach a third block.
  EXPECT_EQ(further(176), 1.25);
  Schedule schedule;
  schedule.tileK = schedule.promotion = 128;
  EXPECT_FALSE(costInputs(problem, schedule, DeviceModel()).scaleAFromMemory);
  problem.scaleA.major = ScaleMajor::K;
  EXPECT_TRUE(costInputs(problem, schedule, DeviceModel()).scaleAFromMemory);
  schedule.promotion = 0;
  EXPECT_FALSE(costInputs(problem, schedule, DeviceModel()).scaleAFromMemory);
}

TEST(LargeTerm, Epilogue) {
  DeviceModel device = ideal();
  device.large.epilogueBase = 100;
  device.large.epilogueColumn = 2;
  device.large.epilogueRound = 50;
  CostInputs in = tile();
  in.mBlocks = 2;
  in.storeChunks = 4;
  // 100 + 2 x 128 columns x 2 m64 blocks + 50 x 3 rounds after the first
  EXPECT_NEAR(large(in, device), (32 * 512 + 762) / 1e3, 1e-6);
  EXPECT_NEAR(largeCost(in, device).epilogue, 0.762, 1e-9);
}

TEST(LargeTerm, StoresThatTheEpilogueWaitsFor) {
  DeviceModel device = ideal();
  device.large.storeRow = 3;
  device.large.storeFragment = 5;
  CostInputs in = tile();
  in.storeBoxColumns = 48; // three boxes of 128 rows each
  EXPECT_NEAR(large(in, device), (32 * 512 + 3 * 128 * 3) / 1e3, 1e-6);
  in.storeBoxColumns = 0; // from registers: 128 rows of 16 fragments
  EXPECT_NEAR(large(in, device), (32 * 512 + 5 * 128 * 16) / 1e3, 1e-6);
  EXPECT_NEAR(largeCost(in, device).epilogue, 10.24, 1e-9);
}

TEST(LargeTerm, CtasThatAreNotPersistent) {
  DeviceModel device = ideal();
  device.large.fixed = 5;
  device.large.wave = 2;
  CostInputs in = tile();
  in.m = 128 * 264; // two waves, one of them after the first
  EXPECT_NEAR(large(in, device), 5 + 2 * 32 * 512 / 1e3, 1e-6);
  in.persistent = false;
  EXPECT_NEAR(large(in, device), 5 + 2 * 32 * 512 / 1e3 + 2, 1e-6);
  EXPECT_NEAR(largeCost(in, device).fixed, 7, 1e-9);
}

TEST(LargeTerm, LoadLatencyPerStageInFlight) {
  DeviceModel device = ideal();
  device.large.loadLatency = 6000;
  CostInputs in = tile();
  in.stages = 5; // four ahead
  EXPECT_NEAR(large(in, device), 32 * 1500 / 1e3, 1e-6);
  in.kBlocksPerStage = 2;
  EXPECT_NEAR(large(in, device), 32 * 750 / 1e3, 1e-6);
}

TEST(LargeTerm, LoadLatencyPerRowOfAStage) {
  DeviceModel device = ideal();
  // Plus 10 for each of 256 rows, of which three slots hide as much again.
  device.large.loadLatency = 600;
  device.large.latencyRow = 10;
  CostInputs in = tile();
  in.stages = 4;
  device.large.heldPromoted = 1;
  EXPECT_NEAR(large(in, device), 32 * (600 + 2560) / 3.0 / 1e3, 1e-6);
}

TEST(LargeTerm, RowsThatNeighboursDoNotShare) {
  DeviceModel device = ideal();
  device.large.latencyRowApart = 20;
  device.large.heldPromoted = 1;
  CostInputs in = tile(); // in order along M: A's
  in.tileM = 64;
  in.m = 64;
  EXPECT_NEAR(largeCost(in, device).latency, 32 * 20 * 64 / 3.0 / 1e3, 1e-6);
  in.rasterOrder = RasterOrder::AlongN; // B's
  EXPECT_NEAR(largeCost(in, device).latency, 32 * 20 * 128 / 3.0 / 1e3, 1e-6);
}

TEST(LargeTerm, RowsOutOfDramAreLate) {
  DeviceModel device = ideal();
  device.large.loadLatency = 1000;
  device.large.missLatency = 6000;
  device.large.missShare = 0.5;
  device.large.heldPromoted = 1;
  CostInputs in = tile();
  // A single tile finds none of its rows in the cache: 1 / (1 + 0.5) of it.
  EXPECT_NEAR(largeCost(in, device).latency, 32 * (1000 + 4000) / 3.0 / 1e3,
              1e-6);
  in.kBlocksPerStage = 2;
  EXPECT_NEAR(largeCost(in, device).latency, 32 * 2500 / 3.0 / 1e3, 1e-6);
  // Four tiles of one wave miss half of what they load.
  in.kBlocksPerStage = 1;
  in.m = in.n = 256;
  EXPECT_NEAR(largeCost(in, device).latency, 32 * (1000 + 3000) / 3.0 / 1e3,
              1e-6);
}

TEST(LargeTerm, CtasFarApartReadAgain) {
  DeviceModel device = ideal();
  device.large.hbmRead = 1e-3; // 1 byte per ns
  device.large.drift = 0.01;
  double panel = 128 * 4096;
  device.large.l2Panels = 9 * panel; // of 12 in use: a quarter is lost
  CostInputs in = tile();
  in.m = 8 * 128;
  in.n = 4 * 128; // 32 tiles, one wave
  in.rasterGroup = 8;
  in.stages = 5;
  // Four tiles want each of A's eight panels, eight tiles apart: 24 panels are
  // read by others too, of which 0.01 x 5 x 8 are out of step.
  double again = 0.4 * 0.25 * 24 * panel;
  EXPECT_NEAR(largeCost(in, device).memory, (12 * panel + again) / 1e3, 1);
  // All of them, far enough apart.
  device.large.drift = 1;
  EXPECT_NEAR(largeCost(in, device).memory,
              (12 * panel + 0.25 * 24 * panel) / 1e3, 1);
  // In groups of one A's panel is the neighbours', B's are four tiles apart.
  device.large.drift = 0.01;
  in.rasterGroup = 1;
  again = 0.2 * 0.25 * 28 * panel;
  EXPECT_NEAR(largeCost(in, device).memory, (12 * panel + again) / 1e3, 1);
  // Nothing is lost where all panels stay.
  device.large.l2Panels = 12 * panel;
  EXPECT_NEAR(largeCost(in, device).memory, 12 * panel / 1e3, 1);
}

TEST(LargeTerm, RowsOutOfL2) {
  DeviceModel device = ideal();
  // 100 a step and 3 a row: 868 of a 128x128 tile, whatever the ring.
  device.large.loadStep = 100;
  device.large.l2Row = 3;
  CostInputs in = tile();
  EXPECT_NEAR(large(in, device), 32 * 868 / 1e3, 1e-6);

  // 16 rows of tiles side by side: four neighbours get B's rows at once, A's
  // are each CTA's own.
  device.large.l2Sharers = 4;
  in.m = 16 * 128;
  in.rasterGroup = 16;
  EXPECT_NEAR(large(in, device), 32 * (100 + 3 * (128 + 32)) / 1e3, 1e-6);
  // In groups of two half the neighbours have another column, but every other
  // one the same row.
  in.rasterGroup = 2;
  EXPECT_NEAR(large(in, device), 32 * (512) / 1e3, 1e-6);
  device.large.loadStep = 200;
  EXPECT_NEAR(large(in, device), 32 * (200 + 3 * (64 + 64)) / 1e3, 1e-6);
  // Across rows of tiles it is A that they have in common.
  in.rasterGroup = 1;
  in.tileN = 64; // with fewer tensor cycles
  in.blockColumns = 64;
  EXPECT_NEAR(large(in, device), 32 * (200 + 3 * (32 + 64)) / 1e3, 1e-6);
  // The mirror image.
  std::swap(in.m, in.n);
  in.rasterOrder = RasterOrder::AlongN;
  in.rasterGroup = 16;
  EXPECT_NEAR(large(in, device), 32 * (200 + 3 * (32 + 64)) / 1e3, 1e-6);
  EXPECT_STREQ(largeCost(in, device).bound, "L2");
}

TEST(LargeTerm, RowsOutOfTheOtherHalfOfL2) {
  DeviceModel device = ideal();
  device.large.l2Row = 3;
  device.large.l2Sharers = 4;
  device.large.l2Far = 2;
  double panel = 128 * 4096;
  CostInputs in = tile();
  in.m = 16 * 128; // 16 panels of A and one of B
  in.rasterGroup = 16;
  // They take half of the cache: A's rows, each CTA's own, wait half the time.
  device.large.l2Panels = 34 * panel;
  EXPECT_NEAR(largeCost(in, device).load,
              32 * (3 * (128 + 32) + 0.5 * 2 * 128) / 1e3, 1e-6);
  // More than all of it.
  device.large.l2Panels = 10 * panel;
  EXPECT_NEAR(largeCost(in, device).load, 32 * (3 * (128 + 32) + 2 * 128) / 1e3,
              1e-6);
  // In groups of two, two of four neighbours have the same row of A.
  in.rasterGroup = 2;
  EXPECT_NEAR(largeCost(in, device).load, 32 * (3 * (64 + 64) + 2 * 64) / 1e3,
              1e-6);
  // The mirror image.
  std::swap(in.m, in.n);
  in.rasterOrder = RasterOrder::AlongN;
  in.rasterGroup = 16;
  EXPECT_NEAR(largeCost(in, device).load, 32 * (3 * (128 + 32) + 2 * 128) / 1e3,
              1e-6);
}

TEST(LargeTerm, SlotsThatAreMultiplied) {
  DeviceModel device = ideal();
  device.large.loadLatency = 6000;
  device.large.heldPromoted = 0;
  device.large.heldQueued = 1;
  device.large.slotUsePromoted = 0.75;
  device.large.slotUseQueued = 0.5;
  CostInputs in = tile(); // four stages, 512 tensor cycles a K block
  EXPECT_NEAR(large(in, device), 32 * (6000 + 384) / 4.0 / 1e3, 1e-6);
  in.promoted = false;
  EXPECT_NEAR(large(in, device), 32 * (6000 + 256) / 3.0 / 1e3, 1e-6);
  // Two K blocks a stage are multiplied one after the other.
  in.kBlocksPerStage = 2;
  EXPECT_NEAR(large(in, device), 32 * (3000 + 256) / 3.0 / 1e3, 1e-6);
  // Where operand reads take longer, it is those: 2 x 4 x (4 x 16 + 32) = 768.
  in.kBlocksPerStage = 1;
  in.nBlocks = 4;
  in.blockColumns = 32;
  EXPECT_NEAR(large(in, device), 32 * (6000 + 384) / 3.0 / 1e3, 1e-6);
}

TEST(LargeTerm, ATileAgainstItsTmaRequests) {
  DeviceModel device = ideal();
  device.large.softTma = 2;
  device.large.tmaRow = 3; // 3 x (32 x 256 + 256) = 25344 cycles
  CostInputs in = tile();  // of 32 x 512 = 16384
  EXPECT_NEAR(large(in, device), std::hypot(25.344, 16.384), 1e-3);
}

TEST(LargeTerm, SlotsThatAreHeldBack) {
  DeviceModel device = ideal();
  device.large.loadLatency = 6000;
  device.large.heldPromoted = 0.2;
  device.large.heldQueued = 1.5;
  CostInputs in = tile();
  in.stages = 3;
  EXPECT_NEAR(large(in, device), 32 * 6000 / 2.8 / 1e3, 1e-6);
  in.promoted = false;
  EXPECT_NEAR(large(in, device), 32 * 6000 / 1.5 / 1e3, 1e-6);
  in.stages = 1; // never less than half a slot
  EXPECT_NEAR(large(in, device), 32 * 6000 / 0.5 / 1e3, 1e-6);
}

TEST(LargeTerm, TmaRowsAreSharedInAClusterAndClustersCost) {
  DeviceModel device = ideal();
  device.large.tmaRow = 10;
  CostInputs in = tile();
  in.m = 256; // two tiles, one cluster
  // 32 x (128 + 128) rows of loads, 128 rows x 2 boxes of stores
  EXPECT_NEAR(large(in, device), 10 * (32 * 256 + 256) / 1e3, 1e-6);
  in.clusterM = 2; // each loads half of B
  EXPECT_NEAR(large(in, device), 10 * (32 * 192 + 256) / 1e3, 1e-6);
  device.large.tmaRow = 0;
  device.large.cluster = 30;
  device.large.cluster8 = 20;
  EXPECT_NEAR(large(in, device), 32 * (512 + 50) / 1e3, 1e-6);
  in.fp8 = false;
  EXPECT_NEAR(large(in, device), 32 * (512 + 30) / 1e3, 1e-6);
}

TEST(LargeTerm, Memory) {
  DeviceModel device = ideal();
  device.large.hbmRead = 0.01; // TB/s = 10 bytes per ns
  device.large.hbmWrite = 0.02;
  CostInputs in = tile();
  in.m = in.n = 256; // four tiles in one wave: two panels of each operand
  double read = 4 * 128 * 4096 / 0.01e6, write = 256 * 256 * 2 / 0.02e6;
  EXPECT_NEAR(large(in, device), read + write, 1e-6 * (read + write));
  EXPECT_NEAR(largeCost(in, device).memory, read + write, 1e-3);
}

TEST(LargeTerm, WavesAndTheLastOne) {
  CostInputs in = tile();
  in.m = 128 * 11;
  in.n = 128 * 13; // 143 tiles on 132 SMs
  CostBreakdown cost = largeCost(in, ideal());
  EXPECT_EQ(cost.waves, 2);
  EXPECT_NEAR(cost.microseconds, 2 * 32 * 512 / 1e3, 1e-6);
  EXPECT_NEAR(cost.quantisation, 32 * 512 / 1e3 * (2 - 143 / 132.), 1e-6);
  EXPECT_NEAR(cost.utilisation, 143 / 264., 1e-9);
}

TEST(LargeTerm, ClockRisesWhereTensorCoresIdle) {
  DeviceModel device = ideal();
  device.maxClock = 2;
  device.large.powerExponent = 0.5;
  device.large.loadLatency = 3 * 1024; // a K block takes twice its tensor time
  CostInputs in = tile();
  in.m = 128 * 132; // every SM has one tile
  CostBreakdown cost = largeCost(in, device);
  EXPECT_NEAR(cost.utilisation, 0.5, 1e-6);
  EXPECT_NEAR(cost.clock, std::sqrt(2), 1e-5);
  EXPECT_NEAR(cost.microseconds, 32 * 1024 / std::sqrt(2) / 1e3, 1e-4);
  device.maxClock = 1.2;
  EXPECT_NEAR(largeCost(in, device).clock, 1.2, 1e-9);
}

TEST(LargeTerm, SplitKReductionAndFixedTime) {
  DeviceModel device = ideal();
  device.decode.reduceWorkspace = 3;
  device.large.fixed = 5;
  CostInputs in = tile();
  in.splitK = 2;
  in.splitKind = SplitKind::Workspace;
  EXPECT_NEAR(large(in, device), 5 + 16 * 512 / 1e3 + 3, 1e-6);
  device.large.hbmWrite = 0.01;
  CostBreakdown cost = largeCost(in, device);
  EXPECT_NEAR(cost.reduction, 3 + 2 * 128 * 128 * 4 / 0.01e6, 1e-6);
  in.splitKind = SplitKind::Cluster;
  device.decode.reduceCluster = 7;
  EXPECT_NEAR(largeCost(in, device).reduction, 7, 1e-9);
}

TEST(LargeTerm, DealtOutStepsMakeWavesFractional) {
  DeviceModel device = ideal();
  CostInputs in = tile();
  in.splitK = 4;
  in.splitKind = SplitKind::StreamK;
  // Two whole waves of 132, and half of one over all CTAs.
  in.m = 128 * 330;
  EXPECT_NEAR(large(in, device), 2.5 * 32 * 512 / 1e3, 1e-4);
  // A tenth of a wave is cut into four parts each, no more.
  in.m = 128 * (132 + 13);
  EXPECT_NEAR(large(in, device), 1.25 * 32 * 512 / 1e3, 1e-4);
  // Two parts written and five read.
  device.large.partialBandwidth = 100;
  device.decode.reduceWorkspace = 2;
  EXPECT_NEAR(largeCost(in, device).reduction, 2 + 7 * 128 * 128 * 4 / 100e3,
              1e-6);
  // Panels are read once where all of them fit in the cache; else every tile
  // reads its own.
  device.large.hbmRead = 1e-3;
  in.m = 128 * 66;
  device.large.l2Panels = 1e9;
  EXPECT_NEAR(largeCost(in, device).memory, 4096 * (66 * 128 + 128) / 1e3, 1);
  device.large.l2Panels = 0;
  EXPECT_NEAR(largeCost(in, device).memory, 4096 * 66 * 256 / 1e3, 1);
  device.large.hbmRead = 1e9;
  // Whole waves are what they were.
  in.m = 128 * 264;
  EXPECT_NEAR(large(in, device), 2 * 32 * 512 / 1e3, 1e-4);
  EXPECT_EQ(largeCost(in, device).reduction, 0);
}

TEST(LargeTerm, CtasThatShareAnSmShareItsTensorCores) {
  CostInputs in = tile();
  in.m = 128 * 264;
  in.ctasPerSM = 2;
  EXPECT_NEAR(large(in, ideal()), 2 * 32 * 512 / 1e3, 1e-6);
}

TEST(Residency, ClustersOfFourLeaveSmsIdle) {
  DeviceModel device;
  EXPECT_EQ(residentCtas(device, 1, 1), 132);
  EXPECT_EQ(residentCtas(device, 2, 3), 396);
  EXPECT_EQ(residentCtas(device, 4, 1), 120);
  EXPECT_EQ(residentCtas(device, 7, 1), 119); // 17 clusters
  EXPECT_EQ(residentCtas(device, 8, 2), 240);
}

/// Eight rows of BF16 against 64 x 4096 weights in one CTA, swapped: 64 K
/// blocks of (64 + 8) x 128 bytes, of 4 x max(4, 16 + 2) = 72 tensor cycles.
static CostInputs token() {
  CostInputs in;
  in.m = 8;
  in.n = 64;
  in.k = 4096;
  in.form = Form::SwapAB;
  in.tileM = 8;
  in.tileN = 64;
  in.consumers = 1;
  in.nBlocks = 1;
  in.blockColumns = 8;
  in.stages = 4;
  in.storeBoxColumns = 0;
  return in;
}

static double decode(const CostInputs &in, const DeviceModel &device) {
  return decodeCost(in, device).microseconds;
}

/// What remains when nothing is switched on: the tensor cores.
static constexpr double kTensor = 64 * 72 / 1e3;

TEST(DecodeTerm, Tensor) {
  EXPECT_NEAR(decode(token(), ideal()), kTensor, 1e-6 * kTensor + 0.01);
  CostInputs wide = token();
  wide.tileM = 128; // 4 x max(64, 16 + 32) a K block
  EXPECT_NEAR(decodeCost(wide, ideal()).tensor, 64 * 256 / 1e3, 1e-6);
}

TEST(DecodeTerm, WeightsAndWhatIsWrittenBack) {
  DeviceModel device = ideal();
  device.decode.hbm = 0.001; // TB/s = 1 byte per ns
  double weights = 64 * 4096 * 2 / 1e3, tokens = 8 * 4096 * 2 / 1e3;
  EXPECT_NEAR(decodeCost(token(), device).memory, weights + tokens, 1e-6);
  device.decode.writeBackHinted = 0.25;
  device.decode.writeBackUnhinted = 0.5;
  CostInputs in = token();
  EXPECT_NEAR(decodeCost(in, device).memory, weights + tokens, 1e-6);
  in.l2 = L2State::Dirty;
  EXPECT_NEAR(decodeCost(in, device).memory, 1.25 * weights + tokens, 1e-6);
  in.evictFirst = false;
  EXPECT_NEAR(decodeCost(in, device).memory, 1.5 * weights + tokens, 1e-6);
}

TEST(DecodeTerm, FurtherRowsOfTilesReadAgain) {
  DeviceModel device = ideal();
  device.decode.hbm = 0.001;
  device.decode.reread = 0.25;
  CostInputs in = token();
  in.m = 24; // three rows of tiles
  double weights = 64 * 4096 * 2 / 1e3, tokens = 24 * 4096 * 2 / 1e3;
  // The cache holds the weights, a quarter of them, or is no help as CTAs of a
  // split K are between those that share.
  EXPECT_NEAR(decodeCost(in, device).memory, weights + tokens, 1e-6);
  device.large.l2Panels = 64 * 4096 * 2 / 4;
  EXPECT_NEAR(decodeCost(in, device).memory, 1.375 * weights + tokens, 1e-6);
  in.splitK = 2;
  EXPECT_NEAR(decodeCost(in, device).memory, 1.5 * weights + tokens, 1e-6);
}

TEST(DecodeTerm, LatencyOfFurtherRowsOfTiles) {
  DeviceModel device = ideal();
  device.decode.latencyClean = 2;
  device.decode.latencyRows = 0.5;
  CostInputs in = token();
  // 64 steps, four slots: 16 rounds of latency and 0.072 us use
  EXPECT_NEAR(decodeCost(in, device).latency, 16 * 2.072, 1e-6);
  in.m = 24; // three rows of tiles
  EXPECT_NEAR(decodeCost(in, device).latency, 16 * 3.072, 1e-6);
}

TEST(DecodeTerm, StepsOfTheChain) {
  DeviceModel device = ideal();
  device.decode.step = 1000;
  EXPECT_NEAR(decodeCost(token(), device).chain, 64 * (1000 + 72) / 1e3, 1e-6);
  CostInputs in = token();
  in.kBlocksPerStage = 4;
  EXPECT_NEAR(decodeCost(in, device).chain, 16 * (1000 + 4 * 72) / 1e3, 1e-6);
  in.splitK = 2;
  in.splitKind = SplitKind::Cluster;
  EXPECT_NEAR(decodeCost(in, device).chain, 8 * (1000 + 4 * 72) / 1e3, 1e-6);
}

TEST(DecodeTerm, PromotionInTheChainAndOfTheSm) {
  DeviceModel device = ideal();
  device.decode.promotionSwap = 10;
  device.decode.promotionSMSwap = 20;
  CostInputs in = token();
  in.operandBytes = 1;
  in.fp8 = in.promoted = true; // 32 K blocks
  // 8 / 2 products and as many scales: 8 instructions a K block
  EXPECT_NEAR(decodeCost(in, device).chain, 32 * (72 + 80) / 1e3, 1e-6);
  EXPECT_NEAR(decodeCost(in, device).promotion, 32 * 160 / 1e3, 1e-6);
  in.overlapPromotion = true;
  device.decode.promotionOverlapped = 0.25;
  EXPECT_NEAR(decodeCost(in, device).chain, 32 * (72 + 20) / 1e3, 1e-6);
  in.form = Form::Plain;
  in.overlapPromotion = false;
  device.decode.promotionPlain = 10;
  device.decode.promotionSMPlain = 20;
  // 64 / 2 products and 6 scales; 4 x max(32, 32) tensor cycles
  EXPECT_NEAR(decodeCost(in, device).chain, 32 * (128 + 380) / 1e3, 1e-6);
  EXPECT_NEAR(decodeCost(in, device).promotion, 32 * 760 / 1e3, 1e-6);
}

TEST(DecodeTerm, RingCoversLatencyAndTransfer) {
  DeviceModel device = ideal();
  device.decode.latencyClean = 2;
  device.decode.latencyDirty = 3;
  device.decode.smBandwidth = 9.216; // GB/s: a K block takes 1 us
  CostInputs in = token();
  // 64 steps, four slots: 16 rounds of 2 us latency, 0.072 us use, 1 us
  EXPECT_NEAR(decodeCost(in, device).latency, 16 * 3.072, 1e-6);
  in.l2 = L2State::Dirty;
  EXPECT_NEAR(decodeCost(in, device).latency, 16 * 4.072, 1e-6);
  // The SM's own bandwidth: 64 K blocks of 1 us.
  EXPECT_NEAR(decodeCost(in, device).sharedMemory, 64, 1e-6);
}

TEST(DecodeTerm, SlotsThatAreHeldBack) {
  DeviceModel device = ideal();
  device.decode.latencyClean = 2;
  device.decode.heldQueued = 2;
  device.decode.heldPromoted = 3;
  CostInputs in = token();
  // 64 steps, two slots free: 32 rounds of 2 us latency and 0.072 us use
  EXPECT_NEAR(decodeCost(in, device).latency, 32 * 2.072, 1e-6);
  in.promoted = true;
  EXPECT_NEAR(decodeCost(in, device).latency, 64 * 2.072, 1e-6);
}

TEST(DecodeTerm, TmaIssue) {
  DeviceModel device = ideal();
  device.decode.tmaIssue = 500;
  EXPECT_NEAR(decodeCost(token(), device).tma, 64 * 2 * 500 / 1e3, 1e-6);
  CostInputs in = token();
  in.fp8 = true; // scales, too
  EXPECT_NEAR(decodeCost(in, device).tma, 64 * 3 * 500 / 1e3, 1e-6);
}

TEST(DecodeTerm, Reduction) {
  DeviceModel device = ideal();
  device.decode.reduceCluster = 2;
  device.decode.reduceWorkspace = 5;
  device.decode.clusterBandwidthSwap = 1; // GB/s
  device.decode.clusterBandwidthPlain = 2;
  device.decode.workspaceBandwidth = 0.5;
  CostInputs in = token();
  EXPECT_EQ(decodeCost(in, device).reduction, 0);
  in.splitK = 4;
  in.splitKind = SplitKind::Cluster;
  double part = 8 * 64 * 4 / 1e3; // us at 1 GB/s
  EXPECT_NEAR(decodeCost(in, device).reduction, 2 + part * 3 / 4, 1e-9);
  in.form = Form::Plain;
  EXPECT_NEAR(decodeCost(in, device).reduction, 2 + part * 3 / 8, 1e-9);
  in.splitKind = SplitKind::Workspace;
  EXPECT_NEAR(decodeCost(in, device).reduction, 5 + 2 * part, 1e-9);
  in.splitKind = SplitKind::Cluster;
  in.form = Form::Register;
  device.decode.reduceClusterRegister = 1;
  EXPECT_NEAR(decodeCost(in, device).reduction, 1 + part * 3 / 8, 1e-9);
}

TEST(DecodeTerm, Stores) {
  DeviceModel device = ideal();
  device.decode.storeSwap = 0.001;
  device.decode.storePlain = 0.002;
  device.decode.storeTma = 0.004;
  CostInputs in = token();
  double bytes = 8 * 64 * 2 / 1e3; // us at 0.001 TB/s
  EXPECT_NEAR(decodeCost(in, device).epilogue, bytes, 1e-9);
  // Swapped, each of 128 threads writes 4 elements.
  device.decode.epilogueSwap = 100;
  EXPECT_NEAR(decodeCost(in, device).epilogue, bytes + 0.4, 1e-9);
  in.form = Form::Plain;
  EXPECT_NEAR(decodeCost(in, device).epilogue, bytes / 2, 1e-9);
  in.storeBoxColumns = 64;
  EXPECT_NEAR(decodeCost(in, device).epilogue, bytes / 4, 1e-9);
}

TEST(DecodeTerm, FixedTimes) {
  DeviceModel device = ideal();
  device.decode.launch = 1;
  device.decode.skew = 2;
  device.decode.dirty = 4;
  device.decode.hbm = (64 + 8) * 4096 * 2 / 3e6; // DRAM takes 3 us
  CostInputs in = token();
  EXPECT_NEAR(decodeCost(in, device).fixed, 1 + 2 * 0.75, 1e-9);
  in.l2 = L2State::Dirty;
  EXPECT_NEAR(decodeCost(in, device).fixed, 1 + 6 * 0.75, 1e-9);
  in.form = Form::Register;
  device.decode.registerForm = 0.5;
  EXPECT_NEAR(decodeCost(in, device).fixed, 1.5 + 6 * 0.75, 1e-9);
}

TEST(DecodeTerm, WavesOfClustersThatDoNotFit) {
  DeviceModel device = ideal();
  device.decode.wave = 3;
  CostInputs in = token();
  in.n = 64 * 33;
  in.persistent = false;
  in.splitK = 4;
  in.splitKind = SplitKind::Cluster; // 33 clusters, 30 fit
  EXPECT_NEAR(decodeCost(in, device).fixed, 3, 1e-9);
  EXPECT_EQ(decodeCost(in, device).waves, 2);
  in.n = 64 * 30;
  EXPECT_NEAR(decodeCost(in, device).fixed, 0, 1e-9);
}
