// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Problem sets: expansion, errors, and that the shipped files are readable.

#include "dgemm/Tools/ProblemSet.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(ProblemSet, ExpandsRecipesAndShapes) {
  Result<ProblemSet> set = parseProblemSet(R"({
    "name": "s", "l2": "clean",
    "recipes": {"z": "a=bf16,b=bf16,d=f32", "a": "a=e4m3,b=e4m3"},
    "shapes": [[1, 2, 3]], "m": [4, 5], "nk": [[6, 7]]})");
  ASSERT_TRUE(set) << set.message();
  EXPECT_EQ(set->l2, "clean");
  ASSERT_EQ(set->entries.size(), 6u);
  EXPECT_EQ(set->entries[0].text, "m=1,n=2,k=3,a=bf16,b=bf16,d=f32");
  EXPECT_EQ(set->entries[2].text, "m=5,n=6,k=7,a=bf16,b=bf16,d=f32");
  EXPECT_EQ(set->entries[3].recipe, "a");
  EXPECT_EQ(set->entries[3].gemm.problem.a, DType::F8E4M3FN);
}

TEST(ProblemSet, ErrorsNameTheField) {
  auto message = [](const char *json) {
    return parseProblemSet(json).message();
  };
  EXPECT_EQ(message("{"), "problem set: expected a JSON object");
  EXPECT_EQ(message("{}"), "problem set: field 'name' is missing");
  EXPECT_EQ(message(R"({"name": 3})"),
            "problem set: field 'name': expected a string, found 3");
  EXPECT_EQ(message(R"({"name": "s", "shapes": [[1, 2]]})"),
            "problem set: field 'shapes': expected arrays of 3 sizes of at "
            "least 0, found [1,2]");
  EXPECT_EQ(message(R"({"name": "s", "m": [-1]})"),
            "problem set: field 'm': expected sizes of at least 0, found -1");
  EXPECT_EQ(message(R"({"name": "s", "m": [1]})"),
            "problem set: no shapes; give 'shapes', or 'm' and 'nk'");
  EXPECT_EQ(message(R"({"name": "s", "shapes": [[1, 2, 3]]})"),
            "problem set: field 'recipes': expected an object of gemm texts");
  std::string bad = message(
      R"({"name": "s", "shapes": [[1, 2, 3]], "recipes": {"r": "q=1"}})");
  EXPECT_NE(bad.find("recipe 'r': unknown gemm field 'q'"), std::string::npos)
      << bad;
  EXPECT_EQ(readProblemSet("/no/such/file").message(),
            "cannot read '/no/such/file'");
}

TEST(ProblemSet, ShippedFilesAreReadable) {
  // ctest runs the unit tests from the top of the source tree.
  for (const char *name : {"deepseek-dense", "deepseek-decode", "llama3-70b",
                           "squares", "ragged"}) {
    Result<ProblemSet> set =
        readProblemSet(std::string("benchmarks/problems/") + name + ".json");
    ASSERT_TRUE(set) << set.message();
    EXPECT_EQ(set->name, name);
    EXPECT_GE(set->entries.size(), 10u);
  }
}
