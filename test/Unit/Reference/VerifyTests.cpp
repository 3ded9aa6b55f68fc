// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The float64 reference against hand-computed values and against itself
// computed the slow way; every kind of fault has to be found.

#include "dgemm/Reference/Verify.h"

#include "dgemm/Reference/Numerics.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dgemm;

static HostOperands make(const Problem &p, int64_t m, int64_t n, int64_t k) {
  auto made = makeOperands(p, defaultSizes(p, m, n, k), 11);
  EXPECT_TRUE(made) << made.message();
  return std::move(*made);
}

/// Writes the right result, rounded to D's type.
static void solve(HostOperands &operands) {
  for (int64_t r = 0; r < operands.sizes.m; ++r)
    for (int64_t c = 0; c < operands.sizes.n; ++c)
      operands.d.set(r, c, float(referenceElement(operands, r, c)));
}

static Problem blockScaled() {
  Problem p;
  p.a = p.b = DType::F8E4M3FN;
  p.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
  p.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  return p;
}

TEST(Reference, HandComputed) {
  Problem p;
  p.d = DType::F32;
  p.accumulate = true;
  HostOperands o = make(p, 1, 1, 2);
  o.a.set(0, 0, 2);
  o.a.set(0, 1, 3);
  o.b.set(0, 0, 5);
  o.b.set(0, 1, -7);
  o.c.set(0, 0, 100);
  EXPECT_EQ(referenceElement(o, 0, 0), 100 + 10 - 21);
  EXPECT_EQ(referenceElement(o, 0, 0, 2.0f, 0.5f), 50 + 2 * (10 - 21));
}

TEST(Reference, ScalesChangeAtTheirBlocks) {
  Problem p = blockScaled();
  p.d = DType::F32;
  HostOperands o = make(p, 1, 130, 256);
  for (int64_t k = 0; k < 256; ++k) {
    o.a.set(0, k, k == 127 || k == 128 ? 1.0f : 0.0f);
    o.b.set(129, k, 1);
  }
  o.scaleA.set(0, 0, 2);
  o.scaleA.set(0, 1, 3);
  o.scaleB.set(1, 0, 5);
  o.scaleB.set(1, 1, 7);
  EXPECT_EQ(referenceElement(o, 0, 129), 2 * 5 + 3 * 7);
}

TEST(Verify, AcceptsRightResultsOfEveryRecipe) {
  Problem bf16;
  Problem f32 = bf16;
  f32.d = DType::F32;
  Problem block = blockScaled();
  Problem major = block;
  major.scaleA.major = ScaleMajor::MN;
  major.accumulate = true;
  Problem row = block;
  row.scaleA = row.scaleB = {DType::F32, 1, 0, ScaleMajor::K};
  Problem odd = block;
  odd.scaleB = {DType::F8E8M0FNU, 96, 48, ScaleMajor::K};
  Problem nn = bf16, tt = bf16, tn = bf16;
  nn.layout = Layout::NN;
  tt.layout = Layout::TT;
  tn.layout = Layout::TN;
  Problem integers;
  integers.a = integers.b = DType::I8;
  integers.d = DType::I32;
  for (const Problem &p :
       {bf16, f32, block, major, row, odd, nn, tt, tn, integers}) {
    HostOperands o = make(p, 70, 133, 300);
    solve(o);
    VerifyResult r = verify(o, toleranceFor(p));
    EXPECT_TRUE(r.ok) << toString(p) << ": " << r.failure;
    EXPECT_EQ(r.checked, 70 * 133);
    EXPECT_EQ(r.total, 70 * 133);
    EXPECT_LT(r.relativeError, p.d == DType::BF16 ? 2e-3 : 1e-7);
  }
}

TEST(Verify, FewRoundedElementsMayScatter) {
  Problem p;
  for (DType type : {DType::BF16, DType::F16}) {
    p.d = type;
    for (int64_t m = 1; m <= 6; ++m)
      for (int64_t n = 1; n <= 9; ++n) {
        HostOperands o = make(p, m, n, 40);
        solve(o);
        const VerifyResult r = verify(o, toleranceFor(o.problem));
        EXPECT_TRUE(r.ok) << m << "x" << n << ": " << r.failure;
      }
  }
  p.m = p.n = 1;
  const double one = toleranceFor(p).frobenius;
  p.m = p.n = 4096;
  EXPECT_NEAR(toleranceFor(p).frobenius, 4e-4, 1e-6);
  EXPECT_EQ(one, 0x1p-11);
}

