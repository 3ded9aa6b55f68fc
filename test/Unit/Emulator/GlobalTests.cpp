// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Races through global memory between the CTAs of one launch, and what orders
// them: fences, atomics, acquiring loads and releasing stores.

#include "SmallKernel.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dgemm;
using namespace dgemm::test;

namespace {

const std::string kFence = "llvm.fence syncscope(\"device\") acq_rel";
const std::string kCount =
    "%n_before = llvm.atomicrmw add %counter, %c1 syncscope(\"device\") "
    "monotonic : !llvm.ptr<1>, i32";

/// Four CTAs of 64 threads write a part each to the workspace and count
/// themselves in; the last one adds the parts to D and resets the counter.
/// The texts are the steps between.
SmallKernel splitKernel(const std::string &barrier, const std::string &release,
                        const std::string &count, const std::string &acquire,
                        const std::string &barrierAfter) {
  SmallKernel kernel;
  kernel.threads = 64;
  kernel.sharedBytes = 16;
  kernel.m = 4;
  kernel.d.assign(64 * 4, 0xFF);
  kernel.workspace.assign(4 * 64 * 4 + 16, 0);
  kernel.body = R"(
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %part = llvm.mul %cta, %c64 : i32
    %at = llvm.add %part, %tid : i32
    %own = llvm.getelementptr %w[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %counter = llvm.getelementptr %w[%c256] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %at : i32 to f32
    llvm.store %value, %own : f32, !llvm.ptr<1>
    %first = llvm.icmp "eq" %tid, %c0 : i32
  )" + barrier + "\nscf.if %first {\n" +
                release + "\n" + count + "\n" + acquire + R"(
      llvm.store %n_before, %smem : i32, !llvm.ptr<3>
    }
  )" + barrierAfter +
                R"(
    %before = llvm.load %smem : !llvm.ptr<3> -> i32
    %last = llvm.icmp "eq" %before, %c3 : i32
    scf.if %last {
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (f32) : i32 {
        %io = llvm.mul %i, %c64 : i32
        %ia = llvm.add %io, %tid : i32
        %ip = llvm.getelementptr %w[%ia] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        %x = llvm.load %ip : !llvm.ptr<1> -> f32
        %t = llvm.fadd %s, %x : f32
        scf.yield %t : f32
      }
      %dp = llvm.getelementptr %d[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %sum, %dp : f32, !llvm.ptr<1>
      scf.if %first { llvm.store %c0, %counter : i32, !llvm.ptr<1> }
    })";
  return kernel;
}

TEST(GlobalMemory, LastArriverIsOrderedByFences) {
  for (const char *fence :
       {"llvm.fence syncscope(\"device\") acq_rel", "llvm.fence acq_rel",
        "nvvm.memory.barrier #nvvm.mem_scope<gpu>"})
    for (AsyncOrder order : {AsyncOrder::Lazy, AsyncOrder::Random})
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        SmallKernel kernel =
            splitKernel("nvvm.barrier", fence, kCount, fence, "nvvm.barrier");
        const EmulatorReport report = kernel.run(order, seed);
        ASSERT_TRUE(report.clean()) << fence << "\n" << toString(report);
        for (size_t t = 0; t < 64; ++t)
          EXPECT_EQ(kernel.result(t), float(4 * t + 6 * 64));
      }
}

TEST(GlobalMemory, AnythingMissingIsFound) {
  const std::string barrier = "nvvm.barrier";
  const auto found = [](SmallKernel kernel) {
    return kinds(kernel.run(AsyncOrder::Lazy, 1));
  };
  EXPECT_EQ(found(splitKernel(barrier, kFence, kCount, kFence, barrier)), "");
  // No release, no acquire, no barrier before the count or before the sum.
  EXPECT_EQ(found(splitKernel(barrier, "", kCount, kFence, barrier)), "race");
  EXPECT_EQ(found(splitKernel(barrier, kFence, kCount, "", barrier)), "race");
  EXPECT_EQ(found(splitKernel("", kFence, kCount, kFence, barrier)), "race");
  // An ordering on the update is not in the PTX that LLVM writes.
  const std::string ordered =
      "%n_before = llvm.atomicrmw add %counter, %c1 syncscope(\"device\") "
      "acq_rel : !llvm.ptr<1>, i32";
  EXPECT_EQ(found(splitKernel(barrier, "", ordered, "", barrier)), "race");
  // A fence for the own CTA, or the own cluster, is not enough.
  for (const char *scope : {"block", "cluster"}) {
    const std::string narrow =
        std::string("llvm.fence syncscope(\"") + scope + "\") acq_rel";
    EXPECT_EQ(found(splitKernel(barrier, narrow, kCount, kFence, barrier)),
              "race")
        << scope;
    EXPECT_EQ(found(splitKernel(barrier, kFence, kCount, narrow, barrier)),
              "race")
        << scope;
  }
  // Counting with plain accesses.
  EXPECT_EQ(
      found(splitKernel(barrier, kFence,
                        "%n_before = llvm.load %counter : !llvm.ptr<1> -> i32\n"
                        "%n_after = llvm.add %n_before, %c1 : i32\n"
                        "llvm.store %n_after, %counter : i32, !llvm.ptr<1>",
                        kFence, barrier)),
      "race");
}

