// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of a schedule: one schedule that keeps it, one that breaks it,
// and the nearest legal value that the hint names.

#include "dgemm/CostModel/Schedule.h"

#include <gtest/gtest.h>

using namespace dgemm;

static Problem bf16() {
  Problem problem;
  problem.m = problem.n = problem.k = 4096;
  return problem;
}

static Problem fp8() {
  Problem problem = bf16();
  problem.a = problem.b = DType::F8E4M3FN;
  problem.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
  problem.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  return problem;
}

static std::vector<ScheduleViolation> check(const Problem &problem,
                                            const std::string &text) {
  Result<Schedule> schedule = parseSchedule(text);
  EXPECT_TRUE(schedule.ok()) << schedule.message();
  if (!schedule)
    return {};
  return verifySchedule(problem, *schedule, TargetLimits());
}

static void expectLegal(const Problem &problem, const std::string &text) {
  for (const ScheduleViolation &violation : check(problem, text))
    ADD_FAILURE() << text << ": " << violation.message << " (" << violation.hint
                  << ")";
}

/// The schedule breaks a rule whose message and hint contain these parts.
static void expectViolation(const Problem &problem, const std::string &text,
                            const std::string &message,
                            const std::string &hint = "") {
  std::string all;
  for (const ScheduleViolation &violation : check(problem, text)) {
    if (violation.message.find(message) != std::string::npos &&
        violation.hint.find(hint) != std::string::npos)
      return;
    all += "\n  " + violation.message + " (" + violation.hint + ")";
  }
  ADD_FAILURE() << text << ": expected '" << message << "' with hint '" << hint
                << "', found:" << (all.empty() ? " nothing" : all);
}

TEST(VerifySchedule, MeasuredKernelsAreLegal) {
  expectLegal(bf16(), "tile = 128x256x64");
  expectLegal(bf16(), "tile = 256x128x64");
  expectLegal(bf16(), "tile = 128x176x64, consumers = 2 pingpong, stages = 5, "
                      "regs = [24, 240]");
  expectLegal(bf16(), "tile = 192x176x64, consumers = 3 cooperative, "
                      "regs = [32, 160]");
  expectLegal(bf16(), "tile = 64x128x64, consumers = 1 cooperative, "
                      "regs = [0, 0]");
  expectLegal(fp8(), "tile = 128x176x128, n_blocks = 2 overlapped, "
                     "promote = 128");
  expectLegal(fp8(), "tile = 128x224x128, n_blocks = 2 overlapped, stages = 3, "
                     "promote = 128, regs = [24, 240]");
  expectLegal(fp8(), "tile = 128x256x128, n_blocks = 2, promote = 128");
  expectLegal(fp8(), "tile = 256x128x128, stages = 3, promote = 128");
  expectLegal(bf16(), "tile = 128x256x64, stages = 4, "
                      "cluster = 2x1 multicast b");
  expectLegal(fp8(), "tile = 16x128x128, consumers = 2 cooperative, "
                     "promote = 128, form = swap_ab, store = vector");
}

TEST(VerifySchedule, TileExtents) {
  expectViolation(bf16(), "tile = 0x128x64", "tile M: expected 1 to 256",
                  "tile M = 1");
  expectViolation(bf16(), "tile = 512x128x64",
                  "tile M: expected 1 to 256, found 512", "tile M = 256");
  expectViolation(bf16(), "tile = 128x-8x64", "tile N: expected 1 to 256");
  expectViolation(bf16(), "tile = 128x2000000000x64",
                  "tile N: expected 1 to 256");
  expectViolation(bf16(), "tile = 128x100x64",
                  "tile N: expected a multiple of 8, found 100",
                  "tile N = 104");
  expectViolation(bf16(), "tile = 96x128x64",
                  "tile M: expected a multiple of 128", "tile M = 128");
  expectViolation(bf16(), "tile = 32x128x64, consumers = 1 cooperative",
                  "tile M: expected a multiple of 64", "tile M = 64");
  expectViolation(fp8(),
                  "tile = 128x168x128, n_blocks = 2 overlapped, "
                  "promote = 128",
                  "tile N: expected a multiple of 16, found 168",
                  "tile N = 176");
  expectViolation(bf16(), "tile = 128x128x72", "tile K: expected a multiple");
}

