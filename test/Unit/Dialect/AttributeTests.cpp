// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The plain structs survive a trip through attributes and their text: every
// schedule of several search spaces, and many problems.

#include "dgemm/CostModel/SearchSpace.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/AsmParser/AsmParser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::dgemm;

namespace {

class Attributes : public testing::Test {
protected:
  Attributes() { context.loadDialect<DgemmDialect>(); }

  /// The attribute that `attribute` is after printing and parsing.
  template <typename Attr> Attr again(Attr attribute) {
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    return dyn_cast_or_null<Attr>(parseAttribute(text, &context));
  }

  MLIRContext context;
};

std::vector<::dgemm::Problem> someProblems() {
  using ::dgemm::DType;
  std::vector<::dgemm::Problem> problems;
  for (int64_t m : {1, 64, 4096})
    for (bool fp8 : {false, true}) {
      ::dgemm::Problem problem;
      problem.m = m;
      problem.n = 2112;
      problem.k = 7168;
      if (fp8) {
        problem.a = problem.b = DType::F8E4M3FN;
        problem.scaleA = {DType::F32, 1, 128, ::dgemm::ScaleMajor::MN};
        problem.scaleB = {DType::F32, 128, 128, ::dgemm::ScaleMajor::K};
      }
      problems.push_back(problem);
    }
  return problems;
}

TEST_F(Attributes, EveryScheduleSurvives) {
  ::dgemm::DeviceModel device;
  ::dgemm::SearchOptions options;
  options.threeConsumers = options.untriedTiles = options.clusters = true;
  options.splitK = options.swapAB = options.severalKBlocks = true;
  options.severalCtas = options.allStages = options.allRasterGroups = true;
  size_t count = 0;
  for (const ::dgemm::Problem &problem : someProblems())
    ::dgemm::enumerateSchedules(
        problem, device, options,
        [&](const ::dgemm::Schedule &schedule) {
          // One in seven is enough to see every field with several values.
          if (count++ % 7 != 0)
            return true;
          auto attribute = ScheduleAttr::getChecked(
              [&] { return emitError(UnknownLoc::get(&context)); }, &context,
              schedule);
          EXPECT_TRUE(attribute) << ::dgemm::toString(schedule);
          if (!attribute)
            return false;
          EXPECT_TRUE(attribute.getValue() == schedule);
          EXPECT_EQ(again(attribute), attribute) << ::dgemm::toString(schedule);
          return true;
        },
        {});
  EXPECT_GT(count, 100u);
}

TEST_F(Attributes, EqualSchedulesAreOneAttribute) {
  ::dgemm::Schedule left, right;
  EXPECT_EQ(ScheduleAttr::get(&context, left),
            ScheduleAttr::get(&context, right));
  right.stages = 3;
  EXPECT_NE(ScheduleAttr::get(&context, left),
            ScheduleAttr::get(&context, right));
}

TEST_F(Attributes, ProblemsSurvive) {
  using ::dgemm::DType;
  for (::dgemm::Problem problem : someProblems())
    for (bool flag : {false, true})
      for (DType type : {DType::BF16, DType::F32}) {
        problem.d = type;
        problem.accumulate = flag;
        problem.fastAccumulate = flag && problem.fp8();
        problem.m = flag ? ::dgemm::kDynamic : 0;
        auto attribute = ProblemAttr::get(&context, problem);
        EXPECT_EQ(again(attribute), attribute) << ::dgemm::toString(problem);
        EXPECT_TRUE(attribute.getValue() == problem);
      }
}

TEST_F(Attributes, ScheduleTextOfACommandLine) {
  std::string heard;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    heard += diagnostic.str();
    return success();
  });
  auto complain = [&] { return emitError(UnknownLoc::get(&context)); };
  auto good = ScheduleAttr::parseText(&context, "tile = 128x64x64, stages = 5",
                                      complain);
  ASSERT_TRUE(good);
  EXPECT_EQ(good.getValue().stages, 5);
  EXPECT_EQ(heard, "");
  EXPECT_FALSE(ScheduleAttr::parseText(&context,
                                       "tile = 128x64x64, clutser = "
                                       "2x1",
                                       complain));
  EXPECT_NE(heard.find("nearest known one is 'cluster'"), std::string::npos)
      << heard;
  EXPECT_FALSE(ScheduleAttr::parseText(&context, "", complain));
}

TEST_F(Attributes, TargetLimits) {
  auto complain = [&] { return emitError(UnknownLoc::get(&context)); };
  TargetAttr target = TargetAttr::forChip(&context, "sm_90a", 80, complain);
  ASSERT_TRUE(target);
  EXPECT_TRUE(target.getLimits() == ::dgemm::TargetLimits());
}

} // namespace
