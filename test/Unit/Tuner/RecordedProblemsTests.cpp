// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/RecordedProblems.h"

#include <gtest/gtest.h>

using dgemm::tuner::parseRecorded;

TEST(RecordedProblemsTest, EachOnceInOrderWithoutATornLine) {
  auto read = parseRecorded("{\"gemm\": \"m=1,n=2,k=3\"}\n"
                            "{\"gemm\": \"m=?,n=8,k=8\"}\n"
                            "{\"gemm\": \"m=1,n=2,k=3\"}\n"
                            "{\"gemm\": \"m=9,");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, (std::vector<std::string>{"m=1,n=2,k=3", "m=?,n=8,k=8"}));
}

TEST(RecordedProblemsTest, BadLinesAreNamed) {
  EXPECT_NE(parseRecorded("{\"gemm\": \"m=1\"}\n[]\n").message().find("line 2"),
            std::string::npos);
  EXPECT_NE(parseRecorded("{\"gemm\": 3}\n").message().find("line 1"),
            std::string::npos);
  EXPECT_EQ(parseRecorded("").message(), "no problems");
}
