// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async: data arrives as late as its wait allows, and a wait, barrier or
// fence that is missing is found.

#include "SmallKernel.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dgemm;
using namespace dgemm::test;

namespace {

/// 64 threads copy 16 bytes each to shared memory, in two groups of which the
/// first is used first; each reads what its neighbour of the other warp
/// copied. `waitFirst`, `waitSecond`, `barrier`: text of those lines.
SmallKernel copyKernel(const std::string &waitFirst,
                       const std::string &waitSecond,
                       const std::string &barrier) {
  SmallKernel kernel;
  kernel.threads = 64;
  kernel.sharedBytes = 2048;
  kernel.a.resize(2048);
  for (size_t i = 0; i < 512; ++i) {
    const float value = float(i);
    std::memcpy(&kernel.a[4 * i], &value, 4);
  }
  kernel.d.assign(64 * 2 * 4, 0xFF);
  kernel.body = R"(
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %o1 = llvm.mul %tid, %c16 : i32
    %o2 = llvm.add %o1, %c1024 : i32
    %s1 = llvm.getelementptr %smem[%o1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %s2 = llvm.getelementptr %smem[%o2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %g1 = llvm.getelementptr %a[%o1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %g2 = llvm.getelementptr %a[%o2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %s1, %g1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    // Eight of the sixteen bytes, the others are zero.
    nvvm.cp.async.shared.global %s2, %g2, 16, cache = cg, %c8 : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.commit.group
    %peer = llvm.xor %tid, %c32 : i32
    %po = llvm.mul %peer, %c16 : i32
    %p1 = llvm.getelementptr %smem[%po] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %pp = llvm.add %po, %c1024 : i32
    %p2 = llvm.getelementptr %smem[%pp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %two = llvm.mul %tid, %c2 : i32
    %d1 = llvm.getelementptr %d[%two] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %d2 = llvm.getelementptr %d1[%c4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  )" + waitFirst +
                "\n" + barrier +
                R"(
    %x1 = llvm.load %p1 : !llvm.ptr<3> -> f32
    llvm.store %x1, %d1 : f32, !llvm.ptr<1>
  )" + waitSecond +
                "\n" + barrier + R"(
    %v2 = llvm.load %p2 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %a2 = llvm.extractelement %v2[%c1 : i32] : vector<4xf32>
    %b2 = llvm.extractelement %v2[%c3 : i32] : vector<4xf32>
    %x2 = llvm.fadd %a2, %b2 : f32
    llvm.store %x2, %d2 : f32, !llvm.ptr<1>
  )";
  return kernel;
}

const char *const kWaitOne = "nvvm.cp.async.wait.group 1";
const char *const kWaitAll = "nvvm.cp.async.wait.group 0";
const char *const kBarrier = "nvvm.barrier";

const AsyncOrder kOrders[] = {AsyncOrder::Lazy, AsyncOrder::Eager,
                              AsyncOrder::Random};

TEST(AsyncCopy, GroupsArriveByTheirWaits) {
  for (AsyncOrder order : kOrders)
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SmallKernel kernel = copyKernel(kWaitOne, kWaitAll, kBarrier);
      const EmulatorReport report = kernel.run(order, seed);
      ASSERT_TRUE(report.clean()) << toString(report);
      for (size_t t = 0; t < 64; ++t) {
        EXPECT_EQ(kernel.result(2 * t), float((t ^ 32) * 4));
        EXPECT_EQ(kernel.result(2 * t + 1), float(256 + (t ^ 32) * 4 + 1));
      }
    }
}

TEST(AsyncCopy, MissingWaitIsFoundInEveryOrder) {
  for (AsyncOrder order : kOrders) {
    // No first wait, none at all, and one that leaves the group that is used.
    EXPECT_EQ(kinds(copyKernel("", kWaitAll, kBarrier).run(order, 1)), "race");
    EXPECT_EQ(kinds(copyKernel("", "", kBarrier).run(order, 1)),
              "race exit-state");
    EXPECT_EQ(kinds(copyKernel(kWaitOne, kWaitOne, kBarrier).run(order, 1)),
              "race exit-state");
  }
}

TEST(AsyncCopy, MissingBarrierIsFound) {
  for (AsyncOrder order : kOrders)
    EXPECT_NE(
        kinds(copyKernel(kWaitOne, kWaitAll, "").run(order, 1)).find("race"),
        std::string::npos);
}

TEST(AsyncCopy, LateDataIsSeen) {
  // Without the race check the lazy order alone gives wrong numbers.
  SmallKernel kernel = copyKernel("", kWaitAll, kBarrier);
  kernel.run(AsyncOrder::Lazy, 1);
  int wrong = 0;
  for (size_t t = 0; t < 64; ++t)
    wrong += kernel.result(2 * t) != float((t ^ 32) * 4);
  EXPECT_GT(wrong, 0);
}

/// One warp copies, the arrival of its lanes on an mbarrier tells the other.
const char *kTryWait = "nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : "
                       "!llvm.ptr<3>, i32, i32";

SmallKernel barrierKernel(int64_t count, const std::string &arrive,
                          const std::string &wait = kTryWait) {
  SmallKernel kernel;
  kernel.threads = 64;
  kernel.sharedBytes = 1024;
  kernel.a.resize(512);
  for (size_t i = 0; i < 128; ++i) {
    const float value = float(i);
    std::memcpy(&kernel.a[4 * i], &value, 4);
  }
  kernel.d.assign(32 * 4, 0xFF);
  kernel.body = R"(
    %c512 = llvm.mlir.constant(512 : i32) : i32
    %ticks = llvm.mlir.constant(1000000 : i32) : i32
    %count = llvm.mlir.constant()" +
                std::to_string(count) + R"( : i32) : i32
    %bar = llvm.getelementptr %smem[%c512] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %first = llvm.icmp "eq" %tid, %c0 : i32
    scf.if %first { nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32 }
    nvvm.barrier
    %o = llvm.mul %lane, %c16 : i32
    %s = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %low = llvm.icmp "ult" %tid, %c32 : i32
    scf.if %low {
      %g = llvm.getelementptr %a[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      nvvm.cp.async.shared.global %s, %g, 16, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      )" + arrive +
                R"(
    } else {
      )" + wait +
                R"(
      %x = llvm.load %s : !llvm.ptr<3> -> f32
      %dp = llvm.getelementptr %d[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %x, %dp : f32, !llvm.ptr<1>
    })";
  return kernel;
}

TEST(AsyncCopy, ATestOfAnMbarrierMayComeTooEarly) {
  const std::string arrive =
      "nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>";
  // Asking until the answer is yes is a wait.
  const std::string spin = R"(
    %true = llvm.mlir.constant(true) : i1
    scf.while : () -> () {
      %done = nvvm.mbarrier.test.wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1
      %again = llvm.xor %done, %true : i1
      scf.condition(%again)
    } do { scf.yield })";
  // Asking once is none, whatever the answer; with lazy effects it is no.
  const std::string once = R"(
    %done = nvvm.mbarrier.test.wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1)";
  for (AsyncOrder order : kOrders)
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SmallKernel kernel = barrierKernel(32, arrive, spin);
      const EmulatorReport report = kernel.run(order, seed);
      ASSERT_TRUE(report.clean()) << toString(report);
      for (size_t t = 0; t < 32; ++t)
        EXPECT_EQ(kernel.result(t), float(4 * t));
      if (order == AsyncOrder::Lazy)
        EXPECT_EQ(kinds(barrierKernel(32, arrive, once).run(order, seed)),
                  "uninitialized race");
    }
}

