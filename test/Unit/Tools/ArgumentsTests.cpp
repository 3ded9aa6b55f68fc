// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Command-line options: values, defaults and what is refused.

#include "dgemm/Tools/Arguments.h"

#include <gtest/gtest.h>

using namespace dgemm;

namespace {
struct Options {
  std::string gemm = "none";
  int64_t seed = 1;
  double pause = 3;
  bool json = false;
  Arguments arguments{"[options] FILE"};

  Options() {
    arguments.add("gemm", gemm, "the problem");
    arguments.add("seed", seed, "of the random data");
    arguments.add("pause", pause, "milliseconds");
    arguments.add("json", json, "print JSON");
  }
  Status parse(std::vector<const char *> words) {
    words.insert(words.begin(), "tool");
    return arguments.parse(int(words.size()),
                           const_cast<char **>(words.data()));
  }
};
} // namespace

TEST(Arguments, ReadsEveryKind) {
  Options o;
  Status s = o.parse(
      {"--gemm=m=1,n=2", "--seed=-7", "in.mlir", "--json", "--pause=0.5"});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(o.gemm, "m=1,n=2");
  EXPECT_EQ(o.seed, -7);
  EXPECT_EQ(o.pause, 0.5);
  EXPECT_TRUE(o.json);
  EXPECT_EQ(o.arguments.positional(), std::vector<std::string>{"in.mlir"});
}

TEST(Arguments, DefaultsStay) {
  Options o;
  ASSERT_TRUE(o.parse({"--json=false"}).ok());
  EXPECT_EQ(o.gemm, "none");
  EXPECT_FALSE(o.json);
  EXPECT_FALSE(o.arguments.wantsHelp());
}

TEST(Arguments, Errors) {
  EXPECT_EQ(Options().parse({"--sed=3"}).message(),
            "unknown option --sed; did you mean --seed?");
  EXPECT_EQ(Options().parse({"--frobnicate"}).message(),
            "unknown option --frobnicate");
  EXPECT_EQ(Options().parse({"--seed=3x"}).message(),
            "option --seed: expected =a whole number, found '3x'");
  EXPECT_EQ(Options().parse({"--seed"}).message(),
            "option --seed: expected =a whole number, found none");
  EXPECT_EQ(Options().parse({"--json=yes"}).message(),
            "option --json: expected true, false or no value, found 'yes'");
}

TEST(Arguments, HelpListsTheOptions) {
  Options o;
  ASSERT_TRUE(o.parse({"--help"}).ok());
  EXPECT_TRUE(o.arguments.wantsHelp());
  std::string help = o.arguments.help("tool");
  EXPECT_NE(help.find("usage: tool [options] FILE"), std::string::npos);
  EXPECT_NE(help.find("--seed=N"), std::string::npos);
}
