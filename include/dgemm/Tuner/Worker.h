// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker process: a MeasuringDevice behind one line of JSON for each
// request and each answer, so that a hanging or faulting kernel takes only this
// process with it.
//
//   {"do":"open","device":"cuda","l2":"dirty","timeout":5}
//   {"do":"problem","gemm":"m=..","sizes":[m,n,k,lda,..],"seed":1}
//   {"do":"check","id":3,"schedule":"tile = ..","image":"..","metadata":"..",
//    "plant":"none"}
//   {"do":"time","ids":[0,3],"warmups":1,"repeats":3,"pause":0}
//   {"do":"drop","id":3}
//
// Every answer has "ok"; a refusal has "error" as well.

#ifndef DGEMM_TUNER_WORKER_H
#define DGEMM_TUNER_WORKER_H

#include "dgemm/Tuner/MeasuringDevice.h"

namespace dgemm::tuner {

/// Serves requests from one descriptor and answers on another until the first
/// is closed; returns the exit code of the process. After a hang or a fault it
/// answers and does not come back.
int serveRequests(int input, int output);
/// The same on standard input and output, which nothing else writes to then.
int workerMain();

//===----------------------------------------------------------------------===//
// The other side
//===----------------------------------------------------------------------===//

struct WorkerOptions {
  /// Program and arguments that end up in workerMain: argv[0] and so on.
  std::string program;
  std::vector<std::string> arguments;
  std::string device = "cuda"; ///< or "model:H200"
  L2State l2 = L2State::Dirty;
  /// Seconds after which a kernel hangs; the worker is killed after four times
  /// as long without an answer (longer while it makes data).
  double timeoutSeconds = 5;
};

/// Samples of one candidate in microseconds, or why there are none.
struct TimeOutcome {
  RecordStatus status = RecordStatus::Ok;
  std::string note;
  std::vector<double> samplesUs;
};

/// A worker process as the tuner sees it: survives the process's death by
/// starting another and giving it the problem and the candidates again.
class Worker {
public:
  static Result<std::unique_ptr<Worker>> start(const WorkerOptions &options);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  const DeviceDescription &description() const { return about; }

  /// Errors: the device cannot hold the operands, or no worker comes up.
  Status setProblem(const Problem &problem, const LaunchSizes &sizes,
                    uint64_t seed);
  /// Checks a candidate and keeps it when it is right. Errors only when no
  /// worker comes up any more.
  Result<CheckOutcome> check(const CandidateRequest &candidate);
  /// Times candidates interleaved. When the worker dies or hangs on it, each is
  /// tried alone to find which one did it, and the others are timed again.
  Result<std::vector<TimeOutcome>> time(const std::vector<int> &ids,
                                        const Rounds &rounds);
  void drop(int id);

  /// Workers started after the first one.
  int restarts() const { return restartCount; }

private:
  explicit Worker(const WorkerOptions &options);

  struct Process;
  struct Reply;
  Reply ask(const std::string &request, double seconds);
  Status launch();
  Status restart(int without);
  Result<std::vector<TimeOutcome>> timeTogether(const std::vector<int> &ids,
                                                const Rounds &rounds,
                                                bool &crashed,
                                                TimeOutcome &crash);

  WorkerOptions options;
  DeviceDescription about;
  std::unique_ptr<Process> process;
  std::string problemRequest;
  std::vector<CandidateRequest> kept;
  int restartCount = 0;
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_WORKER_H
