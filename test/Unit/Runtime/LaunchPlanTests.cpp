// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Grids, workspace and the checks of sizes, strides and addresses.

#include "dgemm/Runtime/KernelInterface.h"

#include <gtest/gtest.h>

using namespace dgemm;

namespace {
class LaunchPlanTest : public ::testing::Test {
protected:
  LaunchPlanTest() {
    metadata.problem.k = 512;
    KernelMetadata kernel;
    for (Operand operand : {Operand::A, Operand::B, Operand::D}) {
      TensorMapRecipe recipe;
      recipe.operand = operand;
      kernel.tensorMaps.push_back(recipe);
    }
    metadata.kernels = {kernel};
    metadata.dispatch = {{-1, 0}};
    sizes = defaultSizes(metadata.problem, 4096, 4096, 512);
    operands.a = 0x1000;
    operands.b = 0x2000;
    operands.c = 0x3000;
    operands.d = 0x4000;
    operands.scaleA = 0x5000;
    operands.scaleB = 0x6000;
  }

  KernelMetadata &kernel() { return metadata.kernels[0]; }

  Result<LaunchPlan> plan(int smCount = 132) {
    return planLaunch(metadata, sizes, operands, options, smCount);
  }

  void expectError(const std::string &expected) {
    Result<LaunchPlan> result = plan();
    ASSERT_FALSE(result.ok()) << expected;
    EXPECT_NE(result.message().find(expected), std::string::npos)
        << result.message();
  }

  LaunchMetadata metadata;
  LaunchSizes sizes;
  LaunchOperands operands;
  LaunchOptions options;
};
} // namespace

TEST_F(LaunchPlanTest, Grids) {
  EXPECT_EQ(plan()->grid, 132);
  options.smLimit = 100;
  EXPECT_EQ(plan()->grid, 100);
  options.smLimit = 1000;
  EXPECT_EQ(plan()->grid, 132);
  options.smLimit = 0;
  kernel().ctasPerSM = 2;
  EXPECT_EQ(plan()->grid, 264);
  kernel().persistent = false;
  EXPECT_EQ(plan()->grid, 32 * 32);
  kernel().splitK = 4;
  EXPECT_EQ(plan()->grid, 32 * 32 * 4);
  sizes.m = 1;
  EXPECT_EQ(plan()->grid, 32 * 4);
}

TEST_F(LaunchPlanTest, ClustersPadTheTiles) {
  kernel().schedule.clusterM = 2;
  kernel().cluster[0] = 2;
  kernel().persistent = false;
  sizes.m = 3 * 128;
  sizes.n = 5 * 128;
  EXPECT_EQ(plan()->grid, 4 * 5);
  kernel().persistent = true;
  EXPECT_EQ(plan(7)->grid, 6);
  options.smLimit = 1;
  expectError("SM limit: expected room for a cluster of 2 CTAs, found 1");
}

TEST_F(LaunchPlanTest, EmptyOutputsLaunchNothing) {
  operands = {};
  sizes.m = 0;
  EXPECT_EQ(plan()->grid, 0);
  sizes.m = 5;
  sizes.n = 0;
  EXPECT_EQ(plan()->grid, 0);
}

TEST_F(LaunchPlanTest, NoDepthStillLaunches) {
  metadata.problem.k = kDynamic;
  sizes.k = 0;
  sizes.lda = sizes.ldb = 0;
  operands.a = operands.b = 0;
  Result<LaunchPlan> result = plan();
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->grid, 132);
}

TEST_F(LaunchPlanTest, WorkspaceAndRaster) {
  kernel().workspacePerTile = 100;
  kernel().workspaceFixed = 7;
  EXPECT_EQ(plan()->workspaceBytes, 100 * 1024 + 7);
  kernel().schedule.rasterGroup = 16;
  EXPECT_EQ(plan()->rasterGroup, 16);
  options.rasterGroup = 3;
  EXPECT_EQ(plan()->rasterGroup, 3);
  operands.workspace = 8;
  expectError(
      "operand workspace: expected an address that is a multiple of 16");
}

TEST_F(LaunchPlanTest, SplitThroughWorkspace) {
  Result<Schedule> schedule = parseSchedule(
      "tile = 128x128x64, split_k = 4 workspace, persistent = false");
  ASSERT_TRUE(schedule.ok()) << schedule.message();
  metadata.kernels[0] =
      describeKernel("entry", metadata.problem, *schedule, "user");
  Result<LaunchPlan> result = plan();
  ASSERT_TRUE(result.ok()) << result.message();
  // Each of the 1024 tiles has four CTAs and leaves four tiles of FP32 behind
  // the counters.
  EXPECT_EQ(result->grid, 4096);
  EXPECT_EQ(result->workspaceBytes,
            kWorkspaceCounters * 4 + 1024 * 4 * (128 * 128 * 4));
  // Two warpgroups have a counter for each part.
  sizes.m = 128 * 2048 / 32;
  EXPECT_TRUE(plan().ok());
  sizes.m += 1;
  expectError("tiles: expected at most 2048 where K is split 4 times through "
              "the workspace, found 2080");
}

TEST_F(LaunchPlanTest, DealtOutOverCtas) {
  Result<Schedule> schedule =
      parseSchedule("tile = 128x128x64, split_k = 4 stream_k");
  ASSERT_TRUE(schedule.ok()) << schedule.message();
  metadata.kernels[0] =
      describeKernel("entry", metadata.problem, *schedule, "user");
  Result<LaunchPlan> result = plan();
  ASSERT_TRUE(result.ok()) << result.message();
  // Two parts for each CTA, however many tiles there are.
  EXPECT_EQ(result->grid, 132);
  EXPECT_EQ(result->workspaceBytes,
            kWorkspaceCounters * 4 + 132 * 2 * (128 * 128 * 4));
  // Few tiles, which more CTAs share.
  sizes.m = 64;
  sizes.n = 1024;
  ASSERT_TRUE(plan().ok()) << plan().message();
  EXPECT_EQ(plan()->grid, 32);
}

