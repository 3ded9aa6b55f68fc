// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The emulator on a hand-written kernel: right numbers in every order, and
// each planted fault named by the right check.

#include "TestKernels.h"

#include <gtest/gtest.h>

#include <set>

using namespace dgemm;
using namespace dgemm::test;

namespace {

std::unique_ptr<EmulatorProgram> compile(const KernelText &kernel) {
  Result<std::unique_ptr<EmulatorProgram>> program =
      EmulatorProgram::createFromText(kernel.text());
  EXPECT_TRUE(program.ok()) << program.message();
  return program ? std::move(*program) : nullptr;
}

/// Runs once and gives the report; the run itself must be possible.
EmulatorReport runOnce(const EmulatorProgram &program, const KernelText &kernel,
                       GemmRun &gemm, const EmulatorOptions &options) {
  EmulatorReport report;
  const Status status =
      program.run(kernel.metadata(), gemm.sizes(), gemm.operands(),
                  LaunchOptions(), options, report);
  EXPECT_TRUE(status.ok()) << status.message();
  return report;
}

class Orders : public testing::TestWithParam<AsyncOrder> {};

TEST_P(Orders, SmallKernelIsRightAndClean) {
  for (DType type : {DType::BF16, DType::F8E4M3FN})
    for (int n : {8, 64, 128, 256}) {
      KernelText kernel;
      kernel.type = type;
      kernel.tileN = n;
      kernel.stages = n == 256 ? 2 : 3;
      auto program = compile(kernel);
      ASSERT_TRUE(program);
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        // Ragged in every size.
        GemmRun gemm(kernel, 100, n + n / 2, 330);
        const EmulatorReport report =
            runOnce(*program, kernel, gemm, gemm.options(GetParam(), seed));
        EXPECT_TRUE(report.clean()) << toString(report);
        EXPECT_LE(gemm.error(), 3e-3) << "N tile " << n << " seed " << seed;
      }
    }
}

TEST_P(Orders, ClusterWithMulticastIsRightAndClean) {
  KernelText kernel;
  kernel.cluster = 2;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    GemmRun gemm(kernel, 256, 96, 330);
    const EmulatorReport report =
        runOnce(*program, kernel, gemm, gemm.options(GetParam(), seed));
    EXPECT_TRUE(report.clean()) << toString(report);
    EXPECT_LE(gemm.error(), 3e-3) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Orders,
                         testing::Values(AsyncOrder::Lazy, AsyncOrder::Eager,
                                         AsyncOrder::Random),
                         [](const auto &info) {
                           return std::string(toString(info.param));
                         });

struct Expectation {
  Fault fault;
  const char *name;
  /// A finding of this kind must be among those of every lazy seed.
  FindingKind kind;
};

class Faults : public testing::TestWithParam<Expectation> {};

TEST_P(Faults, IsNamed) {
  KernelText kernel;
  kernel.stages = 2;
  kernel.fault = GetParam().fault;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    GemmRun gemm(kernel, 64, 64, 512);
    EmulatorOptions options = gemm.options(AsyncOrder::Lazy, seed);
    options.stepLimit = 3'000'000;
    const EmulatorReport report = runOnce(*program, kernel, gemm, options);
    bool found = false;
    for (const Finding &finding : report.findings)
      found |= finding.kind == GetParam().kind;
    EXPECT_TRUE(found) << "seed " << seed << ": expected a finding of kind "
                       << toString(GetParam().kind) << "\n"
                       << toString(report);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Faults,
    testing::Values(
        Expectation{Fault::NoFullWait, "NoFullWait", FindingKind::Race},
        Expectation{Fault::NoEmptyWait, "NoEmptyWait",
                    FindingKind::BarrierMisuse},
        Expectation{Fault::EarlyRelease, "EarlyRelease", FindingKind::Race},
        Expectation{Fault::NoReleaseBarrier, "NoReleaseBarrier",
                    FindingKind::Race},
        Expectation{Fault::NoProxyFence, "NoProxyFence",
                    FindingKind::ProxyFence},
        Expectation{Fault::NoEpilogueBarrier, "NoEpilogueBarrier",
                    FindingKind::Race},
        Expectation{Fault::NoBulkWait, "NoBulkWait", FindingKind::ExitState},
        Expectation{Fault::NoInitFence, "NoInitFence", FindingKind::ProxyFence},
        Expectation{Fault::FewBytes, "FewBytes", FindingKind::Deadlock},
        Expectation{Fault::ManyBytes, "ManyBytes", FindingKind::Deadlock},
        Expectation{Fault::WrongParity, "WrongParity", FindingKind::Race},
        Expectation{Fault::NoRelease, "NoRelease", FindingKind::Deadlock},
        Expectation{Fault::NoWgmmaFence, "NoWgmmaFence",
                    FindingKind::Accumulator},
        Expectation{Fault::NoWgmmaWait, "NoWgmmaWait",
                    FindingKind::Accumulator},
        Expectation{Fault::EmptyCountTwo, "EmptyCountTwo",
                    FindingKind::Deadlock},
        Expectation{Fault::EndlessLoop, "EndlessLoop", FindingKind::StepLimit}),
    [](const auto &info) { return std::string(info.param.name); });

