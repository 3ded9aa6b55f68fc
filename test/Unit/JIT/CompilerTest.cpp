// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole compilations: what an artifact holds, who compiles and who waits, what
// a key depends on, and what bad input gives.

#include "dgemm/JIT/Compiler.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dgemm;
using namespace dgemm::jit;
namespace fs = std::filesystem;

namespace {
class CompilerTest : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/dgemm-compiler-test-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    base = pattern;
    options.cacheDir = base + "/cache";
    options.emitCubin = false;
    problem.m = 256;
    problem.n = 256;
    problem.k = 128;
  }
  void TearDown() override { fs::remove_all(base); }

  std::string base;
  CompileOptions options;
  Problem problem;
};
} // namespace

TEST_F(CompilerTest, AnArtifactHoldsEveryLevel) {
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  ASSERT_TRUE(artifact) << artifact.message();
  const Artifact &a = **artifact;
  EXPECT_NE(a.scheduledIR.find("#dgemm.schedule<"), std::string::npos);
  EXPECT_NE(a.kernelIR.find("dgemm.kernel"), std::string::npos);
  EXPECT_NE(a.l3IR.find("nvvm."), std::string::npos);
  EXPECT_NE(a.ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_NE(a.ptx.find("wgmma.mma_async"), std::string::npos);
  EXPECT_TRUE(a.cubin.empty());
  ASSERT_EQ(a.metadata.kernels.size(), 1u);
  EXPECT_NE(a.ptx.find(".entry " + a.metadata.kernels[0].entry + "("),
            std::string::npos);
  EXPECT_EQ(a.metadata.problem, problem);
  ASSERT_EQ(a.metadata.dispatch.size(), 1u);
  EXPECT_EQ(a.metadata.dispatch[0].maxM, -1);
}

TEST_F(CompilerTest, OpenMGivesATableWhoseKernelsAllExist) {
  problem.m = kDynamic;
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  ASSERT_TRUE(artifact) << artifact.message();
  const LaunchMetadata &metadata = (*artifact)->metadata;
  ASSERT_FALSE(metadata.dispatch.empty());
  EXPECT_EQ(metadata.dispatch.back().maxM, -1);
  for (const DispatchEntry &row : metadata.dispatch) {
    ASSERT_LT(static_cast<size_t>(row.kernel), metadata.kernels.size());
    EXPECT_NE((*artifact)->ptx.find(".entry " +
                                    metadata.kernels[row.kernel].entry + "("),
              std::string::npos);
  }
}

TEST_F(CompilerTest, TheSecondCallAndTheSecondProcessCompileNothing) {
  Compiler first;
  auto artifact = first.compileProblem(problem, options);
  ASSERT_TRUE(artifact) << artifact.message();
  auto again = first.compileProblem(problem, options);
  ASSERT_TRUE(again);
  EXPECT_EQ(artifact->get(), again->get());
  EXPECT_EQ(first.statistics().compiled, 1);
  EXPECT_EQ(first.statistics().memoryHits, 1);

  // Another process has only the disk in common with this one.
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Compiler second;
    auto stored = second.compileProblem(problem, options);
    bool good = stored && second.statistics().compiled == 0 &&
                second.statistics().diskHits == 1 &&
                (*stored)->ptx == (*artifact)->ptx;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(CompilerTest, TheKeyHoldsWhatTheTuningDatabaseSaysOfTheProblem) {
  options.tuningDB = base + "/db.jsonl";
  TuningRecord record;
  record.problem = problem;
  record.schedule.tileN = 64;
  record.device = "H200";
  record.versions = currentVersions();
  record.medianUs = 10;
  Compiler compiler;
  auto missing = compiler.compileProblem(problem, options);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.message().find("cannot open '" + options.tuningDB + "'"),
            std::string::npos);

  ASSERT_TRUE(appendRecord(options.tuningDB, record).ok());
  auto tuned = compiler.compileProblem(problem, options);
  ASSERT_TRUE(tuned) << tuned.message();
  EXPECT_EQ((*tuned)->metadata.kernels[0].schedule, record.schedule);
  EXPECT_EQ((*tuned)->metadata.kernels[0].scheduleSource, "tuned");
  EXPECT_NE((*tuned)->scheduleReport.find("10.00 us measured"),
            std::string::npos);
  EXPECT_EQ(compiler.statistics().compiled, 1);

  // A record of another problem changes nothing.
  TuningRecord other = record;
  other.problem.n = 512;
  ASSERT_TRUE(appendRecord(options.tuningDB, other).ok());
  auto again = compiler.compileProblem(problem, options);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->get(), tuned->get());

  // A faster schedule of this one does.
  record.schedule.stages = 3;
  record.medianUs = 9;
  ASSERT_TRUE(appendRecord(options.tuningDB, record).ok());
  auto faster = compiler.compileProblem(problem, options);
  ASSERT_TRUE(faster) << faster.message();
  EXPECT_EQ((*faster)->metadata.kernels[0].schedule, record.schedule);
  EXPECT_EQ(compiler.statistics().compiled, 2);

  // Without the database the model chooses; a given schedule needs none.
  options.tuningDB = "none";
  auto model = compiler.compileProblem(problem, options);
  ASSERT_TRUE(model) << model.message();
  EXPECT_EQ((*model)->metadata.kernels[0].scheduleSource, "model");
  options.tuningDB = base + "/missing";
  options.schedule = "tile = 128x128x64";
  auto user = compiler.compileProblem(problem, options);
  ASSERT_TRUE(user) << user.message();
  EXPECT_EQ((*user)->metadata.kernels[0].scheduleSource, "user");
}

