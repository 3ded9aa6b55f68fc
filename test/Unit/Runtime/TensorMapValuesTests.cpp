// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps of every operand kind, worked out by hand, and every rule of the
// encoder.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <gtest/gtest.h>

using namespace dgemm;

namespace {
class TensorMapValuesTest : public ::testing::Test {
protected:
  TensorMapValuesTest() {
    recipe.dims = {{Symbol::K, 1, 1}, {Symbol::M, 1, 1}};
    recipe.strides = {{Symbol::LdA, 1, 1}};
    recipe.box = {64, 128};
    recipe.swizzle = 128;
    sizes.m = 100;
    sizes.n = 50;
    sizes.k = 300;
    sizes.lda = 304;
    operands.a = 0x1000;
    operands.d = 0x4000;
    operands.scaleA = 0x5000;
  }

  Result<TensorMapValues> values() {
    return evaluateTensorMap(recipe, sizes, operands);
  }

  void expectError(const std::string &expected) {
    Result<TensorMapValues> result = values();
    ASSERT_FALSE(result.ok()) << expected;
    EXPECT_NE(result.message().find(expected), std::string::npos)
        << result.message();
  }

  TensorMapRecipe recipe;
  LaunchSizes sizes;
  LaunchOperands operands;
};
} // namespace

TEST_F(TensorMapValuesTest, Bf16Operand) {
  Result<TensorMapValues> map = values();
  ASSERT_TRUE(map.ok()) << map.message();
  EXPECT_EQ(map->operand, Operand::A);
  EXPECT_EQ(map->base, 0x1000u);
  EXPECT_EQ(map->dims, (std::vector<uint64_t>{300, 100}));
  EXPECT_EQ(map->stridesBytes, (std::vector<uint64_t>{608}));
  EXPECT_EQ(map->box, (std::vector<uint32_t>{64, 128}));
  EXPECT_EQ(map->swizzle, 128);
  EXPECT_EQ(map->l2Promotion, 128);
}

TEST_F(TensorMapValuesTest, SeveralKBlocksPerBox) {
  // {128 bytes, rows, K / 128 bytes}: one box holds several K blocks.
  recipe.type = DType::F8E4M3FN;
  recipe.dims = {{Symbol::One, 1, 128}, {Symbol::M, 1, 1}, {Symbol::K, 128, 1}};
  recipe.strides = {{Symbol::LdA, 1, 1}, {Symbol::One, 1, 128}};
  recipe.box = {128, 64, 2};
  Result<TensorMapValues> map = values();
  ASSERT_TRUE(map.ok()) << map.message();
  EXPECT_EQ(map->dims, (std::vector<uint64_t>{128, 100, 3}));
  EXPECT_EQ(map->stridesBytes, (std::vector<uint64_t>{304, 128}));
}

TEST_F(TensorMapValuesTest, LastRows) {
  recipe.lastRows = true;
  EXPECT_EQ(values()->box[1], 100u); // less than one box
  sizes.m = 128;
  EXPECT_EQ(values()->box[1], 128u); // nothing is left: never used
  sizes.m = 257;
  EXPECT_EQ(values()->box[1], 1u);
  sizes.m = 0;
  EXPECT_EQ(values()->box[1], 1u);
  recipe.dims.resize(1);
  recipe.strides.clear();
  recipe.box.resize(1);
  expectError("rank: expected 2 to 5 for a map of the last rows, found 1");
}

TEST_F(TensorMapValuesTest, ScalesInMMajorOrder) {
  recipe.operand = Operand::ScaleA;
  recipe.type = DType::F32;
  recipe.dims = {{Symbol::M, 1, 1}, {Symbol::K, 128, 1}};
  recipe.strides = {{Symbol::LdScaleA, 1, 1}};
  recipe.box = {128, 1};
  recipe.swizzle = 0;
  sizes.ldScaleA = 100;
  Result<TensorMapValues> map = values();
  ASSERT_TRUE(map.ok()) << map.message();
  EXPECT_EQ(map->base, 0x5000u);
  EXPECT_EQ(map->dims, (std::vector<uint64_t>{100, 3}));
  EXPECT_EQ(map->stridesBytes, (std::vector<uint64_t>{400}));
}

TEST_F(TensorMapValuesTest, EmptyDimensionsAreClamped) {
  sizes.k = 0;
  sizes.lda = 0;
  operands.a = 0;
  Result<TensorMapValues> map = values();
  ASSERT_TRUE(map.ok()) << map.message();
  EXPECT_EQ(map->dims, (std::vector<uint64_t>{1, 100}));
  EXPECT_EQ(map->stridesBytes, (std::vector<uint64_t>{16}));
  EXPECT_EQ(map->base, 0x4000u); // never loaded; any valid address
}

TEST_F(TensorMapValuesTest, BrokenRules) {
  TensorMapRecipe good = recipe;
  recipe.box = {64, 257};
  expectError("tensor map of a: box[1]: expected 1 to 256 elements, found 257");
  recipe.box = {64, 0};
  expectError("box[1]: expected 1 to 256");
  recipe.box = {60, 128};
  expectError("box[0]: expected a multiple of 16 bytes, found 120");
  recipe.box = {128, 128};
  expectError(
      "box[0]: expected at most the swizzle span of 128 bytes, found 256");
  recipe.box = {64};
  expectError("box: expected 2 extents, found 1");
  recipe = good;
  recipe.strides.clear();
  expectError("strides: expected 1, found 0");
  recipe = good;
  recipe.dims.clear();
  expectError("rank: expected 1 to 5, found 0");
  recipe = good;
  recipe.swizzle = 96;
  expectError("swizzle: expected 0, 32, 64 or 128 bytes, found 96");
  recipe = good;
  recipe.l2Promotion = 32;
  expectError("L2 promotion: expected 0, 64, 128 or 256 bytes, found 32");
  recipe = good;
  recipe.type = DType::None;
  expectError("type: expected an element type");
}

TEST_F(TensorMapValuesTest, BrokenLaunchValues) {
  sizes.lda = 303;
  expectError("strides[0]: expected a multiple of 16 bytes, found 606");
  sizes.lda = int64_t(1) << 39;
  expectError("strides[0]: expected 0 to 549755813887 elements");
  sizes.lda = -8;
  expectError("strides[0]: expected 0 to");
  sizes.lda = 304;
  sizes.k = int64_t(1) << 32;
  expectError("dims[0]: expected 0 to 4294967295 elements, found 4294967296");
  sizes.k = 300;
  operands.a = 0x1004;
  expectError("base address: expected a multiple of 16 bytes, found 4100");
  operands.a = 0;
  expectError("base address: expected an address, found 0");
}
