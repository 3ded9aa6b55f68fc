// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that end well, badly, never, or cannot be started.

#include "dgemm/Support/Subprocess.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace dgemm;

TEST(Subprocess, CapturesOutputAndExitCode) {
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 30);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->exitCode, 3);
  EXPECT_EQ(result->output, "out\nerr\n");
  EXPECT_FALSE(result->timedOut);
}

TEST(Subprocess, ArgumentsReachTheProgramUnchanged) {
  Result<ProcessResult> result =
      runProcess({"printf", "%s|", "a b", "$HOME", "'q'", ""}, 30);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->output, "a b|$HOME|'q'||");
}

TEST(Subprocess, StandardInputIsEmpty) {
  Result<ProcessResult> result = runProcess({"cat"}, 30);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->output, "");
  EXPECT_FALSE(result->timedOut);
}

TEST(Subprocess, LargeOutput) {
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "head -c 1000000 /dev/zero"}, 30);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->output.size(), 1000000u);
}

TEST(Subprocess, SignalsAreTold) {
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "kill -9 $$"}, 30);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->exitCode, 128 + 9);
  EXPECT_FALSE(result->timedOut);
}

TEST(Subprocess, TimeLimitEndsChildrenToo) {
  auto start = std::chrono::steady_clock::now();
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "echo begun; sleep 60 & sleep 60"}, 0.5);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_TRUE(result->timedOut);
  EXPECT_EQ(result->output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Subprocess, TimeLimitHoldsWithoutOutput) {
  // The pipe closes at once, the program goes on.
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "exec >&- 2>&-; sleep 60"}, 0.5);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_TRUE(result->timedOut);
}

TEST(Subprocess, CannotStart) {
  EXPECT_EQ(runProcess({"/no/such/program"}, 1).message(),
            "cannot start '/no/such/program': No such file or directory");
  EXPECT_FALSE(runProcess({}, 1).ok());
  EXPECT_FALSE(runProcess({""}, 1).ok());
  EXPECT_FALSE(runProcess({"/tmp"}, 1).ok());
}