TEST(VerifySchedule, Swizzle) {
  expectViolation(bf16(), "tile = 128x128x32",
                  "swizzle of a: 128 bytes is wider than the box of 32 x 2 "
                  "bytes = 64 bytes",
                  "tile K = 64");
  expectViolation(bf16(), "tile = 128x128x128, stages = 2",
                  "swizzle of b: 128 bytes is different from", "tile K = 64");
  expectViolation(bf16(), "tile = 128x128x64, swizzle = [48, 128, 128]",
                  "swizzle of a: expected 0, 32, 64 or 128 bytes, found 48");
  expectViolation(bf16(), "tile = 128x128x64, swizzle = [0, 128, 128]",
                  "swizzle of a: 0 bytes is different from the box");
  expectViolation(bf16(), "tile = 128x32x64",
                  "swizzle of d: 128 bytes is wider than the box of 32 x 2",
                  "swizzle of d = 64");
  expectLegal(bf16(), "tile = 128x32x64, swizzle = [128, 128, 64]");
  expectLegal(bf16(), "tile = 128x128x32, swizzle = [64, 64, 128]");
  Problem transposed = bf16();
  transposed.layout = Layout::NN;
  expectLegal(transposed, "tile = 128x128x64");
  expectViolation(transposed, "tile = 128x96x64",
                  "swizzle of b: 128 bytes does not divide");
}

TEST(VerifySchedule, StagesAndThreads) {
  expectViolation(bf16(), "tile = 128x128x64, stages = 1",
                  "stages: expected 2 to 32, found 1", "stages = 2");
  expectViolation(bf16(), "tile = 128x128x64, kblocks_per_stage = 0",
                  "kblocks_per_stage: expected 1 to 16");
  expectViolation(bf16(), "tile = 128x128x64, consumers = 8 cooperative",
                  "consumers: expected 1 to 7, found 8", "consumers = 7");
  expectViolation(bf16(),
                  "tile = 192x128x64, consumers = 3 pingpong, "
                  "regs = [32, 160]",
                  "consumers: expected 2 in ping-pong, found 3");
  expectViolation(bf16(), "tile = 128x64x64, ctas_per_sm = 6, regs = [0, 0]",
                  "threads per SM: 6 x 384 = 2304 used, 2048 available",
                  "ctas_per_sm = 5");
}

TEST(VerifySchedule, InTurn) {
  const std::string turns = "consumers = 2 cooperative in_turn";
  expectLegal(fp8(), "tile = 128x256x128, " + turns +
                         ", n_blocks = 2, stages = 3, promote = 128");
  expectLegal(fp8(), "tile = 192x128x128, consumers = 3 cooperative in_turn, "
                     "promote = 128, regs = [32, 160]");
  expectViolation(bf16(), "tile = 128x128x64, " + turns,
                  "consumers: in_turn needs partial sums that are promoted, "
                  "found operands of type bf16",
                  "consumers = 2 cooperative without in_turn");
  expectViolation(fp8(),
                  "tile = 128x128x128, consumers = 2 pingpong in_turn, "
                  "promote = 128",
                  "consumers: in_turn needs at least 2 cooperative consumers, "
                  "found 2 pingpong");
  expectViolation(fp8(),
                  "tile = 64x128x128, consumers = 1 cooperative in_turn, "
                  "promote = 128",
                  "consumers: in_turn needs at least 2 cooperative consumers, "
                  "found 1 cooperative");
  expectViolation(fp8(),
                  "tile = 128x176x128, " + turns +
                      ", n_blocks = 2 overlapped, promote = 128",
                  "consumers: in_turn needs one WGMMA chain of a consumer at a "
                  "time, found n_blocks overlapped",
                  "n_blocks = 2");
  expectViolation(fp8(),
                  "tile = 128x128x32, swizzle = [32, 32, 128], " + turns +
                      ", promote = 32",
                  "consumers: in_turn needs partial sums that are promoted and "
                  "at least 64 bytes of K in a K block, found promote = 32 and "
                  "tile K = 32");
  expectViolation(fp8(),
                  "tile = 8x16x128, consumers = 4 cooperative in_turn, "
                  "stages = 1, promote = 128, form = register, store = "
                  "vector, persistent = false",
                  "consumers: expected no in_turn in form register");
}

