// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How long kernels take on a device, measured so that the figures mean
// something: L2 in a named state before every launch, pauses against
// throttling, candidates interleaved so that clock drift hits all alike, the
// SM clock beside the time.

#ifndef DGEMM_RUNTIME_TIMING_H
#define DGEMM_RUNTIME_TIMING_H

#include "dgemm/Runtime/ClockProbe.h"
#include "dgemm/Runtime/Cupti.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Runtime/Module.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dgemm::cuda {

/// What L2 holds when a launch starts.
enum class L2State {
  Dirty, ///< lines of a buffer just written: the kernel pays the write-back
  Clean, ///< lines of a buffer just read
  Warm   ///< whatever the launch before left
};
const char *toString(L2State state);
Result<L2State> parseL2State(const std::string &text);

struct TimingOptions {
  L2State l2 = L2State::Dirty;
  int warmups = 2;    ///< launches of each candidate that are not counted
  int repeats = 20;   ///< counted launches of each candidate
  double pauseMs = 3; ///< idle time before each launch; 0: none
  /// Back to back instead: candidates take turns of `sustainedMs`, L2 is left
  /// as it is and nothing pauses, so the power limit governs the clock.
  bool sustained = false;
  double sustainedMs = 200;
  /// Bytes the flush writes or reads. More than L2: the flush also has to
  /// outlast the host's launch cost, or the gap is counted.
  int64_t flushBytes = int64_t(768) << 20;
  /// Take CUDA events even where CUPTI is there.
  bool eventsOnly = false;
};

/// Something to time: enqueues its work on the stream and returns.
struct TimingCandidate {
  std::string name;
  std::function<Status(CUstream)> launch;
  /// Kernels of one launch; 0: counted before the first measurement, which
  /// takes several milliseconds.
  int kernels = 0;
};

/// What was measured for one candidate. All times in microseconds.
struct Measurement {
  std::string name;
  double medianUs = 0, minUs = 0, maxUs = 0;
  std::vector<double> samplesUs; ///< in the order measured
  /// Median SM clock in MHz while it ran, 0: unknown. Watts likewise.
  double smClockMHz = 0, powerWatts = 0;
  int kernelsPerLaunch = 0; ///< 0: unknown (events)
};

/// Median of the values; 0 for none.
double median(std::vector<double> values);

/// Times candidates on a stream of its own.
class KernelTimer {
public:
  static Result<std::unique_ptr<KernelTimer>>
  create(std::shared_ptr<Device> device, const TimingOptions &options);

  /// Measures all candidates interleaved: every round launches each once, in
  /// an order that rotates. The first failing launch ends the measurement.
  Result<std::vector<Measurement>>
  measure(const std::vector<TimingCandidate> &candidates);

  /// Changes warm-ups, repeats and pause of later measurements.
  void setRounds(int warmups, int repeats, double pauseMs) {
    options.warmups = warmups;
    options.repeats = repeats;
    options.pauseMs = pauseMs;
  }

  /// "cupti" (kernel durations by the hardware) or "events" (elapsed time
  /// between events, the cost of an empty kernel subtracted).
  const std::string &method() const { return methodName; }
  /// Why events are used when CUPTI was wanted; empty otherwise.
  const std::string &methodNote() const { return note; }
  /// With events: cost of an empty kernel between two events, already taken
  /// off every sample. 0 with CUPTI.
  double emptyKernelUs() const { return emptyUs; }
  CUstream stream() const { return queue->get(); }

private:
  KernelTimer() = default;

  struct EventPair;
  struct Sample {
    double us = 0, clockMHz = 0, watts = 0;
  };
  Status startCupti();
  Status flush();
  Status launchPlain(const KernelFunction &kernel, unsigned grid,
                     unsigned threads, void **arguments);
  Status measureEmptyKernel();
  Result<std::vector<KernelRecord>> takeRecords(size_t expected);
  Result<int> countKernels(const TimingCandidate &candidate);
  Result<double> launchBetweenEvents(const TimingCandidate &candidate,
                                     int launches, Sample &sample);
  Result<Sample> timeOnce(const TimingCandidate &candidate, int kernels);
  Result<Sample> timeSustained(const TimingCandidate &candidate, int launches,
                               int kernels);
  Result<int> launchesPerTurn(const TimingCandidate &candidate, int kernels);

  std::shared_ptr<Device> device;
  TimingOptions options;
  std::unique_ptr<Stream> queue;
  std::unique_ptr<LoadedModule> module;
  KernelFunction emptyKernel, readKernel;
  DeviceBuffer flushBuffer, sink;
  std::unique_ptr<ClockProbe> clock;
  std::shared_ptr<EventPair> events;
  Cupti *cupti = nullptr;
  std::string methodName, note;
  double emptyUs = 0;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_TIMING_H
