// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files and subprocesses, as the JIT needs them: errors are values, and nothing
// is printed.

#ifndef DGEMM_LIB_JIT_SYSTEM_H
#define DGEMM_LIB_JIT_SYSTEM_H

#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm::jit {

/// Value of an environment variable; empty when it is not set.
std::string getEnv(const char *name);

Result<std::string> readFile(const std::string &path);
/// Writes in place; for files that nobody else looks at yet.
Status writeFile(const std::string &path, const std::string &content);

/// A folder under $TMPDIR (or /tmp) that goes away with the object.
class TempDir {
public:
  static Result<TempDir> create();
  TempDir(TempDir &&other) noexcept : folder(std::move(other.folder)) {
    other.folder.clear();
  }
  TempDir &operator=(TempDir &&) = delete;
  ~TempDir();
  const std::string &path() const { return folder; }

private:
  explicit TempDir(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

struct ProcessResult {
  int exitCode = 0;   ///< 128 + signal when a signal ended it
  std::string output; ///< stdout and stderr together
};

/// Runs a program without a shell and waits for it. A program that cannot be
/// started, or that runs longer than the limit (it is killed), is an error;
/// an exit code other than 0 is not.
Result<ProcessResult> runProcess(const std::vector<std::string> &command,
                                 int timeoutSeconds);

} // namespace dgemm::jit

#endif // DGEMM_LIB_JIT_SYSTEM_H
