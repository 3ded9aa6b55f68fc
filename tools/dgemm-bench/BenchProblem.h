// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring one problem: dgemm's kernels and the baselines, interleaved.

#ifndef DGEMM_TOOLS_DGEMM_BENCH_BENCHPROBLEM_H
#define DGEMM_TOOLS_DGEMM_BENCH_BENCHPROBLEM_H

#include "BenchOptions.h"
#include "dgemm/JIT/Compiler.h"
#include "dgemm/Reference/Verify.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Tools/GemmOption.h"
#include "dgemm/Tools/PeerTable.h"
#include "dgemm/Tools/ProblemSet.h"

#include <optional>

namespace dgemm::bench {

/// One measured candidate of a problem.
struct CandidateRow {
  std::string name;     ///< "dgemm", "dgemm:1", "cublaslt-bf16", ...
  std::string schedule; ///< of dgemm's own
  std::string source;   ///< who chose it
  bool own = false;
  bool sameRecipe = true; ///< computes exactly what the problem asks for
  cuda::Measurement time;
  std::optional<VerifyResult> verified;
  std::string error; ///< why it was not measured; empty when it was
};

struct ProblemRow {
  ProblemSetEntry entry;
  LaunchSizes sizes;
  std::vector<CandidateRow> candidates;
  std::vector<PeerRow> peers;
  std::string error;       ///< nothing was measured because of this
  bool deviceLost = false; ///< the process cannot use the GPU any more

  /// dgemm's fastest candidate; null when none was measured.
  const CandidateRow *best() const;
  /// The baseline that computes the same; null when there is none.
  const CandidateRow *sameBaseline() const;
};

/// Compiles every problem under every schedule on all cores, before anything
/// is measured; the results wait in the process-wide compiler.
void compileAhead(const std::vector<ProblemSetEntry> &entries,
                  const BenchOptions &options,
                  const jit::CompileOptions &compile);

ProblemRow benchProblem(const ProblemSetEntry &entry,
                        const BenchOptions &options,
                        const jit::CompileOptions &compile,
                        std::shared_ptr<cuda::Device> device,
                        cuda::KernelTimer &timer);

} // namespace dgemm::bench

#endif // DGEMM_TOOLS_DGEMM_BENCH_BENCHPROBLEM_H