class ClusterFaults : public testing::TestWithParam<Fault> {};

TEST_P(ClusterFaults, IsFoundWithinEightSeeds) {
  KernelText kernel;
  kernel.cluster = 2;
  kernel.fault = GetParam();
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  int found = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    GemmRun gemm(kernel, 128, 64, 512);
    const EmulatorReport report =
        runOnce(*program, kernel, gemm, gemm.options(AsyncOrder::Lazy, seed));
    found += !report.clean();
  }
  EXPECT_GE(found, 1);
}

INSTANTIATE_TEST_SUITE_P(All, ClusterFaults,
                         testing::Values(Fault::NoFinalClusterBarrier,
                                         Fault::NoSetupClusterBarrier,
                                         Fault::WrongMask,
                                         Fault::NoRemoteRelease,
                                         Fault::WrongRank));

TEST(Emulator, WrongStepGivesWrongNumbers) {
  KernelText kernel;
  kernel.fault = Fault::WrongStep;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 256);
  runOnce(*program, kernel, gemm, gemm.options(AsyncOrder::Lazy, 1));
  EXPECT_GT(gemm.error(), 0.1);
}

TEST(Emulator, MissingSetupBarrierIsFound) {
  KernelText kernel;
  kernel.fault = Fault::NoSetupBarrier;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    GemmRun gemm(kernel, 64, 64, 256);
    const EmulatorReport report =
        runOnce(*program, kernel, gemm, gemm.options(AsyncOrder::Lazy, seed));
    EXPECT_FALSE(report.findings.empty()) << "seed " << seed;
  }
}

TEST(Emulator, ReportIsTheSameOnAnyNumberOfThreads) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  std::set<std::string> texts;
  for (int threads : {1, 3}) {
    GemmRun gemm(kernel, 512, 128, 192);
    EmulatorOptions options = gemm.options(AsyncOrder::Random, 5);
    options.threads = threads;
    options.statistics = true;
    const EmulatorReport report = runOnce(*program, kernel, gemm, options);
    EXPECT_TRUE(report.clean()) << toString(report);
    EXPECT_LE(gemm.error(), 3e-3);
    texts.insert(toString(report));
  }
  EXPECT_EQ(texts.size(), 1u);
}

TEST(Emulator, DeadlockSaysWhoWaitsForWhat) {
  KernelText kernel;
  kernel.fault = Fault::ManyBytes;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 64);
  const EmulatorReport report =
      runOnce(*program, kernel, gemm, gemm.options(AsyncOrder::Lazy, 1));
  EXPECT_FALSE(report.completed);
  const std::string text = toString(report);
  EXPECT_NE(text.find("0 of 1 arrivals and 128 bytes missing"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("kernel.mlir:"), std::string::npos) << text;
}

TEST(Emulator, OutOfBoundsTensorMapIsReported) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 64);
  EmulatorOptions options = gemm.options(AsyncOrder::Lazy, 1);
  options.allocations[2].bytes -= 2;
  const EmulatorReport report = runOnce(*program, kernel, gemm, options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_FALSE(report.clean());
}

TEST(Emulator, UnmappedMemoryIsAFindingInEveryOrder) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  for (AsyncOrder order :
       {AsyncOrder::Lazy, AsyncOrder::Eager, AsyncOrder::Random}) {
    GemmRun gemm(kernel, 64, 64, 64);
    EmulatorOptions options = gemm.options(order, 1);
    options.allocations.clear();
    LaunchOperands operands = gemm.operands();
    operands.b = 4096; // in the first pages, never mapped
    EmulatorReport report;
    const Status status =
        program->run(kernel.metadata(), gemm.sizes(), operands, LaunchOptions(),
                     options, report);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].kind, FindingKind::HostFault)
        << toString(report);
    EXPECT_NE(report.findings[0].location.find("cp.async.bulk.tensor"),
              std::string::npos)
        << toString(report);
    EXPECT_FALSE(report.completed);
  }
}

