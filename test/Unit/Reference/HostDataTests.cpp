// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Host matrices: shapes, poison, guards, seeded data.

#include "dgemm/Reference/HostData.h"

#include "dgemm/Reference/Numerics.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <string>

using namespace dgemm;

static Problem blockScaled() {
  Problem p;
  p.a = p.b = DType::F8E4M3FN;
  p.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
  p.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  return p;
}

TEST(HostMatrix, PoisonGuardsAndTails) {
  auto made = HostMatrix::create("d", DType::BF16, 3, 5, 8, HostMatrix::kGuard);
  ASSERT_TRUE(made) << made.message();
  HostMatrix &d = *made;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(d.data()) % HostMatrix::kAlignment, 0u);
  EXPECT_EQ(d.dataBytes(), 3 * 8 * 2);
  EXPECT_EQ(d.countNaN(), 15);
  EXPECT_EQ(d.guardViolations(), 0);
  d.set(2, 4, 1.5f);
  EXPECT_EQ(d.at(2, 4), 1.5f);
  EXPECT_EQ(d.countNaN(), 14);
  EXPECT_EQ(d.guardViolations(), 0);
  d.data()[5 * 2] = 0;               // first byte of row 0's tail
  d.data()[-1] = 0;                  // last byte of the front guard
  d.data()[d.dataBytes()] = 0;       // first byte of the back guard
  d.allBytes()[d.allSize() - 1] = 0; // its last byte
  EXPECT_EQ(d.guardViolations(), 4);
}

TEST(HostMatrix, RefusesImpossibleShapes) {
  EXPECT_EQ(HostMatrix::create("a", DType::BF16, 2, 5, 4, 0).message(),
            "operand a: expected a row length of at least 5 elements, found 4");
  EXPECT_FALSE(HostMatrix::create("a", DType::BF16, -1, 5, 8, 0));
  auto huge =
      HostMatrix::create("b", DType::F32, INT32_MAX, INT32_MAX, INT32_MAX, 0);
  ASSERT_FALSE(huge);
  EXPECT_NE(huge.message().find("operand b"), std::string::npos);
  EXPECT_NE(huge.message().find("memory"), std::string::npos);
}

TEST(HostOperands, ShapesOfScales) {
  Problem p = blockScaled();
  LaunchSizes sizes = defaultSizes(p, 100, 300, 1000);
  StoredShape a = storedShape(p, sizes, Operand::ScaleA);
  EXPECT_EQ(a.rows, 100);
  EXPECT_EQ(a.cols, 8);
  StoredShape b = storedShape(p, sizes, Operand::ScaleB);
  EXPECT_EQ(b.rows, 3);
  EXPECT_EQ(b.cols, 8);
  p.scaleA.major = ScaleMajor::MN;
  a = storedShape(p, sizes, Operand::ScaleA);
  EXPECT_EQ(a.rows, 8);
  EXPECT_EQ(a.cols, 100);
  p.scaleA = {DType::F32, 0, 0, ScaleMajor::K};
  a = storedShape(p, sizes, Operand::ScaleA);
  EXPECT_EQ(a.rows, 1);
  EXPECT_EQ(a.cols, 1);
}

