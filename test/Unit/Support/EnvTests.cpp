// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of environment variables and its one reader.

#include "dgemm/Support/Env.h"
#include "dgemm/Support/Version.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace dgemm;

TEST(Env, ReadsListedVariables) {
  ASSERT_EQ(::setenv("DGEMM_DUMP_DIR", "/some/where", 1), 0);
  EXPECT_EQ(getEnv("DGEMM_DUMP_DIR"), "/some/where");
  ::unsetenv("DGEMM_DUMP_DIR");
  EXPECT_EQ(getEnv("DGEMM_DUMP_DIR"), "");
}

TEST(Env, IgnoresOthers) {
  ASSERT_EQ(::setenv("DGEMM_NO_SUCH_VARIABLE", "x", 1), 0);
  EXPECT_EQ(getEnv("DGEMM_NO_SUCH_VARIABLE"), "");
}

TEST(Env, EveryVariableIsExplainedOnce) {
  std::set<std::string> names;
  for (const EnvVariable &variable : environmentVariables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_NE(std::string(variable.meaning), "");
  }
}

TEST(Version, HasThreeNumbers) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(version(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_GE(major, 0);
}
