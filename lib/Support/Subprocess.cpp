// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Support/Subprocess.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace dgemm {

using Clock = std::chrono::steady_clock;

/// Milliseconds until the deadline, rounded up, within what poll takes.
static int millisecondsLeft(Clock::time_point deadline) {
  auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

/// Reads until every writer has closed the pipe, or time is up (false).
static bool readToEnd(int pipe, Clock::time_point deadline,
                      std::string &output) {
  char buffer[1 << 16];
  for (;;) {
    int left = millisecondsLeft(deadline);
    if (left == 0)
      return false;
    pollfd entry{pipe, POLLIN, 0};
    int ready = ::poll(&entry, 1, left);
    if (ready <= 0) {
      if (ready < 0 && errno != EINTR)
        return true;
      continue;
    }
    ssize_t count = ::read(pipe, buffer, sizeof(buffer));
    if (count > 0)
      output.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return true;
  }
}

/// Waits for a child whose output has ended; false when time is up.
static bool waitForExit(pid_t child, Clock::time_point deadline, int &status) {
  // Nearly always it has ended already, or does so at once.
  useconds_t pause = 100;
  for (;;) {
    pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR))
      return true;
    if (Clock::now() >= deadline)
      return false;
    ::usleep(pause);
    pause = std::min<useconds_t>(pause * 2, 10000);
  }
}

/// Starts the program with `output` as its stdout and stderr.
static Result<pid_t> start(const std::vector<std::string> &command,
                           int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // A process group of its own, so that one signal reaches all it started.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int failure = ::posix_spawnp(&child, arguments[0], &actions, &attributes,
                               arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    return Status::error("cannot start '" + command[0] +
                         "': " + std::strerror(failure));
  return child;
}

Result<ProcessResult> runProcess(const std::vector<std::string> &command,
                                 double timeoutSeconds) {
  if (command.empty() || command[0].empty())
    return Status::error("cannot start a program without a name");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Status::error(std::string("cannot create a pipe: ") +
                         std::strerror(errno));
  Result<pid_t> child = start(command, ends[1]);
  ::close(ends[1]);
  if (!child) {
    ::close(ends[0]);
    return child.status();
  }
  auto deadline =
      Clock::now() +
      std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::clamp(timeoutSeconds, 0.0, 1e6)));
  ProcessResult result;
  int status = 0;
  bool ended = readToEnd(ends[0], deadline, result.output) &&
               waitForExit(*child, deadline, status);
  ::close(ends[0]);
  if (!ended) {
    result.timedOut = true;
    ::kill(-*child, SIGKILL);
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  result.exitCode =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

} // namespace dgemm
