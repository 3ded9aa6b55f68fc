// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The tuner's side of the worker: starting, asking, waiting no longer than
// agreed, killing, starting again.

#include "dgemm/Tuner/Worker.h"

#include "WorkerJson.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace dgemm::tuner {

using Clock = std::chrono::steady_clock;

/// Patience beside the time limit of a kernel: loading, data, a float64
/// reference on a busy machine. Seconds
static constexpr double kOpenSeconds = 120, kProblemSeconds = 300;
/// Timeouts of a kernel that an answer about it may take.
static constexpr double kPatience = 4;
/// Workers that may die in a row before something is taken to be broken.
static constexpr int kMaxStarts = 3;

/// What came back.
struct Worker::Reply {
  enum class Kind { Answer, Refusal, TimedOut, Died } kind = Kind::Died;
  Json json;
  std::string error; ///< of a refusal, or how the process ended
  bool crashed() const { return kind == Kind::TimedOut || kind == Kind::Died; }
};

/// The child and the socket that is its standard input and output.
struct Worker::Process {
  pid_t child = -1;
  int link = -1;
  std::string held;

  ~Process() { end(); }

  /// Kills what still runs; returns how it ended.
  std::string end() {
    if (link >= 0)
      ::close(std::exchange(link, -1));
    if (child < 0)
      return "";
    int status = 0;
    // One that ends by itself tells why; give it a moment.
    for (int i = 0; i < 50; ++i) {
      if (::waitpid(child, &status, WNOHANG) == child) {
        child = -1;
        break;
      }
      ::usleep(1000);
    }
    if (child >= 0) {
      ::kill(child, SIGKILL);
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      child = -1;
    }
    if (WIFSIGNALED(status))
      return std::string("the worker was ended by signal ") +
             std::to_string(WTERMSIG(status));
    return "the worker ended with code " + std::to_string(WEXITSTATUS(status));
  }
};

Worker::Worker(const WorkerOptions &options) : options(options) {}
Worker::~Worker() = default;

Result<std::unique_ptr<Worker>> Worker::start(const WorkerOptions &options) {
  std::unique_ptr<Worker> worker(new Worker(options));
  if (Status s = worker->launch(); !s)
    return s;
  return worker;
}

static Result<pid_t> spawn(const WorkerOptions &options, int link) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, link, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, link, STDOUT_FILENO);
  // A group of its own, so that Ctrl-C at a terminal reaches the tuner alone.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char *> arguments;
  for (const std::string &argument : options.arguments)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  int failure = ::posix_spawn(&child, options.program.c_str(), &actions,
                              &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    return Status::error("cannot start '" + options.program +
                         "': " + std::strerror(failure));
  return child;
}

Status Worker::launch() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::error(std::string("cannot create a socket: ") +
                         std::strerror(errno));
  Result<pid_t> child = spawn(options, ends[1]);
  ::close(ends[1]);
  process = std::make_unique<Process>();
  process->link = ends[0];
  if (!child)
    return child.status();
  process->child = *child;
  Reply reply = ask(printLine(Json{{"do", "open"},
                                   {"device", options.device},
                                   {"l2", toString(options.l2)},
                                   {"timeout", options.timeoutSeconds}}),
                    kOpenSeconds);
  if (reply.kind != Reply::Kind::Answer)
    return Status::error(reply.error);
  about = {textOf(reply.json, "name"), textOf(reply.json, "method")};
  return Status::success();
}

