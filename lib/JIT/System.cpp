// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files and subprocesses over POSIX.

#include "System.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace dgemm::jit {

std::string getEnv(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static Status systemError(const std::string &what, int code = errno) {
  return Status::error(what + ": " + std::strerror(code));
}

Result<std::string> readFile(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return systemError("cannot open '" + path + "'");
  std::string content;
  char buffer[65536];
  for (;;) {
    ssize_t count = ::read(file, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      Status status = systemError("cannot read '" + path + "'");
      ::close(file);
      return status;
    }
    if (count == 0)
      break;
    content.append(buffer, static_cast<size_t>(count));
  }
  ::close(file);
  return content;
}

Status writeFile(const std::string &path, const std::string &content) {
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return systemError("cannot create '" + path + "'");
  size_t done = 0;
  while (done < content.size()) {
    ssize_t count = ::write(file, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      Status status = systemError("cannot write '" + path + "'");
      ::close(file);
      return status;
    }
    done += static_cast<size_t>(count);
  }
  // Network file systems report a full disk only here.
  if (::close(file) != 0)
    return systemError("cannot write '" + path + "'");
  return Status::success();
}

Result<TempDir> TempDir::create() {
  std::string base = getEnv("TMPDIR");
  std::string pattern = (base.empty() ? "/tmp" : base) + "/dgemm-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return systemError("cannot create a temporary folder '" + pattern + "'");
  return TempDir(pattern);
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!folder.empty())
    fs::remove_all(folder, ignored);
}

/// Reads until the other end closes or time is up; false when it is up.
static bool drain(int pipe, std::string &output,
                  std::chrono::steady_clock::time_point deadline) {
  char buffer[65536];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return false;
    pollfd entry{pipe, POLLIN, 0};
    int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR)
      return true;
    if (ready <= 0)
      continue;
    ssize_t count = ::read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    output.append(buffer, static_cast<size_t>(count));
  }
}

Result<ProcessResult> runProcess(const std::vector<std::string> &command,
                                 int timeoutSeconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return systemError("cannot create a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  // A group of its own, so that a time-out also ends what the program started.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int failed = ::posix_spawn(&child, command[0].c_str(), &actions, &attributes,
                             arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return Status::error(std::strerror(failed));
  }

  ProcessResult result;
  auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(timeoutSeconds);
  bool inTime = drain(ends[0], result.output, deadline);
  ::close(ends[0]);
  int status = 0;
  // The pipe may close before the program ends, so the wait has a limit too.
  while (inTime && ::waitpid(child, &status, WNOHANG) == 0) {
    inTime = std::chrono::steady_clock::now() < deadline;
    ::usleep(500);
  }
  if (!inTime) {
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    return Status::error("no end after " + std::to_string(timeoutSeconds) +
                         " s, so it was stopped");
  }
  result.exitCode =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

} // namespace dgemm::jit
