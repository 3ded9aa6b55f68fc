// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Choices of the model: always legal, explained, quick, and as recorded for
// the benchmark shapes (a change of that record is meant to be seen).

#include "dgemm/CostModel/Selector.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>

using namespace dgemm;

static Problem problem(int64_t m, int64_t n, int64_t k, bool fp8) {
  Problem out;
  out.m = m;
  out.n = n;
  out.k = k;
  if (fp8) {
    out.a = out.b = DType::F8E4M3FN;
    out.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
    out.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  }
  return out;
}

static Selection select(const Problem &p, const SelectorOptions &options = {}) {
  Result<Selection> selection = selectSchedule(p, *findDevice("H200"), options);
  EXPECT_TRUE(selection.ok()) << toString(p) << ": " << selection.message();
  return selection.ok() ? *selection : Selection();
}

TEST(Selector, EveryChoiceIsLegal) {
  DeviceModel device = *findDevice("H200");
  for (bool fp8 : {false, true})
    for (int64_t m : {0, 1, 17, 64, 65, 128, 129, 700, 4096})
      for (int64_t n : {0, 1, 8, 100, 576, 2112, 24576})
        for (int64_t k : {0, 1, 130, 1536, 7168})
          for (DType d : {DType::BF16, DType::F32}) {
            Problem p = problem(m, n, k, fp8);
            p.d = d;
            Selection selection = select(p);
            EXPECT_TRUE(
                verifySchedule(p, selection.schedule, device.limits).empty())
                << toString(p) << ": " << toString(selection.schedule);
            EXPECT_GT(selection.cost.microseconds, 0);
          }
}

TEST(Selector, OtherRecipes) {
  DeviceModel device = *findDevice("H200");
  for (const char *text :
       {"m=4096,n=4096,k=4096,a=f16,b=f16,d=f16,layout=tn",
        "m=4096,n=4096,k=4096,layout=nn", "m=64,n=4096,k=4096,layout=tt",
        "m=4096,n=4096,k=4096,a=e5m2,b=e4m3,scale_a=tensor,scale_b=tensor",
        "m=4096,n=4096,k=4096,a=e4m3,b=e4m3,scale_a=row,scale_b=row,"
        "fast_accumulate",
        "m=4096,n=4096,k=4096,a=e4m3,b=e4m3,scale_a=1x32,scale_a_type=ue8m0,"
        "scale_b=1x32,scale_b_type=ue8m0",
        "m=4096,n=4096,k=4096,a=i8,b=i8,d=i32",
        "m=8,n=4096,k=4096,a=e4m3,b=e4m3,scale_a=1x128,scale_a_major=mn,"
        "scale_b=128x128"}) {
    Result<GemmText> gemm = parseGemm(text);
    ASSERT_TRUE(gemm.ok()) << gemm.message();
    Selection selection = select(gemm->problem);
    EXPECT_TRUE(verifySchedule(gemm->problem, selection.schedule, device.limits)
                    .empty())
        << text << ": " << toString(selection.schedule);
  }
}

/// Everything that has a switch switched off.
static SearchOptions plainSpace() {
  SearchOptions space;
  space.threeConsumers = space.clusters = space.splitK = space.swapAB = false;
  space.registerForm = false;
  space.severalKBlocks = space.severalCtas = false;
  return space;
}

TEST(Selector, OnlyWhatWasAskedFor) {
  SelectorOptions options;
  options.allowPingPong = false;
  Problem p = problem(4096, 24576, 1536, false);
  EXPECT_EQ(select(p).schedule.mode, ConsumerMode::PingPong);
  EXPECT_EQ(select(p, options).schedule.mode, ConsumerMode::Cooperative);
  SelectorOptions simple;
  simple.space = plainSpace();
  for (int64_t m : {1, 64, 128, 4096}) {
    Schedule schedule = select(problem(m, 7168, 2048, true), simple).schedule;
    EXPECT_EQ(schedule.form, Form::Plain);
    EXPECT_EQ(schedule.store, StoreKind::Tma);
    EXPECT_EQ(schedule.splitK, 1);
    EXPECT_EQ(schedule.clusterM * schedule.clusterN, 1);
    EXPECT_TRUE(schedule.persistent);
    EXPECT_EQ(schedule.mode, ConsumerMode::Cooperative);
  }
}

TEST(Selector, SmallMFillsTheDevice) {
  SelectorOptions simple;
  simple.space = plainSpace();
  Schedule schedule = select(problem(16, 2112, 7168, true), simple).schedule;
  EXPECT_EQ(schedule.tileM, 64);
  EXPECT_EQ(schedule.consumers, 1);
  EXPECT_EQ(ceilDiv(2112, schedule.tileN), 132);
  EXPECT_FALSE(schedule.usesSetMaxRegisters());
}