/// Sends a line and waits for the answer. A worker that died or took too long
/// is gone afterwards.
Worker::Reply Worker::ask(const std::string &request, double seconds) {
  Reply reply;
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
  if (!process) {
    reply.error = "the worker is gone";
    return reply;
  }
  for (size_t done = 0; done < request.size();) {
    // A worker that died must not take the tuner with it.
    ssize_t count = ::send(process->link, request.data() + done,
                           request.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      reply.error = process->end();
      process.reset();
      return reply;
    }
    done += count > 0 ? size_t(count) : 0;
  }
  for (;;) {
    std::string &held = process->held;
    if (size_t end = held.find('\n'); end != std::string::npos) {
      reply.json = Json::parse(held.substr(0, end), nullptr, false);
      held.erase(0, end + 1);
      auto ok = reply.json.find("ok");
      bool good = ok != reply.json.end() && ok->is_boolean() && ok->get<bool>();
      reply.kind = good ? Reply::Kind::Answer : Reply::Kind::Refusal;
      if (!good)
        reply.error = textOf(reply.json, "error");
      return reply;
    }
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{process->link, POLLIN, 0};
    int ready =
        left.count() <= 0
            ? 0
            : ::poll(&entry, 1, int(std::min<int64_t>(left.count(), 1 << 30)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0) {
      process->end();
      process.reset();
      reply.kind = Reply::Kind::TimedOut;
      reply.error = "no answer within " + std::to_string(seconds) + " s";
      return reply;
    }
    char buffer[1 << 16];
    ssize_t count = ::read(process->link, buffer, sizeof(buffer));
    if (count > 0) {
      held.append(buffer, size_t(count));
    } else if (count == 0 || errno != EINTR) {
      reply.error = process->end();
      process.reset();
      return reply;
    }
  }
}

static std::string checkRequest(const CandidateRequest &candidate) {
  return printLine(Json{{"do", "check"},
                        {"id", candidate.id},
                        {"schedule", toString(candidate.schedule)},
                        {"image", candidate.files.image},
                        {"metadata", candidate.files.metadata},
                        {"plant", toString(candidate.plant)}});
}

/// Another worker with the problem and all candidates but one.
Status Worker::restart(int without) {
  std::erase_if(kept, [&](const CandidateRequest &candidate) {
    return candidate.id == without;
  });
  Status last = Status::error("no worker could be started");
  for (int attempt = 0; attempt < kMaxStarts; ++attempt) {
    ++restartCount;
    process.reset();
    if (last = launch(); !last)
      continue;
    if (!problemRequest.empty()) {
      Reply reply = ask(problemRequest, kProblemSeconds);
      if (reply.kind != Reply::Kind::Answer) {
        last = Status::error(reply.error);
        continue;
      }
    }
    bool crashed = false;
    for (const CandidateRequest &candidate : kept) {
      Reply reply = ask(checkRequest(candidate), kProblemSeconds);
      crashed |= reply.crashed();
      last = reply.crashed() ? Status::error(reply.error) : Status::success();
      if (crashed)
        break;
    }
    if (!crashed)
      return Status::success();
  }
  return last;
}

Status Worker::setProblem(const Problem &problem, const LaunchSizes &sizes,
                          uint64_t seed) {
  kept.clear();
  problemRequest = printLine(Json{{"do", "problem"},
                                  {"gemm", toString(problem)},
                                  {"sizes", sizesToJson(sizes)},
                                  {"seed", seed}});
  if (process) {
    Reply reply = ask(problemRequest, kProblemSeconds);
    if (reply.kind == Reply::Kind::Answer)
      return Status::success();
    if (reply.kind == Reply::Kind::Refusal)
      return Status::error(reply.error);
  }
  return restart(-1);
}

Result<CheckOutcome> Worker::check(const CandidateRequest &candidate) {
  // The first one is compared with float64 on the host.
  double patience = kept.empty() ? kProblemSeconds / options.timeoutSeconds : 0;
  if (options.device != "cuda")
    patience = 0;
  Reply reply = ask(checkRequest(candidate),
                    std::max(patience, kPatience) * options.timeoutSeconds);
  CheckOutcome outcome;
  switch (reply.kind) {
  case Reply::Kind::Refusal:
    return CheckOutcome{RecordStatus::Fault, reply.error};
  case Reply::Kind::TimedOut:
    outcome = {RecordStatus::Hang, reply.error};
    break;
  case Reply::Kind::Died:
    outcome = {RecordStatus::Fault, reply.error};
    break;
  case Reply::Kind::Answer: {
    Result<RecordStatus> status =
        parseRecordStatus(textOf(reply.json, "status"));
    if (!status)
      return status.status();
    outcome = {*status, textOf(reply.json, "note")};
    if (*status == RecordStatus::Ok) {
      kept.push_back(candidate);
      return outcome;
    }
    // A worker that lost its device leaves after its answer.
    auto lost = reply.json.find("lost");
    if (lost == reply.json.end() || *lost != true)
      return outcome;
    break;
  }
  }
  if (Status s = restart(candidate.id); !s)
    return s;
  return outcome;
}

/// One attempt. `crashed`: the worker is gone, and `crash` says how.
Result<std::vector<TimeOutcome>>
Worker::timeTogether(const std::vector<int> &ids, const Rounds &rounds,
                     bool &crashed, TimeOutcome &crash) {
  double seconds = kPatience * options.timeoutSeconds +
                   rounds.pauseMs * 1e-3 * double(ids.size()) *
                       (rounds.warmups + rounds.repeats);
  Reply reply = ask(printLine(Json{{"do", "time"},
                                   {"ids", ids},
                                   {"warmups", rounds.warmups},
                                   {"repeats", rounds.repeats},
                                   {"pause", rounds.pauseMs}}),
                    seconds);
  std::vector<TimeOutcome> outcomes(ids.size());
  crashed = reply.kind != Reply::Kind::Answer;
  if (crashed) {
    crash = {reply.kind == Reply::Kind::TimedOut ? RecordStatus::Hang
                                                 : RecordStatus::Fault,
             reply.error,
             {}};
    return outcomes;
  }
  auto samples = reply.json.find("samples");
  if (samples == reply.json.end() || !samples->is_array() ||
      samples->size() != ids.size())
    return Status::error("the worker's answer has no samples");
  for (size_t i = 0; i < ids.size(); ++i)
    for (const Json &sample : (*samples)[i])
      if (sample.is_number())
        outcomes[i].samplesUs.push_back(sample.get<double>());
  return outcomes;
}

Result<std::vector<TimeOutcome>> Worker::time(const std::vector<int> &ids,
                                              const Rounds &rounds) {
  bool crashed = false;
  TimeOutcome crash;
  auto outcomes = timeTogether(ids, rounds, crashed, crash);
  if (!outcomes || !crashed)
    return outcomes;
  if (ids.size() == 1) {
    if (Status s = restart(ids[0]); !s)
      return s;
    return std::vector{crash};
  }
  if (Status s = restart(-1); !s)
    return s;
  std::vector<int> good;
  for (size_t i = 0; i < ids.size(); ++i) {
    bool gone = false;
    auto alone = timeTogether({ids[i]}, {1, 1, rounds.pauseMs}, gone, crash);
    if (!alone)
      return alone;
    if (!gone) {
      good.push_back(ids[i]);
      continue;
    }
    (*outcomes)[i] = crash;
    if (Status s = restart(ids[i]); !s)
      return s;
  }
  auto again = timeTogether(good, rounds, crashed, crash);
  if (!again)
    return again;
  if (crashed)
    if (Status s = restart(-1); !s)
      return s;
  for (size_t i = 0, next = 0; i < ids.size(); ++i)
    if (next < good.size() && good[next] == ids[i]) {
      (*outcomes)[i] = crashed ? crash : (*again)[next];
      ++next;
    }
  return outcomes;
}

void Worker::drop(int id) {
  size_t erased = std::erase_if(kept, [&](const CandidateRequest &candidate) {
    return candidate.id == id;
  });
  // A worker that is gone has nothing to drop.
  if (erased && process)
    (void)ask(printLine(Json{{"do", "drop"}, {"id", id}}),
              kPatience * options.timeoutSeconds);
}

} // namespace dgemm::tuner
