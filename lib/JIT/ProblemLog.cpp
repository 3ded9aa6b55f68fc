// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "ProblemLog.h"

#include "dgemm/Support/Env.h"

#include <fcntl.h>
#include <unistd.h>

namespace dgemm::jit {

void recordProblem(const Problem &problem) {
  std::string path = getEnv("DGEMM_RECORD");
  if (path.empty())
    return;
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  // The text of a problem has nothing that JSON would escape, and one short
  // write to a file that is appended to is not torn by another.
  std::string line = "{\"gemm\": \"" + toString(problem) + "\"}\n";
  ssize_t written = ::write(file, line.data(), line.size());
  (void)written;
  ::close(file);
}

} // namespace dgemm::jit
