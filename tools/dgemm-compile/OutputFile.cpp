// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of dgemm-compile.

#include "OutputFile.h"

#include "dgemm/Support/File.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dgemm::compile {

static Status fileError(const std::string &what, const std::string &path,
                        int code = errno) {
  return Status::error("cannot " + what + " '" + path +
                       "': " + std::strerror(code));
}

Result<std::string> readInput(const std::string &path) {
  return readFile(path == "-" ? "/dev/stdin" : path);
}

static bool writeAll(int file, const std::string &content) {
  size_t done = 0;
  while (done < content.size()) {
    ssize_t count = ::write(file, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

static Status writeDirectly(int file, const std::string &path,
                            const std::string &content) {
  if (!writeAll(file, content))
    return fileError("write", path);
  return Status::success();
}

Status writeOutput(const std::string &path, const std::string &content) {
  if (path == "-")
    return writeDirectly(STDOUT_FILENO, "standard output", content);
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return fileError("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      return fileError("write", path);
    Status status = writeDirectly(file, path, content);
    ::close(file);
    return status;
  }
  // A rename would replace a file that its owner has made read-only.
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return fileError("write", path);

  return writeFileAtomically(path, content);
}

} // namespace dgemm::compile
