// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of tuning.

#ifndef DGEMM_TOOLS_TUNE_TUNEOPTIONS_H
#define DGEMM_TOOLS_TUNE_TUNEOPTIONS_H

#include "dgemm/Tools/Arguments.h"
#include "dgemm/Tools/ProblemSet.h"

namespace dgemm::tune {

struct TuneOptions {
  std::string problems, gemm, filter, device = "H200";
  int64_t top = 16;
};

void declareOptions(Arguments &arguments, TuneOptions &options);
Status checkOptions(const Arguments &arguments, const TuneOptions &options);

/// The problems that --problems or --gemm name and --filter leaves.
Result<ProblemSet> readProblems(const TuneOptions &options);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_TUNEOPTIONS_H
