// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that is tuned while it runs, for people to look at.

#ifndef DGEMM_TOOLS_TUNE_ONLINERUN_H
#define DGEMM_TOOLS_TUNE_ONLINERUN_H

#include "TuneOptions.h"

#include <atomic>

namespace dgemm::tune {

/// Whether times come from the cost model rather than from a GPU.
inline bool wantsModel(const CommandLine &line) {
  return line.device.rfind("model:", 0) == 0;
}

/// Starts the process that measures and puts the device it found into `line`.
Result<std::unique_ptr<tuner::Worker>> startWorker(CommandLine &line);

/// Calls every problem again and again, with pauses, until all are tuned, the
/// budget is over or `stop` is set; prints each artifact that takes the place
/// of another. Returns the code to end with.
int runOnline(CommandLine &line, const std::vector<tuner::TuneTask> &tasks,
              const std::atomic<bool> &stop);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_ONLINERUN_H
