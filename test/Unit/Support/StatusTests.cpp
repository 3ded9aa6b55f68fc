// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors as values.

#include "dgemm/Support/Status.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(Status, SuccessHasNoText) {
  EXPECT_TRUE(Status::success().ok());
  EXPECT_EQ(Status::success().message(), "");
}

TEST(Status, AnEmptyTextIsStillAnError) {
  EXPECT_FALSE(Status::error("").ok());
  EXPECT_EQ(Status::error("why").message(), "why");
}

TEST(Status, ResultHoldsEither) {
  Result<int> value = 3;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().ok());
  Result<int> failure = Status::error("no");
  EXPECT_FALSE(static_cast<bool>(failure));
  EXPECT_EQ(failure.message(), "no");
  EXPECT_EQ(failure.status().message(), "no");
}