TEST(VerifySchedule, SharedMemory) {
  expectViolation(bf16(), "tile = 128x256x64, stages = 6",
                  "bytes used, 232448 available", "stages = 4 fits");
  expectViolation(bf16(),
                  "tile = 128x64x64, stages = 5, ctas_per_sm = 2, "
                  "regs = [0, 0]",
                  "115712 available to each of 2 CTAs", "stages = 4 fits");
  expectViolation(bf16(),
                  "tile = 256x256x64, consumers = 4 cooperative, "
                  "kblocks_per_stage = 2, regs = [24, 88]",
                  "shared memory: ", "a smaller tile");
}

TEST(VerifySchedule, RegisterPool) {
  TargetLimits limits;
  Schedule schedule;
  EXPECT_EQ(registersAtEntry(schedule, limits), 168);
  schedule.consumers = 3;
  EXPECT_EQ(registersAtEntry(schedule, limits), 128);
  schedule.consumers = 4;
  EXPECT_EQ(registersAtEntry(schedule, limits), 96);
  schedule.consumers = 1;
  EXPECT_EQ(registersAtEntry(schedule, limits), 248);

  expectViolation(bf16(), "tile = 128x128x64, regs = [40, 240]",
                  "registers: 40 + 2 x 240 = 520 used, 504 available",
                  "regs = [40, 232] fits");
  // This one hung on the device.
  expectViolation(bf16(),
                  "tile = 256x64x64, consumers = 4 cooperative, "
                  "regs = [24, 120]",
                  "= 504 used, 480 available (96 at entry x 5 warpgroups)",
                  "regs = [24, 112] fits");
  expectLegal(bf16(), "tile = 256x64x64, consumers = 4 cooperative, "
                      "regs = [24, 112]");
  expectViolation(bf16(), "tile = 128x128x64, regs = [20, 232]",
                  "producer registers: expected 24 to 240");
  expectViolation(bf16(), "tile = 128x128x64, regs = [40, 230]",
                  "consumer registers: expected a multiple of 8, found 230",
                  "consumer registers = 232");
  expectViolation(bf16(), "tile = 128x128x64, regs = [40, 0]",
                  "consumer registers: expected 24 to 240");
  expectViolation(bf16(), "tile = 128x64x64, ctas_per_sm = 2, stages = 2",
                  "used, 240 available (80 at entry");
}

TEST(VerifySchedule, ConsumerRegisters) {
  expectViolation(fp8(), "tile = 128x256x128, stages = 3, promote = 128",
                  "256 for accumulators and partial sums + 16 = 272 used, "
                  "232 available",
                  "n_blocks = 2 fits");
  expectViolation(fp8(),
                  "tile = 128x240x128, n_blocks = 2 overlapped, "
                  "stages = 3, promote = 128",
                  "= 256 used, 232 available",
                  "n_blocks = 2 without overlapped fits");
  expectViolation(bf16(), "tile = 256x256x64, stages = 2",
                  "256 for accumulators", "tile N = 208 fits");
  expectLegal(bf16(), "tile = 256x208x64, stages = 3");
}

TEST(VerifySchedule, Cluster) {
  expectViolation(bf16(), "tile = 128x128x64, cluster = 4x4",
                  "cluster: expected at most 8 CTAs, found 4x4");
  expectViolation(bf16(), "tile = 128x128x64, cluster = 0x1",
                  "cluster: expected at least 1x1, found 0x1");
  expectViolation(bf16(), "tile = 128x128x64, cluster = 1x2 multicast b",
                  "multicast b: expected a cluster of at least 2 along M",
                  "cluster = 2x1 multicast b");
  expectViolation(bf16(), "tile = 128x128x64, cluster = 2x1 multicast a",
                  "multicast a: expected a cluster of at least 2 along N");
  expectViolation(bf16(), "tile = 128x136x64, cluster = 2x1 multicast b",
                  "tile N under multicast b: expected a multiple of 16");
  expectViolation(bf16(),
                  "tile = 128x128x64, cluster = 2x1, "
                  "split_k = 8 cluster",
                  "found 2x1x8 (split K)", "split_k = 4 cluster");
  expectViolation(bf16(), "tile = 128x128x64, cluster = 2000000000x2000000000",
                  "cluster: expected at most 8 CTAs");
}