TEST(Emulator, WrongRecipeGivesWrongNumbers) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 128);
  LaunchMetadata metadata = kernel.metadata();
  metadata.kernels[0].tensorMaps[1].swizzle = 0;
  EmulatorReport report;
  const Status status =
      program->run(metadata, gemm.sizes(), gemm.operands(), LaunchOptions(),
                   gemm.options(AsyncOrder::Lazy, 1), report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_GT(gemm.error(), 0.1);
}

TEST(Emulator, UnknownOpIsRefusedByNameAndLocation) {
  KernelText kernel;
  std::string text = kernel.text();
  const std::string anchor = "%tid = nvvm";
  text.insert(text.find(anchor), "%clock = nvvm.read.ptx.sreg.clock64 : i64\n");
  auto program = EmulatorProgram::createFromText(text);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.message().find("nvvm.read.ptx.sreg.clock64"),
            std::string::npos)
      << program.message();
  EXPECT_NE(program.message().find("kernel.mlir:5:"), std::string::npos)
      << program.message();

  text = kernel.text();
  text.insert(text.find(anchor),
              "llvm.inline_asm has_side_effects \"nop;\", \"\" : () -> ()\n");
  program = EmulatorProgram::createFromText(text);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.message().find("llvm.inline_asm"), std::string::npos);
}

TEST(Emulator, MetadataThatDoesNotFitTheKernelIsRefused) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 64);
  EmulatorReport report;
  const auto run = [&](const LaunchMetadata &metadata) {
    return program->run(metadata, gemm.sizes(), gemm.operands(),
                        LaunchOptions(), gemm.options(AsyncOrder::Lazy, 1),
                        report);
  };
  LaunchMetadata metadata = kernel.metadata();
  metadata.kernels[0].arguments.pop_back();
  EXPECT_FALSE(run(metadata).ok());
  metadata = kernel.metadata();
  metadata.kernels[0].arguments[3].kind = KernelArgument::Kind::Size64;
  EXPECT_FALSE(run(metadata).ok());
  metadata = kernel.metadata();
  metadata.kernels[0].threads = 384;
  EXPECT_FALSE(run(metadata).ok());
  metadata = kernel.metadata();
  metadata.kernels[0].entry = "other";
  EXPECT_FALSE(run(metadata).ok());
}

TEST(Emulator, SharedMemoryTooSmallIsOutOfBounds) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 64);
  LaunchMetadata metadata = kernel.metadata();
  metadata.kernels[0].dynamicSharedMemory -= 8;
  EmulatorReport report;
  ASSERT_TRUE(program
                  ->run(metadata, gemm.sizes(), gemm.operands(),
                        LaunchOptions(), gemm.options(AsyncOrder::Lazy, 1),
                        report)
                  .ok());
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_FALSE(report.completed);
}

TEST(Emulator, TimelineNamesFillReadAndRelease) {
  KernelText kernel;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  GemmRun gemm(kernel, 64, 64, 320);
  EmulatorOptions options = gemm.options(AsyncOrder::Lazy, 1);
  options.timelineCluster = 0;
  const EmulatorReport report = runOnce(*program, kernel, gemm, options);
  EXPECT_NE(report.timelineText.find("slot 1"), std::string::npos)
      << report.timelineText;
  EXPECT_NE(report.timelineText.find("filled by warp 4"), std::string::npos)
      << report.timelineText;
  EXPECT_NE(report.timelineText.find("read by warpgroup 0"), std::string::npos);
  EXPECT_NE(report.timelineText.find("released at"), std::string::npos);
  EXPECT_EQ(report.timelineSvg.rfind("<svg", 0), 0u);
}

TEST(Emulator, ReducedAccumulatorLosesPrecision) {
  KernelText kernel;
  kernel.type = DType::F8E4M3FN;
  auto program = compile(kernel);
  ASSERT_TRUE(program);
  double errors[2];
  for (bool reduced : {false, true}) {
    GemmRun gemm(kernel, 64, 64, 4096);
    EmulatorOptions options = gemm.options(AsyncOrder::Lazy, 1);
    options.reducedFp8Accumulator = reduced;
    runOnce(*program, kernel, gemm, options);
    errors[reduced] = gemm.error();
  }
  EXPECT_LE(errors[0], 3e-3);
  // Small integers up to a few hundred fit 13 bits, so the model changes
  // nothing much here; it must not lose everything either.
  EXPECT_LE(errors[1], 2e-2);
  EXPECT_GE(errors[1], errors[0]);
}

} // namespace