TEST(Verify, PositiveDataHasLimitsOfItsOwn) {
  Problem p;
  p.d = DType::F32;
  auto made =
      makeOperands(p, defaultSizes(p, 16, 24, 4096), 5, DataKind::Positive);
  ASSERT_TRUE(made) << made.message();
  HostOperands &o = *made;
  Tolerance limits = toleranceFor(o.problem, DataKind::Positive);
  EXPECT_GT(limits.frobenius, toleranceFor(o.problem).frobenius);
  // Every sum short by a few units, as truncation leaves it.
  for (int64_t r = 0; r < 16; ++r)
    for (int64_t c = 0; c < 24; ++c)
      o.d.set(r, c, float(referenceElement(o, r, c) * (1 - 1.5e-5)));
  EXPECT_TRUE(verify(o, limits).ok);
  EXPECT_FALSE(verify(o, toleranceFor(o.problem)).ok);
  // A missing K block of 64 of 4096 is no truncation.
  o.d.set(3, 4, float(referenceElement(o, 3, 4) * (1 - 64.0 / 4096)));
  VerifyResult r = verify(o, limits);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.mismatches, 1);
}

TEST(Verify, FindsOneWrongElement) {
  Problem p;
  HostOperands o = make(p, 65, 129, 64);
  solve(o);
  o.d.set(64, 128, o.d.at(64, 128) + 1.0f);
  VerifyResult r = verify(o, toleranceFor(p));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.mismatches, 1);
  EXPECT_EQ(r.badRow, 64);
  EXPECT_EQ(r.badCol, 128);
  EXPECT_NE(r.failure.find("first d[64,128]"), std::string::npos) << r.failure;
}

TEST(Verify, FindsAMissingScale) {
  Problem p = blockScaled();
  HostOperands o = make(p, 64, 128, 256);
  o.scaleA.set(3, 1, 1.0f);
  solve(o);
  o.scaleA.set(3, 1, 1.25f); // the result was computed with another scale
  VerifyResult r = verify(o, toleranceFor(p));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.badRow, 3);
}

TEST(Verify, FindsElementsNotWritten) {
  Problem p;
  HostOperands o = make(p, 8, 8, 16);
  solve(o);
  o.d.set(7, 7, std::nanf(""));
  VerifyResult r = verify(o, toleranceFor(p));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.nanCount, 1);
  EXPECT_EQ(r.mismatches, 1);
}

TEST(Verify, FindsWritesOutside) {
  Problem p;
  HostOperands o = make(p, 8, 13, 16);
  solve(o);
  storeElement(DType::BF16, o.d.data(), 13, 1.0f);
  VerifyResult r = verify(o, toleranceFor(p));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.guardViolations, 2);
  EXPECT_EQ(r.failure, "2 bytes outside d were overwritten");
}

TEST(Verify, SamplesLargeProblems) {
  Problem p;
  HostOperands o = make(p, 150, 140, 32);
  solve(o);
  VerifyOptions options;
  options.fullLimit = 1000;
  options.rows = 4;
  options.cols = 3;
  options.blockSize = 20;
  VerifyResult r = verify(o, toleranceFor(p), options);
  EXPECT_TRUE(r.ok) << r.failure;
  // Whole rows, then whole columns without those rows, then the block.
  EXPECT_GE(r.checked, 4 * 140 + 146 * 3);
  EXPECT_LE(r.checked, 4 * 140 + 146 * 3 + 20 * 20);
  EXPECT_EQ(r.total, 150 * 140);
  // The last row and column are always among them.
  o.d.set(149, 70, 1e3f);
  EXPECT_FALSE(verify(o, toleranceFor(p), options).ok);
  solve(o);
  o.d.set(70, 139, 1e3f);
  EXPECT_FALSE(verify(o, toleranceFor(p), options).ok);
}

TEST(Verify, EmptySizes) {
  Problem p;
  p.accumulate = true;
  HostOperands k0 = make(p, 5, 9, 0);
  solve(k0);
  EXPECT_EQ(k0.d.at(4, 8), k0.c.at(4, 8));
  EXPECT_TRUE(verify(k0, toleranceFor(p)).ok);
  HostOperands m0 = make(p, 0, 9, 16);
  VerifyResult r = verify(m0, toleranceFor(p));
  EXPECT_TRUE(r.ok) << r.failure;
  EXPECT_EQ(r.total, 0);
}
