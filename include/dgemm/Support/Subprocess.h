// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs run to their end, with a time limit and without a shell.

#ifndef DGEMM_SUPPORT_SUBPROCESS_H
#define DGEMM_SUPPORT_SUBPROCESS_H

#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm {

struct ProcessResult {
  int exitCode = 0;      ///< 128 + signal when a signal ended it
  bool timedOut = false; ///< it ran past the limit and was killed
  std::string output;    ///< stdout and stderr together, in order
};

/// Runs command[0] (a path, or a name looked up in $PATH) with the remaining
/// arguments and waits for it. Standard input is empty. A program past the
/// limit is killed together with everything it started, and what it wrote
/// until then is returned. An error means that it could not be started.
Result<ProcessResult> runProcess(const std::vector<std::string> &command,
                                 double timeoutSeconds);

} // namespace dgemm

#endif // DGEMM_SUPPORT_SUBPROCESS_H
