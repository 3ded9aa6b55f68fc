// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Spellings, size expressions, kernel selection and default row lengths.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(LaunchMetadata, SpellingsRoundTrip) {
  for (Operand operand : {Operand::A, Operand::B, Operand::C, Operand::D,
                          Operand::ScaleA, Operand::ScaleB, Operand::Workspace})
    EXPECT_EQ(*parseOperand(toString(operand)), operand);
  EXPECT_FALSE(parseOperand("e").ok());
  for (Symbol symbol :
       {Symbol::One, Symbol::M, Symbol::N, Symbol::K, Symbol::LdA, Symbol::LdB,
        Symbol::LdC, Symbol::LdD, Symbol::LdScaleA, Symbol::LdScaleB})
    EXPECT_EQ(*parseSymbol(toString(symbol)), symbol);
  EXPECT_FALSE(parseSymbol("ld").ok());
}

TEST(LaunchMetadata, EvaluatesExpressions) {
  LaunchSizes sizes;
  sizes.m = 100;
  sizes.k = 129;
  sizes.ldScaleB = 7;
  EXPECT_EQ(evaluate({Symbol::One, 1, 64}, sizes), 64);
  EXPECT_EQ(evaluate({Symbol::M, 1, 1}, sizes), 100);
  EXPECT_EQ(evaluate({Symbol::K, 128, 1}, sizes), 2);
  EXPECT_EQ(evaluate({Symbol::K, 128, 512}, sizes), 1024);
  EXPECT_EQ(evaluate({Symbol::LdScaleB, 1, 2}, sizes), 14);
  EXPECT_EQ(evaluate({Symbol::N, 128, 5}, sizes), 0);
}

TEST(LaunchMetadata, SelectsTheFirstRowThatHolds) {
  LaunchMetadata metadata;
  metadata.kernels.resize(3);
  metadata.dispatch = {{16, 0}, {64, 2}, {-1, 1}};
  EXPECT_EQ(*metadata.selectKernel(0), 0);
  EXPECT_EQ(*metadata.selectKernel(16), 0);
  EXPECT_EQ(*metadata.selectKernel(17), 2);
  EXPECT_EQ(*metadata.selectKernel(65), 1);
  metadata.dispatch.pop_back();
  EXPECT_NE(metadata.selectKernel(65).message().find("no kernel for m = 65"),
            std::string::npos);
  metadata.dispatch = {{-1, 3}};
  EXPECT_FALSE(metadata.selectKernel(1).ok());
}

TEST(LaunchMetadata, DefaultRowsArePaddedTo16Bytes) {
  Problem problem;
  LaunchSizes sizes = defaultSizes(problem, 5, 9, 17);
  EXPECT_EQ(sizes.lda, 24);
  EXPECT_EQ(sizes.ldb, 24);
  EXPECT_EQ(sizes.ldd, 16);
  EXPECT_EQ(sizes.ldc, 16);
  EXPECT_EQ(sizes.ldScaleA, 0);
  problem.layout = Layout::TN;
  sizes = defaultSizes(problem, 5, 9, 17);
  EXPECT_EQ(sizes.lda, 8);  // [K, M]
  EXPECT_EQ(sizes.ldb, 16); // [K, N]
  problem.d = DType::F32;
  EXPECT_EQ(defaultSizes(problem, 5, 9, 17).ldd, 12);
}

TEST(LaunchMetadata, DefaultRowsOfScales) {
  Problem problem;
  problem.a = problem.b = DType::F8E4M3FN;
  problem.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
  problem.scaleB = {DType::F32, 128, 128, ScaleMajor::MN};
  LaunchSizes sizes = defaultSizes(problem, 5, 900, 300);
  EXPECT_EQ(sizes.lda, 304);
  EXPECT_EQ(sizes.ldScaleA, 3);
  EXPECT_EQ(sizes.ldScaleB, 8);
  problem.scaleA = {DType::F32, 1, 128, ScaleMajor::MN};
  problem.scaleB = {DType::F32, 0, 0, ScaleMajor::K};
  sizes = defaultSizes(problem, 5, 900, 300);
  EXPECT_EQ(sizes.ldScaleA, 8);
  EXPECT_EQ(sizes.ldScaleB, 1);
  problem.scaleA.type = DType::F8E8M0FNU;
  EXPECT_EQ(defaultSizes(problem, 5, 900, 300).ldScaleA, 16);
}
