// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Support/File.h"

#include "dgemm/Support/Env.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace dgemm {

static Status systemError(const char *action, const std::string &path) {
  return Status::error(std::string("cannot ") + action + " '" + path +
                       "': " + std::strerror(errno));
}

namespace {
/// A descriptor that is closed whichever way a function is left.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  bool valid() const { return number >= 0; }
  int get() const { return number; }
  /// Network file systems report a full disk only here.
  bool close() { return ::close(std::exchange(number, -1)) == 0; }

private:
  int number;
};
} // namespace

bool fileExists(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<std::string> readFile(const std::string &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid())
    return systemError("open", path);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    ssize_t count = ::read(file.get(), buffer, sizeof(buffer));
    if (count == 0)
      return content;
    if (count > 0)
      content.append(buffer, static_cast<size_t>(count));
    else if (errno != EINTR)
      return systemError("read", path);
  }
}

static bool writeAll(int file, const std::string &content) {
  for (size_t done = 0; done < content.size();) {
    ssize_t count = ::write(file, content.data() + done, content.size() - done);
    if (count >= 0)
      done += static_cast<size_t>(count);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

Status writeFile(const std::string &path, const std::string &content) {
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid())
    return systemError("create", path);
  if (!writeAll(file.get(), content) || !file.close())
    return systemError("write", path);
  return Status::success();
}

Status writeFileAtomically(const std::string &path,
                           const std::string &content) {
  // A name of its own rather than mkstemp, whose files are private: the result
  // is to have the permissions of any other new file.
  static std::atomic<unsigned> counter = 0;
  std::string temporary = path + ".tmp-" + std::to_string(::getpid()) + "-" +
                          std::to_string(counter++);
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid())
    return systemError("create a temporary file for", path);
  bool written = writeAll(file.get(), content) && ::fsync(file.get()) == 0;
  written = file.close() && written;
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0)
    return Status::success();
  Status status = systemError("write", path);
  ::unlink(temporary.c_str());
  return status;
}

Result<TempDir> TempDir::create() {
  std::string base = getEnv("TMPDIR");
  std::string folder = (base.empty() ? "/tmp" : base) + "/dgemm-XXXXXX";
  if (!::mkdtemp(folder.data()))
    return systemError("create a temporary folder", folder);
  return TempDir(folder);
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

} // namespace dgemm