/// Where it was measured to win: one token's rows, at most a tile for each SM.
TEST(Selector, RegisterFormForTheSmallest) {
  for (bool fp8 : {false, true})
    for (int64_t m : {1, 8}) {
      Problem p = problem(m, 2112, 7168, fp8);
      Schedule schedule = select(p).schedule;
      EXPECT_EQ(schedule.form, Form::Register) << toString(p);
      EXPECT_EQ(schedule.tileM, 8);
      EXPECT_EQ(schedule.tileN, 16);
      EXPECT_TRUE(schedule.streamB);
      SelectorOptions without;
      without.space.registerForm = false;
      EXPECT_EQ(select(p, without).schedule.form, Form::SwapAB);
    }
  EXPECT_NE(select(problem(9, 2112, 7168, false)).schedule.form,
            Form::Register);
  EXPECT_NE(select(problem(1, 2128, 7168, false)).schedule.form,
            Form::Register);
  Schedule split = select(problem(1, 576, 7168, false)).schedule;
  EXPECT_EQ(split.form, Form::Register);
  EXPECT_EQ(split.splitK, 4);
}

TEST(Selector, Explains) {
  Selection selection = select(problem(4096, 4096, 7168, true));
  EXPECT_NE(selection.reason.find("predicted"), std::string::npos);
  EXPECT_NE(selection.reason.find("bound by "), std::string::npos);
  EXPECT_NE(selection.reason.find("waves on 132 SMs of H200"),
            std::string::npos);
  EXPECT_EQ(selection.alternatives.size(), 4u);
  EXPECT_FALSE(selection.rejected.empty());
  std::set<std::string> tiles = {toString(selection.schedule)};
  for (const auto &[schedule, text] : selection.alternatives) {
    EXPECT_TRUE(tiles.insert(toString(schedule)).second);
    EXPECT_NE(text.find("predicted"), std::string::npos);
  }
  for (const auto &[schedule, text] : selection.rejected)
    EXPECT_FALSE(text.empty());
}

TEST(Selector, Errors) {
  DeviceModel device = *findDevice("H200");
  Problem p = problem(kDynamic, 4096, 4096, false);
  EXPECT_NE(selectSchedule(p, device).message().find("m: expected a known"),
            std::string::npos);
  p.m = 64;
  p.b = DType::F16;
  EXPECT_NE(selectSchedule(p, device).message().find("operands a and b"),
            std::string::npos);
  // Scales that change every 48 elements fit no K block.
  Problem odd = problem(64, 4096, 4096, true);
  odd.scaleA.cols = 48;
  Result<Selection> none = selectSchedule(odd, device);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.message().find("no schedule fits"), std::string::npos);
  EXPECT_NE(none.message().find("48 K elements under one scale_a"),
            std::string::npos)
      << none.message();
  device.limits.sharedMemoryPerBlock = 1024;
  none = selectSchedule(problem(64, 64, 64, false), device);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.message().find("shared memory"), std::string::npos);
}

TEST(Selector, DispatchOverM) {
  for (bool fp8 : {false, true}) {
    Problem p = problem(kDynamic, 7168, 2048, fp8);
    Result<std::vector<std::pair<int64_t, Selection>>> rows =
        selectDispatch(p, *findDevice("H200"));
    ASSERT_TRUE(rows.ok()) << rows.message();
    ASSERT_GE(rows->size(), 3u);
    ASSERT_LE(rows->size(), 5u);
    EXPECT_EQ(rows->back().first, -1);
    int64_t last = 0;
    for (size_t i = 0; i + 1 < rows->size(); ++i) {
      EXPECT_GT((*rows)[i].first, last);
      last = (*rows)[i].first;
      EXPECT_FALSE(sameKernel((*rows)[i].second.schedule,
                              (*rows)[i + 1].second.schedule));
    }
  }
  SelectorOptions one;
  one.maxKernels = 1;
  EXPECT_EQ(selectDispatch(problem(kDynamic, 7168, 2048, true),
                           *findDevice("H200"), one)
                ->size(),
            1u);
  auto fixed =
      selectDispatch(problem(300, 7168, 2048, true), *findDevice("H200"));
  ASSERT_EQ(fixed->size(), 1u);
  EXPECT_EQ((*fixed)[0].first, -1);
  EXPECT_TRUE(selectDispatch(problem(kDynamic, kDynamic, kDynamic, true),
                             *findDevice("H200"))
                  .ok());
}

TEST(Selector, RunTimeMHasTheRegisterFormForFewRows) {
  auto rows =
      selectDispatch(problem(kDynamic, 2112, 7168, true), *findDevice("H200"));
  ASSERT_TRUE(rows.ok()) << rows.message();
  EXPECT_EQ(rows->front().first, 8);
  EXPECT_EQ(rows->front().second.schedule.form, Form::Register);
}

