// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of dgemm-run, and its exit codes.

#ifndef DGEMM_TOOLS_DGEMM_RUN_RUNOPTIONS_H
#define DGEMM_TOOLS_DGEMM_RUN_RUNOPTIONS_H

#include "dgemm/Tools/Arguments.h"

#include <cstdint>
#include <string>

namespace dgemm::run {

/// What dgemm-run ends with.
enum ExitCode : int {
  kRight = 0,       ///< ran, and every number is right
  kWrong = 1,       ///< wrong numbers, a fault, or a finding of the emulator
  kBadInput = 2,    ///< nothing to run: bad options, input, or no compilation
  kNotExecuted = 3, ///< compiled, but there is no device to run it on
};

struct RunOptions {
  std::string input; ///< MLIR file; empty: gemm or batch is set
  std::string gemm, schedule, batch;
  std::string device = "auto", chip = "sm_90a", data = "normal";
  std::string order = "lazy", ptxas, cacheDir, dynamicDims, db;
  int64_t m = -1, n = -1, k = -1;
  int64_t seed = 1, repeat = 1, ptx = 80, smLimit = 0, rasterGroup = 0;
  int64_t emulatorSeed = 1, emulatorSms = 4, batchFrom = 0, batchPipe = -1;
  double timeout = 20;
  bool json = false, report = false, verify = true, time = true;
  bool pdl = false, allowSlow = false, narrowFp8 = false, driverJit = false;
  bool againstEmulator = false;
};

/// Declares every option on `arguments`, bound to `options`.
void declareOptions(Arguments &arguments, RunOptions &options);
/// Checks what the parser cannot: exactly one input, known words, ranges.
Status checkOptions(const Arguments &arguments, RunOptions &options);

} // namespace dgemm::run

#endif // DGEMM_TOOLS_DGEMM_RUN_RUNOPTIONS_H
