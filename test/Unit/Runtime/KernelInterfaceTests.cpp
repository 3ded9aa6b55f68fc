// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which tensor maps a kernel has, and their boxes.

#include "dgemm/Runtime/KernelInterface.h"

#include <gtest/gtest.h>

using namespace dgemm;

namespace {
Problem problem(int64_t m, int64_t n) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = 1024;
  problem.a = problem.b = problem.d = DType::BF16;
  return problem;
}

Schedule schedule(const std::string &text) {
  Result<Schedule> schedule = parseSchedule(text);
  EXPECT_TRUE(schedule.ok()) << schedule.message();
  return *schedule;
}

/// "a 64x128 d 64x64": operands and boxes of the maps, `+` for last rows.
std::string maps(const Problem &problem, const std::string &text) {
  std::string out;
  for (const TensorMapRecipe &map :
       describeKernel("k", problem, schedule(text), "user").tensorMaps) {
    out += (out.empty() ? "" : " ") + std::string(toString(map.operand)) +
           (map.lastRows ? "+" : "");
    for (size_t i = 0; i < map.box.size(); ++i)
      out += (i ? "x" : " ") + std::to_string(map.box[i]);
  }
  return out;
}
} // namespace

TEST(KernelInterface, WholeTilesHaveOneMapEach) {
  EXPECT_EQ(maps(problem(256, 512), "tile = 128x256x64"),
            "a 64x128 b 64x256 d 64x64");
}

TEST(KernelInterface, LastRowsHaveAMapOfTheirOwn) {
  EXPECT_EQ(maps(problem(kDynamic, 512), "tile = 128x256x64"),
            "a 64x128 b 64x256 a+ 64x128 d 64x64");
  EXPECT_EQ(maps(problem(256, 520), "tile = 128x256x64"),
            "a 64x128 b 64x256 b+ 64x256 d 64x64");
  // One copy for each K block.
  EXPECT_EQ(maps(problem(100, 264),
                 "tile = 64x128x64, consumers = 1 cooperative, stages = 3, "
                 "kblocks_per_stage = 2, regs = [0, 0], store = vector"),
            "a 64x64x2 b 64x128x2 a+ 64x64x1 b+ 64x128x1");
}

TEST(KernelInterface, SharedAndShortenedCopiesKeepOneMap) {
  Schedule shared = schedule("tile = 128x128x64, cluster = 2x1 multicast b");
  EXPECT_FALSE(copiesLastRows(problem(100, 100), shared, Operand::A));
  EXPECT_FALSE(copiesLastRows(problem(100, 100), shared, Operand::B));
  Schedule few = schedule("tile = 64x32x64, consumers = 1 cooperative, "
                          "regs = [0, 0], load_rows = 16");
  EXPECT_FALSE(copiesLastRows(problem(13, 100), few, Operand::A));
  EXPECT_TRUE(copiesLastRows(problem(13, 100), few, Operand::B));
  Schedule registers =
      schedule("tile = 8x16x64, consumers = 4 cooperative, stages = 1, "
               "form = register, store = vector, persistent = false");
  EXPECT_FALSE(copiesLastRows(problem(3, 100), registers, Operand::A));
}
