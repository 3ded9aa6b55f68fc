// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How many planted faults the emulator finds. DGEMM_MUTANT_STRIDE = n takes
// every n-th of all faults (1: all of them, as scripts/emulator-mutants.sh
// does; default: a sample); DGEMM_MUTANT_KERNEL takes the kernels with this
// text in their names; tables by kind of fault and by kernel go to the file
// named by DGEMM_MUTANT_TABLE. A mutant runs until something is found.

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
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

using namespace dgemm;
using namespace dgemm::test;

namespace {

/// A kernel and how to run it once.
struct Subject {
  std::string name; ///< a few words for the table
  std::string l3;
  int smCount = 2;      ///< few, so that persistent loops turn
  bool oneTile = false; ///< of each CTA
  size_t stride = 1;    ///< of all its faults every n-th is planted
  std::function<Outcome(const EmulatorProgram &, const EmulatorOptions &)> run;
};

/// A kernel of the compiler on a small problem; K is long enough that every
/// ring turns around twice.
Subject compiled(const std::string &name, const std::string &gemm,
                 const std::string &schedule, int64_t m, int64_t n, int64_t k) {
  Result<CompiledGemm> made = CompiledGemm::create(gemm, schedule);
  EXPECT_TRUE(made.ok()) << schedule << ": " << made.message();
  Subject out;
  out.name = name;
  if (!made)
    return out;
  out.l3 = made->l3;
  out.oneTile = !made->metadata.kernels[0].persistent;
  const int (&cluster)[3] = made->metadata.kernels[0].cluster;
  out.smCount = std::max(2, cluster[0] * cluster[1] * cluster[2]);
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
  out.oneTile = true;
  out.l3 = kernel.text();
  out.run = [kernel](const EmulatorProgram &program,
                     const EmulatorOptions &options) {
    GemmRun gemm(kernel, 256, 96, 5 * kernel.tileK() + 10);
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

/// The kernel has one loop for each way its columns are cut by the blocks of
/// scales; eight tiles along N run them all. The last tile of either side has
/// fewer rows. The loops are copies of each other, so some of the faults say as
/// much as all.
Subject overlapped(const std::string &gemm) {
  Subject out = compiled("FP8 1x128, overlapped", gemm,
                         "tile = 128x176x128, n_blocks = 2 overlapped, stages "
                         "= 3, promote = 128",
                         264, 1400, 640);
  out.stride = 5;
  return out;
}

std::vector<Subject> subjects() {
  const std::string blocks =
      "a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,scale_b=128x128";
  return {
      compiled("BF16, cooperative", "a=bf16,b=bf16,d=bf16",
               "tile = 128x128x64, stages = 3", 200, 136, 448),
      compiled("FP8 1x128", blocks + ",scale_a_major=mn",
               "tile = 128x128x128, stages = 3, promote = 128", 200, 136, 896),
      compiled("FP8 1x128, in turn", blocks + ",scale_a_major=mn",
               "tile = 128x128x128, consumers = 2 cooperative in_turn, stages "
               "= 3, promote = 128",
               200, 136, 896),
      compiled("BF16, one consumer", "a=bf16,b=bf16,d=f32",
               "tile = 64x64x64, consumers = 1 cooperative, stages = 2", 100,
               72, 320),
      compiled("FP8 tensor, vector store",
               "a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=tensor,scale_b=tensor",
               "tile = 128x64x128, stages = 4, promote = 128, store = vector",
               200, 72, 1152),
      compiled("BF16, ping-pong", "a=bf16,b=bf16,d=bf16",
               "tile = 64x128x64, consumers = 2 pingpong, stages = 3", 200, 136,
               448),
      overlapped(blocks),
      compiled("BF16, split K over a cluster of 2", "a=bf16,b=bf16,d=bf16",
               "tile = 64x64x64, consumers = 1 cooperative, stages = 2, regs = "
               "[0, 0], store = vector, persistent = false, split_k = 2 "
               "cluster",
               100, 72, 640),
      compiled("FP8 1x128, swap-AB, split K over a cluster of 4", blocks,
               "tile = 16x64x128, consumers = 1 cooperative, stages = 2, regs "
               "= [0, 0], store = vector, persistent = false, promote = 128, "
               "split_k = 4 cluster, form = swap_ab",
               20, 136, 2560),
      compiled("BF16, split K through a workspace", "a=bf16,b=bf16,d=bf16",
               "tile = 64x64x64, consumers = 1 cooperative, stages = 2, regs = "
               "[0, 0], store = vector, persistent = false, split_k = 2 "
               "workspace",
               100, 72, 640),
      compiled("BF16, stream-K", "a=bf16,b=bf16,d=bf16",
               "tile = 64x64x64, consumers = 1 cooperative, stages = 2, regs = "
               "[0, 0], store = vector, split_k = 3 stream_k",
               150, 136, 640),
      compiled("BF16, cluster of 2, multicast B", "a=bf16,b=bf16,d=bf16",
               "tile = 128x128x64, stages = 3, cluster = 2x1 multicast b", 300,
               136, 448),
      compiled("FP8 1x128, cluster of 2x2, multicast A", blocks,
               "tile = 128x128x128, stages = 3, promote = 128, cluster = 2x2 "
               "multicast a",
               300, 264, 896),
      // With more K blocks for each tile, or fewer slots, the release of a slot
      // would already say that the queue of tile numbers has a free place.
      compiled("BF16, dynamic tiles", "a=bf16,b=bf16,d=bf16",
               "tile = 128x128x64, stages = 4, tiles = dynamic", 520, 264, 128),
      compiled("BF16, registers, split K over a cluster of 2",
               "a=bf16,b=bf16,d=bf16",
               "tile = 8x16x64, consumers = 4 cooperative, stages = 2, form = "
               "register, store = vector, persistent = false, split_k = 2 "
               "cluster",
               7, 50, 1085),
      clustered(DType::BF16),
      clustered(DType::F8E4M3FN),
  };
}

struct Tally {
  int planted = 0, found = 0, firstRun = 0, byNumbersAlone = 0;
};

/// The default run: lazy with three seeds, then eager and random with two each.
std::vector<EmulatorOptions> defaultRuns(const Subject &subject) {
  std::vector<EmulatorOptions> runs;
  const auto add = [&](AsyncOrder order, uint64_t seeds) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      EmulatorOptions options;
      options.order = order;
      options.seed = seed;
      options.threads = 1;
      options.smCount = subject.smCount;
      options.stepLimit = 2'000'000;
      runs.push_back(options);
    }
  };
  add(AsyncOrder::Lazy, 3);
  add(AsyncOrder::Eager, 2);
  add(AsyncOrder::Random, 2);
  return runs;
}

/// What became of one mutant.
struct Fate {
  bool found = false, firstRun = false, byNumbers = false;
  std::string problem; ///< it could not be tried
};

mlir::OwningOpRef<mlir::ModuleOp> parse(const Subject &subject,
                                        mlir::MLIRContext &context) {
  return mlir::parseSourceString<mlir::ModuleOp>(
      subject.l3, mlir::ParserConfig(&context), "kernel.mlir");
}

Fate tryMutant(const Subject &subject, size_t index,
               mlir::MLIRContext &context) {
  Fate fate;
  mlir::OwningOpRef<mlir::ModuleOp> mutant = parse(subject, context);
  applyMutation(*mutant, subject.oneTile, index);
  if (mlir::failed(mlir::verify(*mutant))) {
    fate.problem = "does not verify";
    return fate;
  }
  auto program = EmulatorProgram::create(*mutant);
  if (!program) {
    fate.problem = program.message();
    return fate;
  }
  fate.firstRun = true;
  for (const EmulatorOptions &options : defaultRuns(subject)) {
    const Outcome outcome = subject.run(**program, options);
    fate.byNumbers = outcome.report.findings.empty();
    if ((fate.found = !outcome.clean()))
      break;
    fate.firstRun = false;
  }
  return fate;
}

TEST(Mutants, AreFound) {
  const char *strideText = std::getenv("DGEMM_MUTANT_STRIDE");
  const size_t strideOfAll =
      strideText ? size_t(std::max(1, std::atoi(strideText))) : 23;
  const char *wanted = std::getenv("DGEMM_MUTANT_KERNEL");
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::map<std::string, Tally> byKind, byKernel;
  Tally total;
  std::string missed;
  for (const Subject &subject : subjects()) {
    ASSERT_TRUE(subject.run);
    if (wanted && subject.name.find(wanted) == std::string::npos)
      continue;
    const size_t stride = strideOfAll * subject.stride;
    mlir::OwningOpRef<mlir::ModuleOp> original = parse(subject, context);
    ASSERT_TRUE(original);
    // The unmutated kernel is clean, or the table means nothing.
    {
      auto program = EmulatorProgram::create(*original);
      ASSERT_TRUE(program.ok()) << program.message();
      for (const EmulatorOptions &options : defaultRuns(subject)) {
        const Outcome outcome = subject.run(**program, options);
        ASSERT_TRUE(outcome.clean()) << subject.name << "\n" << outcome.text();
      }
    }
    const std::vector<Mutation> all = listMutations(*original, subject.oneTile);
    std::vector<Fate> fates(all.size());
    std::atomic<size_t> next{stride / 2};
    const auto work = [&] {
      mlir::MLIRContext own(registry, mlir::MLIRContext::Threading::DISABLED);
      for (size_t i; (i = next.fetch_add(stride)) < all.size();)
        fates[i] = tryMutant(subject, i, own);
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (size_t i = stride / 2; i < all.size(); i += stride) {
      const Fate &fate = fates[i];
      ASSERT_EQ(fate.problem, "") << all[i].kind << " " << all[i].place;
      for (Tally *tally :
           {&byKind[all[i].kind], &byKernel[subject.name], &total}) {
        ++tally->planted;
        tally->found += fate.found;
        tally->firstRun += fate.found && fate.firstRun;
        tally->byNumbersAlone += fate.found && fate.byNumbers;
      }
      if (!fate.found)
        missed += "  " + subject.name + ": " + all[i].kind + " at " +
                  all[i].place + "\n";
    }
    // A long run shows how far it is.
    if (strideText) {
      std::printf("%s: %d faults, %d found\n", subject.name.c_str(),
                  byKernel[subject.name].planted, byKernel[subject.name].found);
      std::fflush(stdout);
    }
  }
  std::string text;
  const auto write = [&](const std::string &head,
                         const std::map<std::string, Tally> &table) {
    const auto row = [&](const std::string &name, const Tally &t) {
      text += "| " + name + " | " + std::to_string(t.planted) + " | " +
              std::to_string(t.found) + " | " + std::to_string(t.firstRun) +
              " | " + std::to_string(t.byNumbersAlone) + " |\n";
    };
    text += "| " + head +
            " | planted | found | in the first run | by wrong numbers alone "
            "|\n|---|---|---|---|---|\n";
    for (const auto &[name, tally] : table)
      row(name, tally);
    row("all", total);
    text += "\n";
  };
  write("fault", byKind);
  write("kernel", byKernel);
  if (const char *file = std::getenv("DGEMM_MUTANT_TABLE"))
    std::ofstream(file) << text << missed;
  EXPECT_GE(total.found * 100, total.planted * 99) << text << "missed:\n"
                                                   << missed;
}

} // namespace
