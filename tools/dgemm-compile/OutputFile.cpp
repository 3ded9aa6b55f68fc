// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of dgemm-compile.

#include "OutputFile.h"

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
  bool standard = path == "-";
  struct stat info;
  // fopen succeeds on folders, and reading one fails late.
  if (!standard && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return fileError("read", path, EISDIR);
  std::FILE *file = standard ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return fileError("read", path);
  std::string content;
  char buffer[65536];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
    content.append(buffer, count);
  bool failed = std::ferror(file);
  int code = errno;
  if (!standard)
    std::fclose(file);
  if (failed)
    return fileError("read", path, code);
  return content;
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

  std::string temporary = path + ".XXXXXX";
  int file = ::mkstemp(temporary.data());
  if (file < 0)
    return fileError("write", path);
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, exists ? info.st_mode & 07777 : 0666 & ~mask);
  bool written = writeAll(file, content);
  int code = errno;
  if (::close(file) != 0 && written) {
    written = false;
    code = errno;
  }
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0)
    return Status::success();
  if (written)
    code = errno;
  ::unlink(temporary.c_str());
  return fileError("write", path, code);
}

} // namespace dgemm::compile