TEST(HostOperands, TransposedLayouts) {
  Problem p;
  LaunchSizes sizes;
  sizes.m = 10;
  sizes.n = 20;
  sizes.k = 30;
  auto shape = [&](Layout layout, Operand operand) {
    p.layout = layout;
    StoredShape s = storedShape(p, sizes, operand);
    return std::pair(s.rows, s.cols);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(shape(Layout::NT, Operand::A), Pair(10, 30));
  EXPECT_EQ(shape(Layout::TN, Operand::A), Pair(30, 10));
  EXPECT_EQ(shape(Layout::NT, Operand::B), Pair(20, 30));
  EXPECT_EQ(shape(Layout::NN, Operand::B), Pair(30, 20));
}

TEST(HostOperands, SeedsDecideTheBits) {
  Problem p = blockScaled();
  LaunchSizes sizes = defaultSizes(p, 33, 40, 130);
  auto one = makeOperands(p, sizes, 7), again = makeOperands(p, sizes, 7),
       other = makeOperands(p, sizes, 8);
  ASSERT_TRUE(one && again && other);
  auto same = [](const HostMatrix &x, const HostMatrix &y) {
    return std::memcmp(x.data(), y.data(), size_t(x.dataBytes())) == 0;
  };
  EXPECT_TRUE(same(one->a, again->a));
  EXPECT_TRUE(same(one->scaleA, again->scaleA));
  EXPECT_FALSE(same(one->a, other->a));
  EXPECT_FALSE(same(one->scaleB, other->scaleB));
  EXPECT_EQ(one->a.countNaN(), 0);
  EXPECT_EQ(one->d.countNaN(), 33 * 40);
}

TEST(HostOperands, NoRowComesTwice) {
  Problem p;
  LaunchSizes sizes = defaultSizes(p, 64, 64, 16);
  auto made = makeOperands(p, sizes, 1);
  ASSERT_TRUE(made) << made.message();
  std::set<std::string> rows;
  for (const HostMatrix *matrix : {&made->a, &made->b})
    for (int64_t r = 0; r < 64; ++r) {
      const char *row =
          reinterpret_cast<const char *>(matrix->data()) + r * 16 * 2;
      rows.insert(std::string(row, 16 * 2));
    }
  EXPECT_EQ(rows.size(), 128u);
}

TEST(HostOperands, ValuesLookNormal) {
  Problem p;
  LaunchSizes sizes = defaultSizes(p, 256, 8, 512);
  auto made = makeOperands(p, sizes, 3);
  ASSERT_TRUE(made) << made.message();
  double sum = 0, squares = 0;
  for (int64_t r = 0; r < 256; ++r)
    for (int64_t c = 0; c < 512; ++c) {
      sum += made->a.at(r, c);
      squares += made->a.at(r, c) * made->a.at(r, c);
    }
  double count = 256 * 512;
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
  auto positive = makeOperands(p, sizes, 3, DataKind::Positive);
  ASSERT_TRUE(positive);
  for (int64_t c = 0; c < 512; ++c)
    EXPECT_GE(positive->a.at(0, c), 0);
}

TEST(HostOperands, ScalesArePositiveAndInputTailsAreNaN) {
  Problem p = blockScaled();
  p.scaleB.type = DType::F8E8M0FNU;
  LaunchSizes sizes = defaultSizes(p, 5, 260, 250);
  ASSERT_EQ(sizes.lda, 256);
  auto made = makeOperands(p, sizes, 1);
  ASSERT_TRUE(made) << made.message();
  for (int64_t r = 0; r < 5; ++r)
    for (int64_t c = 0; c < 2; ++c) {
      EXPECT_GE(made->scaleA.at(r, c), 0.25f);
      EXPECT_LE(made->scaleA.at(r, c), 4.0f);
    }
  float power = made->scaleB.at(2, 1);
  EXPECT_EQ(std::exp2(std::round(std::log2(power))), power);
  EXPECT_TRUE(std::isnan(loadElement(DType::F8E4M3FN, made->a.data(), 250)));
  EXPECT_FALSE(std::isnan(loadElement(DType::F8E4M3FN, made->a.data(), 249)));
}

TEST(HostOperands, ResettingPoisonsTheOutput) {
  Problem p;
  p.accumulate = true;
  auto made = makeOperands(p, defaultSizes(p, 4, 8, 8), 1);
  ASSERT_TRUE(made) << made.message();
  EXPECT_NE(made->addresses().c, 0u);
  EXPECT_EQ(made->addresses().scaleA, 0u);
  made->d.set(0, 0, 1);
  made->d.data()[-3] = 0;
  made->resetOutput();
  EXPECT_EQ(made->d.countNaN(), 32);
  EXPECT_EQ(made->d.guardViolations(), 0);
}
