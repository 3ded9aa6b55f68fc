// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of dgemm-bench.

#ifndef DGEMM_TOOLS_DGEMM_BENCH_BENCHOPTIONS_H
#define DGEMM_TOOLS_DGEMM_BENCH_BENCHOPTIONS_H

#include "dgemm/Runtime/CublasLt.h"
#include "dgemm/Runtime/Timing.h"
#include "dgemm/Tools/Arguments.h"

#include <optional>
#include <string>
#include <vector>

namespace dgemm::bench {

struct BenchOptions {
  std::string problems, gemm, schedules, baseline = "auto", peers, filter;
  std::string l2, json, ptxas, cacheDir, dynamicDims, db, commit;
  int64_t repeats = 21, warmups = 2, seed = 1, smLimit = 0, flushMiB = 768;
  double pauseMs = 3, sustainedMs = 200, timeout = 20;
  bool sustained = false, events = false, verify = true, pdl = false;
  bool allowSlow = false;
};

void declareOptions(Arguments &arguments, BenchOptions &options);
Status checkOptions(const Arguments &arguments, const BenchOptions &options);

/// The schedules of --schedules; one empty text when none is given, which
/// leaves the choice to the compiler.
std::vector<std::string> scheduleTexts(const BenchOptions &options);

/// The baselines --baseline asks for on this problem: "auto" the one that
/// computes the same, "all" every one for its operand types, "none", or a
/// list of names.
Result<std::vector<cuda::Baseline>> baselines(const BenchOptions &options,
                                              const Problem &problem);

Result<cuda::TimingOptions> timingOptions(const BenchOptions &options,
                                          const std::string &setL2);

} // namespace dgemm::bench

#endif // DGEMM_TOOLS_DGEMM_BENCH_BENCHOPTIONS_H
