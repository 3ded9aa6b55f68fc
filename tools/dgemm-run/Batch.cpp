// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The batch's parent and worker processes.

#include "Batch.h"

#include "Print.h"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dgemm::run {

// What a worker writes for each case.
static constexpr char kPassed = 'P', kFailed = 'F', kSkipped = 'S';
// A worker that gave the device up after reporting its case.
static constexpr int kDeviceLostExit = 70;

/// Lines that hold a case: not empty, no comment.
static Result<std::vector<std::string>> readLines(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Status::error("cannot read '" + path + "'");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line[first] != '#')
      lines.push_back(line);
  }
  if (lines.empty())
    return Status::error("'" + path + "' holds no case");
  return lines;
}

/// Compiles the cases ahead on the other cores while the device runs; the
/// compiler hands each result to whoever asks for it later.
class Precompiler {
public:
  Precompiler(const std::vector<std::string> &lines, size_t from,
              const RunOptions &options, const Target &target)
      : next(from) {
    unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    unsigned count = std::min(8u, cores - 1);
    for (unsigned t = 0; t < count; ++t)
      threads.emplace_back([&, this] {
        for (size_t i = next++; i < lines.size() && !stop; i = next++)
          if (Result<Case> which = parseCase(lines[i], options))
            // Its error is reported when the case is run.
            (void)compileCase(*which, options, target).ok();
      });
  }
  ~Precompiler() {
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  std::atomic<size_t> next;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
};

static Outcome runLine(const std::string &line, const RunOptions &options,
                       const Target &target, Case &which) {
  Result<Case> parsed = parseCase(line, options);
  if (!parsed) {
    which.label = line;
    Outcome outcome;
    outcome.error = parsed.message();
    return outcome;
  }
  which = *parsed;
  return runCase(which, options, target);
}

int runBatchWorker(const RunOptions &given) {
  RunOptions options = given;
  options.time = false;
  Result<std::vector<std::string>> lines = readLines(options.batch);
  Result<Target> target = findTarget(options);
  if (!lines || !target) {
    std::fprintf(stderr, "dgemm-run: %s\n",
                 (lines ? target.message() : lines.message()).c_str());
    return kBadInput;
  }
  Precompiler ahead(*lines, size_t(options.batchFrom), options, *target);
  for (size_t i = size_t(options.batchFrom); i < lines->size(); ++i) {
    Case which;
    Outcome outcome = runLine((*lines)[i], options, *target, which);
    std::printf("%s\n", describeLine(which, outcome).c_str());
    std::fflush(stdout);
    char byte = outcome.code == kRight         ? kPassed
                : outcome.code == kNotExecuted ? kSkipped
                                               : kFailed;
    if (write(int(options.batchPipe), &byte, 1) != 1)
      return kBadInput;
    // Leaving in order would wait for the device.
    if (outcome.deviceLost)
      std::_Exit(kDeviceLostExit);
  }
  return kRight;
}

/// Starts a worker at a case; its results come through the returned pipe end.
static pid_t startWorker(int argc, char **argv, size_t from, int &readEnd) {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  std::vector<std::string> words(argv, argv + argc);
  words.push_back("--batch-from=" + std::to_string(from));
  words.push_back("--batch-pipe=" + std::to_string(ends[1]));
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    execv("/proc/self/exe", pointers.data());
    std::_Exit(kBadInput);
  }
  close(ends[1]);
  readEnd = ends[0];
  return child;
}

static std::string describeEnd(int status) {
  if (WIFSIGNALED(status))
    return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

int runBatch(int argc, char **argv, const RunOptions &options) {
  Result<std::vector<std::string>> lines = readLines(options.batch);
  if (!lines) {
    std::fprintf(stderr, "dgemm-run: %s\n", lines.message().c_str());
    return kBadInput;
  }
  size_t done = size_t(options.batchFrom);
  int passed = 0, failed = 0, skipped = 0;
  while (done < lines->size()) {
    int readEnd = -1;
    pid_t child = startWorker(argc, argv, done, readEnd);
    if (child < 0) {
      std::fprintf(stderr, "dgemm-run: cannot start a worker process\n");
      return kBadInput;
    }
    size_t before = done;
    char byte = 0;
    while (read(readEnd, &byte, 1) == 1) {
      ++done;
      passed += byte == kPassed;
      failed += byte == kFailed;
      skipped += byte == kSkipped;
    }
    close(readEnd);
    int status = 0;
    waitpid(child, &status, 0);
    bool deviceLost =
        WIFEXITED(status) && WEXITSTATUS(status) == kDeviceLostExit;
    if (done >= lines->size() || (deviceLost && done > before))
      continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kBadInput)
      return kBadInput;
    std::printf("FAIL %s | the worker process %s\n", (*lines)[done].c_str(),
                describeEnd(status).c_str());
    ++failed;
    ++done;
  }
  if (skipped > 0)
    std::printf("%d skipped: nothing was executed\n", skipped);
  std::printf("%d passed, %d failed\n", passed, failed);
  if (failed > 0)
    return kWrong;
  return skipped > 0 ? kNotExecuted : kRight;
}

} // namespace dgemm::run
