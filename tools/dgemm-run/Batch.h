// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Many cases from one file.

#ifndef DGEMM_TOOLS_DGEMM_RUN_BATCH_H
#define DGEMM_TOOLS_DGEMM_RUN_BATCH_H

#include "RunCase.h"

namespace dgemm::run {

/// Runs every case of options.batch, a line each, and prints the totals. The
/// cases run in a worker process, so that a crash, a hang or a lost device
/// costs one case: a new worker goes on behind it.
int runBatch(int argc, char **argv, const RunOptions &options);

/// The worker: runs cases from options.batchFrom on and writes one byte per
/// case to options.batchPipe.
int runBatchWorker(const RunOptions &options);

} // namespace dgemm::run

#endif // DGEMM_TOOLS_DGEMM_RUN_BATCH_H