TEST_F(LaunchPlanTest, RowsLoaded) {
  kernel().schedule.loadRows = 24;
  sizes.m = 24;
  EXPECT_TRUE(plan().ok());
  sizes.m = 25;
  expectError("m: expected at most the 24 rows that the kernel loads "
              "(load_rows), found 25");
}

TEST_F(LaunchPlanTest, Sizes) {
  sizes.k = 256;
  expectError("k: expected 512 (compiled into the kernel), found 256");
  sizes.k = 512;
  sizes.m = -1;
  expectError("m: expected a size from 0");
  sizes.m = int64_t(1) << 31;
  expectError("m: expected a size from 0 to 2147483647, found 2147483648");
  sizes.m = INT32_MAX;
  sizes.n = INT32_MAX;
  sizes.ldd = int64_t(1) << 31;
  expectError("tiles: expected at most 2147483647");
}

TEST_F(LaunchPlanTest, Options) {
  EXPECT_FALSE(plan(0).ok());
  options.smLimit = -1;
  expectError("SM limit: expected at least 0, found -1");
  options.smLimit = 0;
  options.rasterGroup = -2;
  expectError("raster group: expected at least 0, found -2");
}

TEST_F(LaunchPlanTest, Strides) {
  sizes.lda = 511;
  expectError("operand a: expected lda of at least 512 elements, found 511");
  sizes.lda = 515;
  expectError("operand a: expected rows that are a multiple of 16 bytes (lda a "
              "multiple of 8 elements), found lda = 515, which is 1030 bytes");
  sizes.lda = int64_t(1) << 40;
  expectError("operand a: expected lda below");
  sizes.lda = 520;
  EXPECT_TRUE(plan().ok());
  sizes.ldd = 4097;
  expectError("operand d: expected rows that are a multiple of 16 bytes");
  // A vector store takes rows of any even length, and one of a single column
  // at a time, in swap-AB form, of any length.
  kernel().tensorMaps.pop_back();
  expectError("operand d: expected an even ldd (columns are accessed in "
              "pairs), found 4097");
  sizes.ldd = 4098;
  EXPECT_TRUE(plan().ok());
  sizes.ldd = 4097;
  kernel().schedule.form = Form::SwapAB;
  EXPECT_TRUE(plan().ok());
}

TEST_F(LaunchPlanTest, RegisterFormReadsWholePieces) {
  // What the warps read themselves is aligned as TMA would want it; C and D are
  // accessed one element at a time.
  kernel().tensorMaps.clear();
  kernel().schedule.form = Form::Register;
  metadata.problem.accumulate = true;
  sizes.ldd = sizes.ldc = 4097;
  operands.c = operands.d = 0x4002;
  EXPECT_TRUE(plan().ok());
  sizes.ldb = 515;
  expectError("operand b: expected rows that are a multiple of 16 bytes (ldb a "
              "multiple of 8 elements), found ldb = 515, which is 1030 bytes");
  sizes.ldb = 520;
  operands.a = 0x1008;
  expectError("operand a: expected an address that is a multiple of 16 bytes, "
              "found 4104 (8 bytes past)");
}

TEST_F(LaunchPlanTest, Addresses) {
  operands.b = 0x2008;
  expectError("operand b: expected an address that is a multiple of 16 bytes, "
              "found 8200 (8 bytes past)");
  operands.b = 0;
  expectError("operand b: expected an address, found none");
  operands.b = 0x2000;
  operands.d = 0x4002;
  expectError("operand d: expected an address that is a multiple of 16");
  kernel().tensorMaps.pop_back();
  expectError("operand d: expected an address that is a multiple of 4 bytes");
  operands.d = 0x4004;
  EXPECT_TRUE(plan().ok());
  kernel().schedule.form = Form::SwapAB;
  operands.d = 0x4002;
  EXPECT_TRUE(plan().ok());
  operands.d = 0x4001;
  expectError("operand d: expected an address that is a multiple of 2 bytes");
}

TEST_F(LaunchPlanTest, AccumulatorAndScales) {
  operands.c = 0;
  EXPECT_TRUE(plan().ok());
  metadata.problem.accumulate = true;
  expectError("operand c: expected an address, found none");
  operands.c = operands.d;
  EXPECT_TRUE(plan().ok());

  metadata.problem.a = metadata.problem.b = DType::F8E4M3FN;
  metadata.problem.scaleA = {DType::F32, 1, 128, ScaleMajor::MN};
  metadata.problem.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  sizes = defaultSizes(metadata.problem, 100, 4096, 512);
  EXPECT_EQ(sizes.ldScaleA, 100);
  EXPECT_TRUE(plan().ok());
  sizes.ldScaleA = 99;
  expectError("operand scale_a: expected ld_scale_a of at least 100");
  sizes.ldScaleA = 101;
  EXPECT_TRUE(plan().ok());
  TensorMapRecipe recipe;
  recipe.operand = Operand::ScaleA;
  kernel().tensorMaps.push_back(recipe);
  expectError("operand scale_a: expected rows that are a multiple of 16 bytes");
  sizes.ldScaleA = 100;
  sizes.ldScaleB = 3;
  expectError("operand scale_b: expected ld_scale_b of at least 4");
}

TEST_F(LaunchPlanTest, NoRowForThisM) {
  metadata.dispatch = {{64, 0}};
  expectError("dispatch: no kernel for m = 4096");
}
