// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of tuning.

#ifndef DGEMM_TOOLS_TUNE_TUNEOPTIONS_H
#define DGEMM_TOOLS_TUNE_TUNEOPTIONS_H

#include "dgemm/Tools/Arguments.h"
#include "dgemm/Tools/ProblemSet.h"
#include "dgemm/Tuner/Tuner.h"

namespace dgemm::tune {

struct CommandLine {
  std::string problems, gemm, recorded, m, filter, device = "auto", l2;
  std::string plant, ptxas;
  bool list = false, online = false, resume = false, quiet = false;
  bool missing = false;
  double timeout = 5, idle = 0.05;
  tuner::TuneOptions tuning;
};

void declareOptions(Arguments &arguments, CommandLine &line);
/// Checks what stands on the command line alone, and reads --plant.
Status checkOptions(const Arguments &arguments, CommandLine &line);

/// The problems that --problems, --gemm or --recorded name, sizes left open
/// replaced by each of --m, and --filter applied.
Result<ProblemSet> readProblems(const CommandLine &line);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_TUNEOPTIONS_H