TEST(VerifySchedule, OneWgmmaFitsTheRegistersAtEntry) {
  expectLegal(bf16(), "tile = 192x200x64, consumers = 3 cooperative, "
                      "regs = [32, 160], stages = 3");
  expectViolation(bf16(),
                  "tile = 192x208x64, consumers = 3 cooperative, "
                  "regs = [32, 160], stages = 3",
                  "columns per WGMMA: 208 take 130 registers in one "
                  "instruction, 128 at entry",
                  "200 columns fit");
  expectViolation(bf16(),
                  "tile = 256x160x64, consumers = 4 cooperative, "
                  "regs = [24, 112], stages = 2",
                  "columns per WGMMA: 160 take 106 registers in one "
                  "instruction, 96 at entry",
                  "136 columns fit");
}

TEST(VerifySchedule, MulticastTakesOneKBlock) {
  expectViolation(bf16(),
                  "tile = 128x128x64, kblocks_per_stage = 2, cluster = 2x1 "
                  "multicast b",
                  "kblocks_per_stage: expected 1 under multicast, found 2",
                  "kblocks_per_stage = 1");
  expectLegal(bf16(), "tile = 128x128x64, cluster = 2x1 multicast b");
  expectLegal(bf16(), "tile = 128x128x64, stages = 2, kblocks_per_stage = 2, "
                      "cluster = 2x1");
}

TEST(VerifySchedule, DynamicTiles) {
  expectLegal(bf16(), "tile = 128x128x64, tiles = dynamic");
  expectViolation(bf16(),
                  "tile = 128x128x64, persistent = false, "
                  "tiles = dynamic",
                  "tiles dynamic: expected persistent = true, found false",
                  "persistent = true");
  expectViolation(bf16(), "tile = 128x128x64, cluster = 2x1, tiles = dynamic",
                  "tiles dynamic: expected cluster = 1x1 and split_k = 1, "
                  "found 2x1 and 1",
                  "tiles = static");
}

TEST(VerifySchedule, SplitK) {
  expectViolation(bf16(), "tile = 128x128x64, split_k = 0",
                  "split_k: expected 1 to 1024, found 0", "split_k = 1");
  expectViolation(bf16(), "tile = 128x128x64, split_k = 4",
                  "split_k = 4: expected a kind", "split_k = 4 cluster");
  expectViolation(bf16(), "tile = 128x128x64, split_k = 1 cluster",
                  "split_k = 1: expected no kind");
  expectLegal(bf16(), "tile = 128x128x64, split_k = 4 stream_k");
  expectViolation(bf16(),
                  "tile = 128x128x64, split_k = 4 stream_k, persistent = false",
                  "split_k stream_k: expected persistent = true, found false",
                  "persistent = true");
  expectViolation(
      bf16(), "tile = 128x128x64, consumers = 2 pingpong, split_k = 4 stream_k",
      "split_k stream_k: expected cooperative consumers, found pingpong",
      "consumers = 2 cooperative");
  expectViolation(
      bf16(), "tile = 128x128x64, cluster = 2x1, split_k = 4 stream_k",
      "split_k stream_k: expected cluster = 1x1, found 2x1", "cluster = 1x1");
  expectLegal(bf16(), "tile = 64x64x64, consumers = 1 cooperative, "
                      "split_k = 4 cluster");
  // Partial sums of three other CTAs, 64 KB each, beside the stages.
  expectViolation(bf16(), "tile = 128x128x64, split_k = 4 cluster",
                  "shared memory: 360512 bytes used");
}

