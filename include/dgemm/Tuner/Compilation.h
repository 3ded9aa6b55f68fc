// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling candidates on all cores while the device measures.

#ifndef DGEMM_TUNER_COMPILATION_H
#define DGEMM_TUNER_COMPILATION_H

#include "dgemm/Tuner/MeasuringDevice.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dgemm::tuner {

/// A compiled candidate, or why it is none: Ok, CompileError or SlowWarning.
struct CompiledKernel {
  RecordStatus status = RecordStatus::Ok;
  std::string note;
  KernelFiles files;
};

/// Makes the files `base`.cubin and so on for one schedule.
using CompileFunction = std::function<CompiledKernel(
    const Problem &problem, const Schedule &schedule, Plant plant,
    const std::string &base)>;

/// The compiler itself. `model` is the cost model's device, `ptxas` the
/// assembler (empty: searched for).
CompileFunction makeCompiler(const std::string &model,
                             const std::string &ptxas);
/// Makes no files: for the model device, which needs none.
CompileFunction makeNoCompiler();

/// Threads that take jobs in order; those of a lower rank only when there is
/// none of a higher one.
class JobPool {
public:
  explicit JobPool(int threads);
  /// Drops jobs that have not begun and waits for those that have.
  ~JobPool();

  enum class Rank { Now, Ahead };
  void submit(Rank rank, std::function<void()> job);
  /// Lets the jobs that were submitted ahead of their time be as good as any.
  void promote();
  int size() const { return int(threads.size()); }

private:
  void work();

  std::mutex lock;
  std::condition_variable wake;
  std::deque<std::function<void()>> now, ahead;
  bool ending = false;
  std::vector<std::thread> threads;
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_COMPILATION_H
