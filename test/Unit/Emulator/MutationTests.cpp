// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How many planted faults the emulator finds. DGEMM_MUTANT_STRIDE = n takes
// every n-th of all faults (1: all of them, as scripts/emulator-mutants.sh
// does; default: a sample); a table by kind of fault goes to the file named by
// DGEMM_MUTANT_TABLE.

#include "CompiledGemm.h"
#include "Mutations.h"
#include "TestKernels.h"

#include "dgemm/InitAllDialects.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

using namespace dgemm;
using namespace dgemm::test;

namespace {

/// A kernel and how to run it once.
struct Subject {
  std::string name, l3;
  std::function<Outcome(const EmulatorProgram &, const EmulatorOptions &)> run;
};

/// A kernel of the compiler on a small problem; K is long enough that every
/// ring turns around twice.
Subject compiled(const std::string &gemm, const std::string &schedule,
                 int64_t m, int64_t n, int64_t k) {
  Result<CompiledGemm> made = CompiledGemm::create(gemm, schedule);
  EXPECT_TRUE(made.ok()) << schedule << ": " << made.message();
  Subject out;
  out.name = gemm + " " + schedule;
  if (!made)
    return out;
  out.l3 = made->l3;
  out.run = [gemm = std::move(*made), m, n, k](const EmulatorProgram &program,
                                               const EmulatorOptions &options) {
    return runGemm(program, gemm, m, n, k, options);
  };
  return out;
}

/// The hand-written kernel in clusters of two with multicast.
Subject clustered(DType type) {
  KernelText kernel;
  kernel.type = type;
  kernel.cluster = 2;
  Subject out;
  out.name = std::string("cluster of two, multicast, ") + toString(type);
  out.l3 = kernel.text();
  out.run = [kernel](const EmulatorProgram &program,
                     const EmulatorOptions &options) {
    GemmRun gemm(kernel, 256, 96, 330);
    EmulatorOptions full = gemm.options(options.order, options.seed);
    full.stepLimit = options.stepLimit;
    Outcome outcome;
    outcome.status =
        program.run(kernel.metadata(), gemm.sizes(), gemm.operands(),
                    LaunchOptions(), full, outcome.report);
    outcome.error = gemm.error();
    outcome.numbersRight = outcome.report.completed && outcome.error <= 3e-3;
    return outcome;
  };
  return out;
}

std::vector<Subject> subjects() {
  const std::string blocks =
      "a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,scale_b=128x128";
  return {
      compiled("a=bf16,b=bf16,d=bf16", "tile = 128x128x64, stages = 3", 200,
               136, 448),
      compiled(blocks + ",scale_a_major=mn",
               "tile = 128x128x128, stages = 3, promote = 128", 200, 136, 896),
      compiled("a=bf16,b=bf16,d=f32",
               "tile = 64x64x64, consumers = 1 cooperative, stages = 2", 100,
               72, 320),
      compiled("a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=tensor,scale_b=tensor",
               "tile = 128x64x128, stages = 4, promote = 128, store = vector",
               200, 72, 1152),
      compiled("a=bf16,b=bf16,d=bf16",
               "tile = 64x128x64, consumers = 2 pingpong, stages = 3", 200, 136,
               448),
      // The kernel has one loop for each way its columns are cut by the blocks
      // of scales; eight tiles along N run them all.
      compiled(blocks,
               "tile = 128x176x128, n_blocks = 2 overlapped, stages = 3, "
               "promote = 128",
               72, 1408, 640),
      clustered(DType::BF16),
      clustered(DType::F8E4M3FN),
  };
}

struct Tally {
  int planted = 0, found = 0, byNumbersAlone = 0, everySeed = 0;
};

/// The default run: lazy with three seeds, then eager.
std::vector<EmulatorOptions> defaultRuns() {
  std::vector<EmulatorOptions> runs;
  for (uint64_t seed : {1, 2, 3, 1}) {
    EmulatorOptions options;
    options.order = runs.size() == 3 ? AsyncOrder::Eager : AsyncOrder::Lazy;
    options.seed = seed;
    options.threads = 1;
    options.smCount = 2;
    options.stepLimit = 2'000'000;
    runs.push_back(options);
  }
  return runs;
}

TEST(Mutants, AreFound) {
  const char *strideText = std::getenv("DGEMM_MUTANT_STRIDE");
  const size_t stride =
      strideText ? size_t(std::max(1, std::atoi(strideText))) : 23;
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::map<std::string, Tally> table;
  Tally total;
  std::string missed;
  for (const Subject &subject : subjects()) {
    ASSERT_TRUE(subject.run);
    auto parse = [&] {
      return mlir::parseSourceString<mlir::ModuleOp>(
          subject.l3, mlir::ParserConfig(&context), "kernel.mlir");
    };
    mlir::OwningOpRef<mlir::ModuleOp> original = parse();
    ASSERT_TRUE(original);
    // The unmutated kernel is clean, or the table means nothing.
    {
      auto program = EmulatorProgram::create(*original);
      ASSERT_TRUE(program.ok()) << program.message();
      for (const EmulatorOptions &options : defaultRuns()) {
        const Outcome outcome = subject.run(**program, options);
        ASSERT_TRUE(outcome.clean()) << subject.name << "\n" << outcome.text();
      }
    }
    const std::vector<Mutation> all = listMutations(*original);
    for (size_t i = stride / 2; i < all.size(); i += stride) {
      mlir::OwningOpRef<mlir::ModuleOp> mutant = parse();
      applyMutation(*mutant, i);
      ASSERT_TRUE(mlir::succeeded(mlir::verify(*mutant)))
          << all[i].kind << " " << all[i].place;
      auto program = EmulatorProgram::create(*mutant);
      ASSERT_TRUE(program.ok()) << program.message();
      int found = 0, numbers = 0, runs = 0;
      for (const EmulatorOptions &options : defaultRuns()) {
        const Outcome outcome = subject.run(**program, options);
        ++runs;
        if (outcome.clean())
          continue;
        ++found;
        if (outcome.report.findings.empty())
          ++numbers;
      }
      for (Tally *tally : {&table[all[i].kind], &total}) {
        ++tally->planted;
        tally->found += found > 0;
        tally->everySeed += found == runs;
        tally->byNumbersAlone += found > 0 && numbers == found;
      }
      if (!found)
        missed += "  " + subject.name + ": " + all[i].kind + " at " +
                  all[i].place + "\n";
    }
  }
  std::string text = "| fault | planted | found | in every run | by wrong "
                     "numbers alone |\n|---|---|---|---|---|\n";
  const auto row = [&](const std::string &name, const Tally &t) {
    text += "| " + name + " | " + std::to_string(t.planted) + " | " +
            std::to_string(t.found) + " | " + std::to_string(t.everySeed) +
            " | " + std::to_string(t.byNumbersAlone) + " |\n";
  };
  for (const auto &[kind, tally] : table)
    row(kind, tally);
  row("all", total);
  if (const char *file = std::getenv("DGEMM_MUTANT_TABLE"))
    std::ofstream(file) << text << "\n" << missed;
  EXPECT_GE(total.found * 100, total.planted * 99) << text << "missed:\n"
                                                   << missed;
}

} // namespace