TEST(VerifySchedule, Promotion) {
  std::string fits = "tile = 128x128x128, ";
  expectViolation(fp8(), fits + "promote = 192",
                  "promote: expected 0 or a multiple of tile K = 128",
                  "promote = 128");
  expectViolation(fp8(), fits + "promote = 256",
                  "promote: expected a divisor of the 128 K elements",
                  "promote = 128");
  expectViolation(fp8(), fits + "promote = 0",
                  "promote: expected an interval for f8 operands");
  expectViolation(bf16(), "tile = 128x128x64, promote = 64",
                  "promote: expected 0 for operands of type bf16",
                  "promote = 0");
  Problem perTensor = fp8();
  perTensor.scaleA = perTensor.scaleB = {DType::F32, 0, 0, ScaleMajor::K};
  expectLegal(perTensor, fits + "promote = 256");
  expectViolation(perTensor, fits + "promote = 0", "promote: expected");
  perTensor.fastAccumulate = true;
  expectLegal(perTensor, fits + "promote = 0");
  expectViolation(perTensor, fits + "n_blocks = 2 overlapped, promote = 0",
                  "overlapped needs a promotion");
  expectViolation(
      fp8(), fits + "n_blocks = 1 overlapped, promote = 128",
      "n_blocks: overlapped needs at least 2 WGMMA chains in a ring step, "
      "found 1");
  Problem narrow = fp8();
  narrow.scaleA.cols = 32;
  expectViolation(narrow, fits + "promote = 128",
                  "tile K: expected a divisor of the 32 K elements",
                  "tile K = 32");
}

TEST(VerifySchedule, Forms) {
  expectViolation(bf16(), "tile = 16x128x64, form = swap_ab",
                  "store: expected vector in form swap_ab", "store = vector");
  expectViolation(bf16(),
                  "tile = 16x128x64, consumers = 2 pingpong, "
                  "form = swap_ab, store = vector",
                  "consumers: expected cooperative in form swap_ab");
  expectViolation(bf16(), "tile = 16x64x64, form = swap_ab, store = vector",
                  "tile N: expected a multiple of 128", "tile N = 128");
  expectViolation(bf16(), "tile = 12x128x64, form = swap_ab, store = vector",
                  "tile M: expected a multiple of 8, found 12");
  Problem transposed = bf16();
  transposed.layout = Layout::TN;
  expectViolation(transposed,
                  "tile = 16x128x64, form = swap_ab, store = vector",
                  "expected layout nt, found tn", "form = plain");
}

TEST(VerifySchedule, LoadRows) {
  Problem few = bf16();
  few.m = 20;
  const std::string tile = "tile = 64x64x64, consumers = 1 cooperative, "
                           "regs = [0, 0], load_rows = ";
  expectLegal(few, tile + "24");
  expectLegal(few, tile + "64");
  expectViolation(few, tile + "16",
                  "load_rows: expected at least M = 20 rows, found 16");
  expectViolation(few, tile + "20",
                  "load_rows: expected a multiple of 8, found 20",
                  "load_rows = 24");
  expectViolation(few, tile + "72", "load_rows: expected 8 to 64, found 72",
                  "load_rows = 64");
  few.m = kDynamic;
  expectLegal(few, tile + "16");
  expectViolation(few,
                  "tile = 16x64x64, consumers = 1 cooperative, regs = [0, 0], "
                  "form = swap_ab, store = vector, load_rows = 8",
                  "load_rows: expected 0 in form swap_ab, found 8");
  expectViolation(few,
                  "tile = 128x128x64, cluster = 1x2 multicast a, "
                  "load_rows = 16",
                  "load_rows: expected 0 under multicast a, found 16");
}

static const char *const kRegisterForm =
    ", form = register, store = vector, persistent = false";

