// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the compiler on the emulator: right numbers and no finding, in
// every order. test/Emulator/cover.test takes ragged sizes and random
// schedules.

#include "CompiledGemm.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::test;

namespace {

EmulatorOptions quick(AsyncOrder order, uint64_t seed) {
  EmulatorOptions options;
  options.order = order;
  options.seed = seed;
  options.smCount = 3;
  return options;
}

struct Case {
  const char *gemm, *schedule;
};

const char *const kBF16 = "a=bf16,b=bf16,d=bf16";
const char *const kFP8 = "a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,"
                         "scale_b=128x128";
const char *const kFP8MN = "a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,"
                           "scale_b=128x128,scale_a_major=mn";
const char *const kTensor =
    "a=f8E4M3FN,b=f8E4M3FN,d=f32,scale_a=tensor,scale_b=tensor";

// Each value of tile shape, swizzle, stage count, warp split and store kind
// stands in at least two rows.
const Case kCases[] = {
    {kBF16, "tile = 128x128x64, stages = 4"},
    {kBF16, "tile = 128x256x64, stages = 3"},
    {kBF16, "tile = 64x64x64, consumers = 1 cooperative, stages = 2"},
    {kBF16, "tile = 64x128x32, consumers = 1 cooperative, stages = 4, swizzle "
            "= [64, 64, "
            "128]"},
    {kBF16, "tile = 128x64x32, stages = 3, swizzle = [64, 64, 64]"},
    {kBF16, "tile = 256x128x64, stages = 3, store = vector"},
    {kBF16, "tile = 128x96x64, stages = 2, store = vector"},
    {kBF16, "tile = 128x176x64, stages = 3"},
    {kFP8, "tile = 128x128x128, stages = 3, promote = 128"},
    {kFP8MN, "tile = 128x128x128, stages = 4, promote = 128"},
    {kFP8MN,
     "tile = 64x96x128, consumers = 1 cooperative, stages = 2, promote = 128"},
    {kFP8, "tile = 128x64x128, stages = 3, promote = 128, store = vector"},
    {kBF16, "tile = 64x128x64, consumers = 2 pingpong, stages = 4"},
    {kBF16, "tile = 64x176x64, consumers = 2 pingpong, stages = 3, store = "
            "vector"},
    {kFP8, "tile = 128x192x128, n_blocks = 2 overlapped, stages = 3, promote = "
           "128"},
    {kFP8MN, "tile = 128x176x128, n_blocks = 2 overlapped, stages = 4, promote "
             "= 128"},
    {kBF16, "tile = 128x128x64, stages = 3, persistent = false"},
    {kTensor, "tile = 128x128x128, stages = 3, promote = 128"},
    {kTensor,
     "tile = 256x64x64, stages = 4, swizzle = [64, 64, 128], promote = "
     "64"},
};

// Rows of the tile that no copy brings are multiplied without a finding, as
// long as nothing that came of them is stored.
TEST(Compiled, RowsThatNothingLoadedMayNotBeStored) {
  Result<CompiledGemm> gemm = CompiledGemm::create(
      kBF16, "tile = 64x64x64, consumers = 1 cooperative, stages = 2, "
             "load_rows = 8");
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  auto program = EmulatorProgram::createFromText(gemm->l3);
  ASSERT_TRUE(program.ok()) << program.message();
  EmulatorOptions options = quick(AsyncOrder::Random, 1);
  Outcome few = runGemm(**program, *gemm, 5, 72, 200, options);
  EXPECT_TRUE(few.clean()) << few.text();
  // The copies still bring 8 rows.
  gemm->metadata.kernels[0].schedule.loadRows = 16;
  Outcome many = runGemm(**program, *gemm, 9, 72, 200, options);
  ASSERT_EQ(many.report.findings.size(), 1u) << many.text();
  EXPECT_EQ(many.report.findings[0].kind, FindingKind::Uninitialized);
  EXPECT_FALSE(many.numbersRight);
}

TEST(Compiled, CoverIsRightAndClean) {
  for (const Case &c : kCases) {
    Result<CompiledGemm> gemm = CompiledGemm::create(c.gemm, c.schedule);
    if (!gemm) {
      ADD_FAILURE() << c.schedule << ": " << gemm.message();
      continue;
    }
    auto program = EmulatorProgram::createFromText(gemm->l3);
    ASSERT_TRUE(program.ok()) << program.message();
    for (AsyncOrder order :
         {AsyncOrder::Lazy, AsyncOrder::Eager, AsyncOrder::Random}) {
      const Outcome outcome =
          runGemm(**program, *gemm, 300, 264, 400, quick(order, 11));
      EXPECT_TRUE(outcome.clean())
          << c.gemm << " " << c.schedule << " " << toString(order) << "\n"
          << outcome.text();
    }
  }
}

TEST(Compiled, EmptyDepthLoadsNothing) {
  Result<CompiledGemm> gemm =
      CompiledGemm::create(kBF16, "tile = 128x128x64, stages = 4");
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  auto program = EmulatorProgram::createFromText(gemm->l3);
  ASSERT_TRUE(program.ok()) << program.message();
  const Outcome outcome =
      runGemm(**program, *gemm, 130, 64, 0, quick(AsyncOrder::Lazy, 1));
  EXPECT_TRUE(outcome.clean()) << outcome.text();
  EXPECT_EQ(outcome.report.statistics.tmaLoads, 0u);
}

} // namespace