TEST(Selector, RunTimeMWithinARange) {
  Problem p = problem(kDynamic, 7168, 2048, true);
  DeviceModel device = *findDevice("H200");
  auto ends = [&](int64_t aboveM, int64_t maxM) {
    SelectorOptions options;
    options.aboveM = aboveM;
    options.maxM = maxM;
    std::vector<int64_t> found;
    auto rows = selectDispatch(p, device, options);
    EXPECT_TRUE(rows.ok()) << rows.message();
    for (const auto &[end, selection] : *rows)
      found.push_back(end);
    return found;
  };
  // Rows rise within the range and end where it does.
  for (auto [low, high] : {std::pair<int64_t, int64_t>{0, 40},
                           {64, 1000},
                           {100, -1},
                           {4096, -1},
                           {10000, -1}}) {
    std::vector<int64_t> found = ends(low, high);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back(), high);
    int64_t last = low;
    for (size_t i = 0; i + 1 < found.size(); ++i) {
      EXPECT_GT(found[i], last);
      last = found[i];
      if (high >= 0)
        EXPECT_LT(last, high);
    }
  }
  EXPECT_EQ(ends(0, 40), std::vector<int64_t>{40});
  EXPECT_EQ(ends(10000, -1), std::vector<int64_t>{-1});
}

TEST(Selector, RasterGroupRule) {
  Schedule schedule;
  schedule.tileN = 256;
  EXPECT_EQ(rasterGroup(problem(4096, 4096, 4096, false), schedule), 16);
  schedule.tileN = 176;
  EXPECT_EQ(rasterGroup(problem(4096, 4096, 7168, false), schedule), 8);
  EXPECT_EQ(rasterGroup(problem(4096, 24576, 1536, false), schedule), 32);
  EXPECT_EQ(rasterGroup(problem(100, 4096, 4096, false), schedule), 1);
  EXPECT_EQ(rasterGroup(problem(0, 4096, 4096, false), schedule), 1);
  schedule.clusterM = 2;
  EXPECT_EQ(rasterGroup(problem(3 * 128, 4096, 4096, false), schedule) % 2, 0);
}

TEST(Selector, WideSpacesSplitKInAnyNumberOfParts) {
  // 9 tiles of 64 columns: up to 8 parts fit on 132 SMs.
  Problem p = problem(32, 576, 7168, true);
  auto splits = [&](const SearchOptions &options) {
    std::set<int> found;
    enumerateSchedules(p, *findDevice("H200"), options,
                       [&](const Schedule &s) {
                         if (s.form == Form::SwapAB)
                           found.insert(s.splitK);
                         return true;
                       },
                       {});
    return found;
  };
  SearchOptions options;
  EXPECT_EQ(splits(options), (std::set<int>{1, 2, 4, 8}));
  options.allStages = true;
  EXPECT_EQ(splits(options), (std::set<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Selector, WholeSpaceIsRankedQuickly) {
  // Processor time, since other work on this machine must not fail the test;
  // the limits are several times what an idle core takes.
  SelectorOptions options;
  options.space.allStages = options.space.clusters = true;
  options.space.threeConsumers = options.space.untriedTiles = true;
  size_t count = 0;
  Problem p = problem(4096, 7168, 2048, true);
  enumerateSchedules(p, *findDevice("H200"), options.space,
                     [&](const Schedule &) { return ++count, true; }, {});
  EXPECT_GT(count, 500u);
  std::clock_t start = std::clock();
  select(p, options);
  double whole = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(whole, 0.2);
  start = std::clock();
  for (int i = 0; i < 10; ++i)
    select(p);
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, 0.2);
}

/// One line per benchmark problem: the problem, its schedule, the time.
static std::string record() {
  std::string out;
  int64_t shapes[][2] = {{2112, 7168}, {576, 7168},   {24576, 1536},
                         {32768, 512}, {7168, 16384}, {4096, 7168},
                         {7168, 2048}, {4096, 4096}};
  for (bool fp8 : {false, true})
    for (auto [n, k] : shapes)
      for (int64_t m : {1, 64, 128, 512, 4096}) {
        Selection selection = select(problem(m, n, k, fp8));
        char time[32];
        std::snprintf(time, sizeof(time), "%.1f us",
                      selection.cost.microseconds);
        out += std::string(fp8 ? "fp8 " : "bf16 ") + std::to_string(m) + "x" +
               std::to_string(n) + "x" + std::to_string(k) + ": " +
               toString(selection.schedule) + ": " + time + "\n";
      }
  return out;
}

TEST(Selector, GoldenRanking) {
  std::ifstream file("test/Unit/CostModel/golden-ranking.txt");
  std::string line, expected;
  while (std::getline(file, line))
    if (line.empty() || line[0] != '#')
      expected += line + "\n";
  // To accept a change, put this text into the file.
  EXPECT_EQ(record(), expected);
}