TEST(VerifySchedule, RegisterForm) {
  auto legal = [](const Problem &problem, const std::string &text) {
    expectLegal(problem, text + kRegisterForm);
  };
  auto illegal = [](const Problem &problem, const std::string &text,
                    const std::string &message, const std::string &hint = "") {
    expectViolation(problem, text + kRegisterForm, message, hint);
  };
  std::string warps = ", consumers = 14 cooperative, stages = 1";
  // The measured winners of two shapes.
  legal(bf16(), "tile = 8x16x64, consumers = 14 cooperative, stages = 2");
  legal(fp8(), "tile = 8x16x128, promote = 128, ctas_per_sm = 2" + warps);
  legal(bf16(), "tile = 16x64x32, split_k = 8 cluster" + warps);
  legal(bf16(), "tile = 8x16x64, consumers = 32 cooperative, stages = 1");

  illegal(bf16(), "tile = 32x16x64" + warps,
          "tile M in form register: expected 8 to 16, found 32",
          "tile M in form register = 16");
  illegal(bf16(), "tile = 4x16x64" + warps,
          "tile M in form register: expected a multiple of 8, found 4",
          "tile M in form register = 8");
  illegal(bf16(), "tile = 8x24x64" + warps,
          "tile N in form register: expected a multiple of 16, found 24");
  illegal(bf16(), "tile = 8x80x64" + warps,
          "tile N in form register: expected 16 to 64, found 80");
  illegal(bf16(), "tile = 8x16x48" + warps,
          "tile K in form register: expected a multiple of 32, found 48");
  illegal(bf16(), "tile = 8x16x256" + warps,
          "tile K in form register: expected 32 to 128, found 256");
  illegal(bf16(), "tile = 8x16x64, consumers = 33 cooperative, stages = 1",
          "consumers in form register: expected 1 to 32, found 33");
  illegal(bf16(), "tile = 8x16x64, consumers = 4 cooperative, stages = 9",
          "stages in form register: expected 1 to 8, found 9");
  illegal(bf16(), "tile = 8x16x64, n_blocks = 2" + warps,
          "n_blocks: expected 1 in form register, found 2", "n_blocks = 1");
  illegal(bf16(), "tile = 8x16x64, kblocks_per_stage = 2" + warps,
          "kblocks_per_stage: expected 1 in form register, found 2");
  illegal(fp8(),
          "tile = 8x16x128, promote = 128, n_blocks = 1 overlapped" + warps,
          "expected no overlapped in form register");
  illegal(bf16(), "tile = 8x16x64, cluster = 2x1 multicast b" + warps,
          "cluster: expected 1x1 in form register, found 2x1", "cluster = 1x1");
  illegal(bf16(), "tile = 8x16x64, split_k = 2 workspace" + warps,
          "split_k: expected cluster in form register, found workspace",
          "split_k = 2 cluster");
  expectViolation(bf16(),
                  "tile = 8x16x64, form = register, store = vector" + warps,
                  "persistent: expected false in form register, found true");
  expectViolation(bf16(),
                  "tile = 8x16x64, form = register, persistent = false" + warps,
                  "store: expected vector in form register, found tma");
  // 72 registers are the even share of 2 x 448 threads.
  illegal(bf16(),
          "tile = 8x16x64, consumers = 14 cooperative, stages = 2, "
          "ctas_per_sm = 2",
          "registers of a thread: 52 for operands and sums + 32 = 84 used, 72 "
          "available",
          "stages = 1 fits");
  Problem narrow = fp8();
  narrow.scaleB.rows = 8;
  illegal(narrow, "tile = 8x16x128, promote = 128" + warps,
          "tile N in form register: expected a divisor of the 8 rows under one "
          "scale_b, found 16");
  Problem transposed = bf16();
  transposed.layout = Layout::TN;
  illegal(transposed, "tile = 8x16x64" + warps,
          "form register: expected layout nt, found tn", "form = plain");
  Problem wide = bf16();
  wide.a = wide.b = wide.d = DType::F32;
  if (verifyProblem(wide).ok())
    illegal(wide, "tile = 8x16x64" + warps,
            "form register: expected operands of 1 or 2 bytes, found f32");
}

TEST(VerifySchedule, RasterAndI8) {
  expectViolation(bf16(), "tile = 128x128x64, raster = along_m group 0",
                  "raster group: expected at least 1, found 0",
                  "raster = along_m group 1");
  Problem i8 = bf16();
  i8.a = i8.b = DType::I8;
  i8.d = DType::I32;
  expectViolation(i8, "tile = 128x136x128",
                  "columns per i8 WGMMA: expected a multiple of 16");
  expectLegal(i8, "tile = 128x128x128");
}

TEST(VerifySchedule, BadProblemIsNamed) {
  Problem problem = bf16();
  problem.b = DType::F16;
  expectViolation(problem, "tile = 128x128x64", "problem: operands a and b");
}