/// CTA 1 waits for a flag of CTA 0 and reads what it wrote.
SmallKernel flagKernel(const std::string &store, const std::string &load) {
  SmallKernel kernel;
  kernel.m = 2;
  kernel.d.assign(32 * 4, 0xFF);
  kernel.workspace.assign(32 * 4 + 16, 0);
  kernel.body = R"(
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %mask = llvm.mlir.constant(-1 : i32) : i32
    %flag = llvm.getelementptr %w[%c32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %p = llvm.getelementptr %w[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %first = llvm.icmp "eq" %lane, %c0 : i32
    %writer = llvm.icmp "eq" %cta, %c0 : i32
    scf.if %writer {
      llvm.store %one, %p : f32, !llvm.ptr<1>
      nvvm.bar.warp.sync %mask : i32
      scf.if %first {
        )" + store +
                R"(
      }
    } else {
      scf.if %first {
        scf.while : () -> () {
          )" + load +
                R"(
          %again = llvm.icmp "eq" %f, %c0 : i32
          scf.condition(%again)
        } do { scf.yield }
      }
      nvvm.bar.warp.sync %mask : i32
      %x = llvm.load %p : !llvm.ptr<1> -> f32
      %dp = llvm.getelementptr %d[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %x, %dp : f32, !llvm.ptr<1>
    })";
  return kernel;
}

std::string flagStore(const std::string &how) {
  return "llvm.store %c1, %flag atomic syncscope(\"device\") " + how +
         " {alignment = 4 : i64} : i32, !llvm.ptr<1>";
}
std::string flagLoad(const std::string &how) {
  return "%f = llvm.load %flag atomic syncscope(\"device\") " + how +
         " {alignment = 4 : i64} : !llvm.ptr<1> -> i32";
}

TEST(GlobalMemory, FlagsReleaseAndAcquire) {
  // The ordering on the access, or a fence beside a relaxed one.
  const std::string stores[] = {flagStore("release"),
                                kFence + "\n" + flagStore("monotonic")};
  const std::string loads[] = {flagLoad("acquire"),
                               flagLoad("monotonic") + "\n" + kFence};
  for (const std::string &store : stores)
    for (const std::string &load : loads)
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        SmallKernel kernel = flagKernel(store, load);
        const EmulatorReport report = kernel.run(AsyncOrder::Random, seed);
        ASSERT_TRUE(report.clean()) << store << load << toString(report);
        for (size_t t = 0; t < 32; ++t)
          EXPECT_EQ(kernel.result(t), 1.0f);
      }
  const auto found = [](SmallKernel kernel) {
    return kinds(kernel.run(AsyncOrder::Lazy, 1));
  };
  EXPECT_EQ(found(flagKernel(flagStore("monotonic"), loads[0])), "race");
  EXPECT_EQ(found(flagKernel(stores[0], flagLoad("monotonic"))), "race");
  EXPECT_EQ(found(flagKernel(stores[0], "%f = llvm.load volatile %flag : "
                                        "!llvm.ptr<1> -> i32")),
            "race");
}

TEST(GlobalMemory, TwoWritersOfOneElementAreFound) {
  // Eight CTAs over several host threads or one: nothing orders them.
  SmallKernel kernel;
  kernel.m = 8;
  kernel.d.assign(8 * 4, 0xFF);
  kernel.body = R"(
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %first = llvm.icmp "eq" %lane, %c0 : i32
    %half = llvm.lshr %cta, %c1 : i32
    %dp = llvm.getelementptr %d[%half] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    scf.if %first { llvm.store %one, %dp : f32, !llvm.ptr<1> })";
  EXPECT_EQ(kinds(kernel.run(AsyncOrder::Lazy, 1)), "race");
  // Neighbours are no conflict.
  const size_t at = kernel.body.find("%cta, %c1");
  kernel.body.replace(at, 9, "%cta, %c0");
  EXPECT_EQ(kinds(kernel.run(AsyncOrder::Lazy, 1)), "");
}

TEST(GlobalMemory, AtomicsDoNotRaceWithEachOther) {
  SmallKernel kernel;
  kernel.m = 8;
  kernel.d.assign(4, 0);
  kernel.body = R"(
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %old = llvm.atomicrmw fadd %d, %one syncscope("device") monotonic : !llvm.ptr<1>, f32)";
  EXPECT_EQ(kinds(kernel.run(AsyncOrder::Lazy, 1)), "");
  EXPECT_EQ(kernel.result(0), 256.0f);
}

} // namespace
