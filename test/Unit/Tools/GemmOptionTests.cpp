// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes and strides of one launch.

#include "dgemm/Tools/GemmOption.h"

#include <gtest/gtest.h>

using namespace dgemm;

static GemmText parse(const std::string &text) {
  Result<GemmText> gemm = parseGemm(text);
  EXPECT_TRUE(gemm) << gemm.message();
  return gemm ? *gemm : GemmText();
}

TEST(GemmOption, RowsArePaddedUnlessPackedOrNamed) {
  Result<LaunchSizes> padded = launchSizes(parse("m=3,n=13,k=37"));
  ASSERT_TRUE(padded) << padded.message();
  EXPECT_EQ(padded->lda, 40);
  EXPECT_EQ(padded->ldd, 16);
  Result<LaunchSizes> packed = launchSizes(parse("m=3,n=13,k=37,packed"));
  ASSERT_TRUE(packed) << packed.message();
  EXPECT_EQ(packed->lda, 37);
  EXPECT_EQ(packed->ldb, 37);
  EXPECT_EQ(packed->ldd, 13);
  Result<LaunchSizes> named =
      launchSizes(parse("m=3,n=13,k=37,packed,lda=64,ldd=24"));
  ASSERT_TRUE(named) << named.message();
  EXPECT_EQ(named->lda, 64);
  EXPECT_EQ(named->ldb, 37);
  EXPECT_EQ(named->ldd, 24);
}

TEST(GemmOption, ShortRowsAreRefused) {
  EXPECT_EQ(launchSizes(parse("m=3,n=13,k=37,ldb=36")).message(),
            "gemm field 'ldb': expected at least the row length 37, found 36");
}

TEST(GemmOption, OpenSizesNeedValues) {
  GemmText gemm = parse("m=?,n=16,k=64");
  EXPECT_EQ(launchSizes(gemm).message(),
            "size m is left open by the problem; give --m=");
  SizeOverrides overrides;
  overrides.m = 5;
  Result<LaunchSizes> sizes = launchSizes(gemm, overrides);
  ASSERT_TRUE(sizes) << sizes.message();
  EXPECT_EQ(sizes->m, 5);
  overrides.n = 17;
  EXPECT_EQ(launchSizes(gemm, overrides).message(),
            "size n: the problem has 16, found 17");
}

TEST(GemmOption, DynamicDims) {
  Problem p = parse("m=8,n=16,k=64").problem;
  Result<Problem> open = withDynamicDims(p, "mk");
  ASSERT_TRUE(open) << open.message();
  EXPECT_EQ(open->m, kDynamic);
  EXPECT_EQ(open->n, 16);
  EXPECT_EQ(open->k, kDynamic);
  EXPECT_FALSE(withDynamicDims(p, "mx"));
}

TEST(GemmOption, WorkAndTraffic) {
  GemmText gemm = parse("m=100,n=300,k=1000,a=e4m3,b=e4m3,d=bf16,"
                        "scale_a=1x128,scale_b=128x128");
  LaunchSizes sizes = *launchSizes(gemm);
  EXPECT_EQ(flops(sizes), 6e7);
  EXPECT_EQ(minimalBytes(gemm.problem, sizes),
            100 * 1000 + 300 * 1000 + 2 * 100 * 300 + 4 * (100 * 8 + 3 * 8));
}