TEST_F(CompilerTest, OneCompilationPerKeyHoweverManyThreadsAsk) {
  options.cacheDir = "none";
  Compiler compiler;
  std::vector<std::thread> threads;
  std::vector<Result<std::shared_ptr<const Artifact>>> results(
      16, Status::error("not run"));
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      Problem mine = problem;
      mine.n = 256 + 128 * (i % 2);
      results[i] = compiler.compileProblem(mine, options);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(results[i]) << results[i].message();
    EXPECT_EQ(results[i]->get(), results[i % 2]->get());
  }
  EXPECT_NE(results[0]->get(), results[1]->get());
  EXPECT_EQ(compiler.statistics().compiled, 2);
  EXPECT_EQ(compiler.statistics().memoryHits, 14);
}

TEST_F(CompilerTest, TextThatDiffersOnlyInLayoutSharesItsKey) {
  // Locations are part of an artifact only when they get into the PTX.
  options.debugDirectives = false;
  Result<std::string> text = problemToModule(problem);
  ASSERT_TRUE(text) << text.message();
  Compiler compiler;
  auto plain = compiler.compileModule(*text, options);
  ASSERT_TRUE(plain) << plain.message();
  auto spaced = compiler.compileModule("\n\n// comment\n" + *text, options);
  ASSERT_TRUE(spaced) << spaced.message();
  EXPECT_EQ(plain->get(), spaced->get());
  EXPECT_EQ(compiler.statistics().compiled, 1);
}

TEST_F(CompilerTest, WhatMattersIsInTheKey) {
  Compiler compiler;
  int64_t expected = 0;
  auto expectCompiles = [&](const char *what) {
    auto artifact = compiler.compileProblem(problem, options);
    EXPECT_TRUE(artifact) << what << ": " << artifact.message();
    EXPECT_EQ(compiler.statistics().compiled, ++expected) << what;
  };
  expectCompiles("first");
  options.ptxVersion = 84;
  expectCompiles("PTX version");
  options.debugDirectives = false;
  expectCompiles("debug directives");
  options.schedule = "tile = 128x128x64, stages = 3";
  expectCompiles("schedule");
  problem.k = 192;
  expectCompiles("problem");
  EXPECT_EQ(compiler.statistics().diskHits, 0);
}

