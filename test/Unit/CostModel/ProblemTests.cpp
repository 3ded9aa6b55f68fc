// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Problem text, types and rules.

#include "dgemm/CostModel/Problem.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(Problem, TypesRoundTrip) {
  for (DType type : {DType::BF16, DType::F16, DType::F32, DType::F8E4M3FN,
                     DType::F8E5M2, DType::F8E8M0FNU, DType::I8, DType::I32}) {
    Result<DType> parsed = parseDType(toString(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_EQ(*parseDType("e4m3"), DType::F8E4M3FN);
  EXPECT_EQ(*parseDType("ue8m0"), DType::F8E8M0FNU);
  EXPECT_NE(parseDType("si8").message().find("'si8'"), std::string::npos);
}

TEST(Problem, Sizes) {
  EXPECT_EQ(sizeOf(DType::F8E4M3FN), 1);
  EXPECT_EQ(sizeOf(DType::BF16), 2);
  EXPECT_EQ(sizeOf(DType::F32), 4);
  EXPECT_EQ(sizeOf(DType::None), 0);
}

TEST(Problem, CeilDiv) {
  EXPECT_EQ(ceilDiv(0, 128), 0);
  EXPECT_EQ(ceilDiv(1, 128), 1);
  EXPECT_EQ(ceilDiv(128, 128), 1);
  EXPECT_EQ(ceilDiv(129, 128), 2);
  EXPECT_EQ(ceilDiv(kDynamic, 128), kDynamic);
}

TEST(Problem, DeepSeekRecipeRoundTrips) {
  std::string text = "m=?,n=4096,k=7168,a=f8E4M3FN,b=f8E4M3FN,d=bf16,"
                     "scale_a=1x128,scale_b=128x128,layout=nt";
  Result<GemmText> gemm = parseGemm(text);
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  const Problem &problem = gemm->problem;
  EXPECT_EQ(problem.m, kDynamic);
  EXPECT_EQ(problem.n, 4096);
  EXPECT_EQ(problem.scaleA.rows, 1);
  EXPECT_EQ(problem.scaleA.cols, 128);
  EXPECT_EQ(problem.scaleA.type, DType::F32);
  EXPECT_TRUE(problem.scaleB.blockedAlongK());
  EXPECT_EQ(toString(problem), text);
}

TEST(Problem, EveryFieldRoundTrips) {
  std::string text =
      "m=5,n=6,k=7,a=f8E5M2,b=f8E4M3FN,d=f32,scale_a=row,"
      "scale_a_type=f8E8M0FNU,scale_a_major=mn,scale_b=tensor,layout=nt,"
      "accumulate=true,fast_accumulate=true";
  Result<GemmText> gemm = parseGemm(text);
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  EXPECT_TRUE(gemm->problem.scaleA.perRow());
  EXPECT_TRUE(gemm->problem.scaleB.perTensor());
  EXPECT_TRUE(gemm->problem.accumulate);
  EXPECT_EQ(toString(gemm->problem), text);
}

TEST(Problem, StridesAndSpaces) {
  Result<GemmText> gemm =
      parseGemm(" m=1, n=2 ,k=3,lda=8,ldb=16,ldc=24,ldd=32,packed");
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  EXPECT_EQ(gemm->lda, 8);
  EXPECT_EQ(gemm->ldb, 16);
  EXPECT_EQ(gemm->ldc, 24);
  EXPECT_EQ(gemm->ldd, 32);
  EXPECT_TRUE(gemm->packed);
}

TEST(Problem, BadTextNamesTheField) {
  struct {
    const char *text;
    const char *expected;
  } cases[] = {
      {"", "empty field"},
      {"m=4,,n=4", "empty field"},
      {"m", "expected key=value"},
      {"m=-3", "field 'm'"},
      {"m=4x", "field 'm'"},
      {"m=99999999999999999999", "field 'm'"},
      {"m=4294967296", "m: expected a size of at most 2147483647"},
      {"m=1,m=2", "given twice"},
      {"q=1", "unknown gemm field 'q'"},
      {"a=tf32", "field 'a'"},
      {"layout=xx", "field 'layout'"},
      {"scale_a=128", "field 'scale_a'"},
      {"scale_a=1x-2", "field 'scale_a'"},
      {"scale_a_type=f32", "needs 'scale_a'"},
      {"scale_b_major=q,scale_b=1x128", "field 'scale_b_major'"},
      {"lda=0", "field 'lda'"},
      {"accumulate=maybe", "field 'accumulate'"},
      {"a=bf16,b=f16", "found bf16 x f16"},
      {"a=i8,b=i8,d=bf16", "operand d: expected i32"},
      {"a=e4m3,b=e4m3,layout=nn", "layout: expected nt"},
      {"a=bf16,b=bf16,scale_a=1x128", "expected no scales"},
      {"a=e4m3,b=e4m3,scale_a=1x128,scale_a_type=bf16", "scale_a: expected"},
  };
  for (auto [text, expected] : cases) {
    Result<GemmText> gemm = parseGemm(text);
    ASSERT_FALSE(gemm.ok()) << text;
    EXPECT_NE(gemm.message().find(expected), std::string::npos)
        << text << ": " << gemm.message();
  }
}