TEST(AsyncCopy, ATestOfAnMbarrierComesAfterItsInitialisation) {
  const auto kernel = [](const std::string &between) {
    SmallKernel out;
    out.threads = 64;
    out.sharedBytes = 64;
    out.d.assign(4, 0);
    out.body = R"(
    %first = llvm.icmp "eq" %tid, %c0 : i32
    scf.if %first { nvvm.mbarrier.init %smem, %c1 : !llvm.ptr<3>, i32 }
    )" + between +
               R"(
    %high = llvm.icmp "uge" %tid, %c32 : i32
    scf.if %high {
      %done = nvvm.mbarrier.test.wait %smem, %c0 : !llvm.ptr<3>, i32 -> i1
    })";
    return out;
  };
  for (AsyncOrder order : kOrders)
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      EXPECT_EQ(kinds(kernel("nvvm.barrier").run(order, seed)), "");
      // Nothing orders the warps: one that is early finds no barrier at all.
      EXPECT_NE(kinds(kernel("").run(order, seed)), "");
    }
}

TEST(AsyncCopy, ArrivalOnAnMbarrierCoversTheCopies) {
  const std::string noinc =
      "nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>";
  // Without noinc the arrival brings its own count: an ordinary one is needed.
  const std::string inc = "nvvm.cp.async.mbarrier.arrive %bar : !llvm.ptr<3>\n"
                          "nvvm.mbarrier.arrive %bar : !llvm.ptr<3>";
  for (const std::string &arrive : {noinc, inc})
    for (AsyncOrder order : kOrders)
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        SmallKernel kernel = barrierKernel(32, arrive);
        const EmulatorReport report = kernel.run(order, seed);
        ASSERT_TRUE(report.clean()) << toString(report);
        for (size_t t = 0; t < 32; ++t)
          EXPECT_EQ(kernel.result(t), float(4 * t));
      }
  // An ordinary arrival says nothing about the copies.
  for (AsyncOrder order : kOrders)
    EXPECT_EQ(kinds(barrierKernel(32, "nvvm.mbarrier.arrive %bar : "
                                      "!llvm.ptr<3>")
                        .run(order, 1)),
              "exit-state race");
}

TEST(AsyncCopy, BoundsAndAlignmentAreChecked) {
  const auto kernel = [](const char *shared, const char *global) {
    SmallKernel out;
    out.sharedBytes = 64;
    out.a.assign(64, 0);
    out.body = std::string(R"(
      %c56 = llvm.mlir.constant(56 : i32) : i32
      %c64 = llvm.mlir.constant(64 : i32) : i32
      %s = llvm.getelementptr %smem[)") +
               shared + R"(] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %g = llvm.getelementptr %a[)" +
               global +
               R"(] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %one = llvm.icmp "eq" %lane, %c0 : i32
      scf.if %one {
        nvvm.cp.async.shared.global %s, %g, 16, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
      })";
    return out;
  };
  EXPECT_EQ(kinds(kernel("%c16", "%c16").run(AsyncOrder::Lazy, 1)), "");
  EXPECT_EQ(kinds(kernel("%c64", "%c0").run(AsyncOrder::Lazy, 1)),
            "out-of-bounds");
  EXPECT_EQ(kinds(kernel("%c0", "%c64").run(AsyncOrder::Lazy, 1)),
            "out-of-bounds");
  EXPECT_EQ(kinds(kernel("%c8", "%c0").run(AsyncOrder::Lazy, 1)), "misaligned");
  EXPECT_EQ(kinds(kernel("%c0", "%c8").run(AsyncOrder::Lazy, 1)), "misaligned");
}

} // namespace