/// A program that answers like the ptxas of a release and writes a file that
/// begins like a cubin.
static std::string makeAssembler(const std::string &folder,
                                 const std::string &release) {
  fs::create_directories(folder);
  std::string path = folder + "/ptxas";
  std::ofstream(path) << "#!/bin/sh\n"
                         "if [ \"$1\" = --version ]; then\n"
                         "  echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'\n"
                         "  echo 'release "
                      << release << ", V" << release
                      << ".1'\n"
                         "  exit 0\n"
                         "fi\n"
                         "while [ $# -gt 1 ]; do\n"
                         "  [ \"$1\" = -o ] && printf '\\177ELF' > \"$2\"\n"
                         "  shift\n"
                         "done\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

TEST_F(CompilerTest, AnotherAssemblerIsAnotherKey) {
  options.requireCubin = true;
  std::vector<std::string> assemblers = {makeAssembler(base + "/a", "12.8"),
                                         makeAssembler(base + "/b", "12.8"),
                                         makeAssembler(base + "/c", "13.0")};
  for (int round = 0; round < 2; ++round) {
    Compiler compiler;
    for (const std::string &assembler : assemblers) {
      options.ptxasPath = assembler;
      auto artifact = compiler.compileProblem(problem, options);
      ASSERT_TRUE(artifact) << artifact.message();
      EXPECT_EQ((*artifact)->cubin.size(), 4u);
    }
    // The second round finds all three on disk.
    EXPECT_EQ(compiler.statistics().compiled, round == 0 ? 3 : 0);
    EXPECT_EQ(compiler.statistics().diskHits, round == 0 ? 0 : 3);
  }
  // The same file, replaced by another release: its answer is asked for anew.
  options.ptxasPath = makeAssembler(base + "/a", "13.0");
  Compiler compiler;
  ASSERT_TRUE(compiler.compileProblem(problem, options));
  EXPECT_EQ(compiler.statistics().compiled, 1);
}

TEST_F(CompilerTest, ACacheThatCannotBeWrittenCostsNothingButTime) {
  std::ofstream(base + "/file") << "in the way";
  options.cacheDir = base + "/file/cache";
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  EXPECT_TRUE(artifact) << artifact.message();
}

TEST_F(CompilerTest, TheUsersScheduleIsTaken) {
  options.schedule = "tile = 128x64x64, stages = 5";
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  ASSERT_TRUE(artifact) << artifact.message();
  const KernelMetadata &kernel = (*artifact)->metadata.kernels.front();
  EXPECT_EQ(kernel.schedule.tileN, 64);
  EXPECT_EQ(kernel.schedule.stages, 5);
  EXPECT_EQ(kernel.scheduleSource, "user");
}

TEST_F(CompilerTest, BadOptionsAreNamed) {
  Compiler compiler;
  auto errorOf = [&](CompileOptions changed) {
    auto artifact = compiler.compileProblem(problem, changed);
    EXPECT_FALSE(artifact);
    return artifact.message();
  };
  CompileOptions changed = options;
  changed.chip = "sm_80";
  EXPECT_NE(errorOf(changed).find("sm_80"), std::string::npos);
  changed = options;
  changed.ptxVersion = 91;
  EXPECT_NE(errorOf(changed).find("91"), std::string::npos);
  changed = options;
  changed.schedule = "tile = 128x128";
  EXPECT_NE(errorOf(changed).find("tile"), std::string::npos);
  changed = options;
  changed.emitCubin = true;
  changed.ptxasPath = "/nowhere/ptxas";
  EXPECT_NE(errorOf(changed).find("/nowhere/ptxas"), std::string::npos);
}

TEST_F(CompilerTest, BadProblemsAreNamed) {
  problem.scaleA.type = DType::F32;
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  ASSERT_FALSE(artifact);
  EXPECT_NE(artifact.message(), "");
}

TEST_F(CompilerTest, BadModulesGiveDiagnosticsWithPlaces) {
  options.inputName = "in.mlir";
  Compiler compiler;
  for (const char *text : {"not mlir at all", "func.func @f() {", "\xff\xfe"}) {
    auto artifact = compiler.compileModule(text, options);
    ASSERT_FALSE(artifact) << text;
    EXPECT_NE(artifact.message().find("in.mlir:1:"), std::string::npos)
        << artifact.message();
  }
  auto none = compiler.compileModule("module {}", options);
  ASSERT_FALSE(none);
  EXPECT_NE(none.message().find("expected one dgemm.matmul, found none"),
            std::string::npos);
}

TEST_F(CompilerTest, EveryLevelCanBeDumped) {
  options.dumpDir = base + "/dump";
  Compiler compiler;
  auto artifact = compiler.compileProblem(problem, options);
  ASSERT_TRUE(artifact) << artifact.message();
  int files = 0;
  for (const auto &entry : fs::recursive_directory_iterator(options.dumpDir))
    files += entry.is_regular_file() && fs::file_size(entry) > 0;
  EXPECT_GE(files, 8);
}
