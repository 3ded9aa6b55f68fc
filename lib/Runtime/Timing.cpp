// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring loops.

#include "dgemm/Runtime/Timing.h"

#include "BenchKernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace dgemm::cuda {

// Milliseconds CUPTI is given to hand over the records of finished kernels.
static constexpr int kRecordAttempts = 200;

const char *toString(L2State state) {
  switch (state) {
  case L2State::Dirty:
    return "dirty";
  case L2State::Clean:
    return "clean";
  case L2State::Warm:
    return "warm";
  }
  return "";
}

Result<L2State> parseL2State(const std::string &text) {
  for (L2State state : {L2State::Dirty, L2State::Clean, L2State::Warm})
    if (text == toString(state))
      return state;
  return Status::error("L2 state: expected dirty, clean or warm, found '" +
                       text + "'");
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  double upper = values[middle];
  if (values.size() % 2)
    return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) /
         2;
}

/// Two events that live as long as the timer.
struct KernelTimer::EventPair {
  std::shared_ptr<Device> device;
  Event begin = nullptr, end = nullptr;

  static Result<std::shared_ptr<EventPair>>
  create(const std::shared_ptr<Device> &device) {
    auto pair = std::make_shared<EventPair>();
    pair->device = device;
    const DriverApi &api = device->api();
    for (Event *event : {&pair->begin, &pair->end})
      if (Status s = api.check(api.cuEventCreate(event, 0), "cuEventCreate");
          !s)
        return s;
    return pair;
  }
  ~EventPair() {
    ContextScope scope(*device);
    for (Event event : {begin, end})
      if (event && scope.status().ok())
        device->api().cuEventDestroy_v2(event);
  }
};

Result<std::unique_ptr<KernelTimer>>
KernelTimer::create(std::shared_ptr<Device> device,
                    const TimingOptions &options) {
  std::unique_ptr<KernelTimer> timer(new KernelTimer);
  timer->device = device;
  timer->options = options;
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();

  Result<std::unique_ptr<Stream>> queue = Stream::create(device);
  if (!queue)
    return queue.status();
  timer->queue = std::move(*queue);
  Result<std::unique_ptr<LoadedModule>> module =
      LoadedModule::load(device, kBenchKernelsPtx);
  if (!module)
    return module.status();
  timer->module = std::move(*module);
  for (auto [kernel, name] :
       {std::pair{&timer->emptyKernel, "dgemm_empty"},
        std::pair{&timer->readKernel, "dgemm_flush_read"}}) {
    Result<KernelFunction> found = timer->module->function(name, 0, 512);
    if (!found)
      return found.status();
    *kernel = *found;
  }
  for (auto [buffer, bytes] :
       {std::pair{&timer->flushBuffer, options.flushBytes},
        std::pair{&timer->sink, int64_t(256)}}) {
    Result<DeviceBuffer> made = DeviceBuffer::allocate(device, bytes);
    if (!made)
      return made.status();
    *buffer = std::move(*made);
    if (Status s = buffer->fill(0, timer->stream()); !s)
      return s;
  }
  Result<std::shared_ptr<EventPair>> events = EventPair::create(device);
  if (!events)
    return events.status();
  timer->events = *events;
  if (Result<std::unique_ptr<ClockProbe>> probe =
          ClockProbe::create(device->info()))
    timer->clock = std::move(*probe);

  if (Status s = timer->queue->synchronize(); !s)
    return s;
  if (!options.eventsOnly)
    if (Status s = timer->startCupti(); !s)
      timer->note = s.message();
  timer->methodName = timer->cupti ? "cupti" : "events";
  if (!timer->cupti)
    if (Status s = timer->measureEmptyKernel(); !s)
      return s;
  return timer;
}

/// Switches to CUPTI when it is there and really reports kernels, which a
/// profiler that holds the device, or missing rights, prevent.
Status KernelTimer::startCupti() {
  Result<Cupti *> found = Cupti::get();
  if (!found)
    return found.status();
  if (Status s = launchPlain(emptyKernel, 1, 32, nullptr); !s)
    return s;
  if (Status s = queue->synchronize(); !s)
    return s;
  for (int attempt = 0; attempt < kRecordAttempts; ++attempt) {
    Result<std::vector<KernelRecord>> records = (*found)->take();
    if (!records)
      return records.status();
    if (!records->empty()) {
      cupti = *found;
      return Status::success();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status::error("CUPTI is there but reports no kernels");
}

Status KernelTimer::launchPlain(const KernelFunction &kernel, unsigned grid,
                                unsigned threads, void **arguments) {
  LaunchConfig config;
  config.gridX = grid;
  config.blockX = threads;
  config.stream = stream();
  return device->api().check(device->api().cuLaunchKernelEx(
                                 &config, kernel.handle, arguments, nullptr),
                             "launch of a measuring kernel");
}

Status KernelTimer::flush() {
  switch (options.l2) {
  case L2State::Warm:
    return Status::success();
  case L2State::Dirty:
    return device->api().check(device->api().cuMemsetD32Async(
                                   flushBuffer.address(), 0x3c3c3c3c,
                                   size_t(flushBuffer.size() / 4), stream()),
                               "L2 flush");
  case L2State::Clean: {
    uint64_t data = flushBuffer.address(), out = sink.address();
    uint64_t vectors = uint64_t(flushBuffer.size() / 16);
    void *arguments[] = {&data, &vectors, &out};
    return launchPlain(readKernel, unsigned(device->info().smCount) * 4, 512,
                       arguments);
  }
  }
  return Status::success();
}

Status KernelTimer::measureEmptyKernel() {
  TimingCandidate candidate{"empty", [this](CUstream) {
                              return launchPlain(emptyKernel, 1, 32, nullptr);
                            }};
  std::vector<double> samples;
  constexpr int kWarmups = 3, kSamples = 21;
  for (int i = 0; i < kWarmups + kSamples; ++i) {
    Result<Sample> sample = timeOnce(candidate, 0);
    if (!sample)
      return sample.status();
    if (i >= kWarmups)
      samples.push_back(sample->us);
  }
  emptyUs = median(samples);
  return Status::success();
}

/// Records of the kernels that are measured, at least `expected` of them. The
/// stream has been synchronised, but CUPTI may hand a record over later.
Result<std::vector<KernelRecord>> KernelTimer::takeRecords(size_t expected) {
  std::vector<KernelRecord> records;
  for (int attempt = 0; attempt < kRecordAttempts; ++attempt) {
    Result<std::vector<KernelRecord>> taken = cupti->take();
    if (!taken)
      return taken.status();
    for (KernelRecord &record : *taken)
      if (!isBenchKernel(record.name.c_str()))
        records.push_back(std::move(record));
    if (records.size() >= expected)
      return records;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status::error("CUPTI reported " + std::to_string(records.size()) +
                       " of " + std::to_string(expected) + " kernels");
}

static Status named(const TimingCandidate &candidate, const Status &status) {
  return Status::error("timing '" + candidate.name + "': " + status.message());
}

/// Kernels of one launch of a candidate (cuBLASLt may add a reduction); may be
/// 0 when times come from events.
Result<int> KernelTimer::countKernels(const TimingCandidate &candidate) {
  if (!cupti || candidate.kernels > 0)
    return candidate.kernels;
  if (Status s = candidate.launch(stream()); !s)
    return named(candidate, s);
  if (Status s = queue->synchronize(); !s)
    return named(candidate, s);
  // Long enough for every record of this launch.
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Result<std::vector<KernelRecord>> records = takeRecords(1);
  if (!records)
    return named(candidate, records.status());
  return int(records->size());
}

/// Launches between the two events, waits, and returns the microseconds
/// between them.
Result<double>
KernelTimer::launchBetweenEvents(const TimingCandidate &candidate, int launches,
                                 Sample &sample) {
  const DriverApi &api = device->api();
  if (Status s = api.check(api.cuEventRecord(events->begin, stream()),
                           "cuEventRecord");
      !s)
    return s;
  for (int i = 0; i < launches; ++i)
    if (Status s = candidate.launch(stream()); !s)
      return s;
  if (Status s =
          api.check(api.cuEventRecord(events->end, stream()), "cuEventRecord");
      !s)
    return s;
  if (clock) {
    sample.clockMHz = clock->smClockMHz();
    sample.watts = clock->powerWatts();
  }
  if (Status s = queue->synchronize(); !s)
    return s;
  float milliseconds = 0;
  if (Status s = api.check(
          api.cuEventElapsedTime(&milliseconds, events->begin, events->end),
          "cuEventElapsedTime");
      !s)
    return s;
  return milliseconds * 1e3;
}

/// One launch with L2 in the wanted state.
Result<KernelTimer::Sample>
KernelTimer::timeOnce(const TimingCandidate &candidate, int kernels) {
  Sample sample;
  if (Status s = flush(); !s)
    return named(candidate, s);
  Result<double> elapsed = launchBetweenEvents(candidate, 1, sample);
  if (!elapsed)
    return named(candidate, elapsed.status());
  if (!cupti) {
    sample.us = std::max(0.0, *elapsed - emptyUs);
    return sample;
  }
  Result<std::vector<KernelRecord>> records = takeRecords(size_t(kernels));
  if (!records)
    return named(candidate, records.status());
  uint64_t start = UINT64_MAX, end = 0;
  for (const KernelRecord &record : *records) {
    start = std::min(start, record.start);
    end = std::max(end, record.end);
  }
  sample.us = double(end - start) / 1e3;
  return sample;
}

/// Many launches back to back; the sample is the mean of one.
Result<KernelTimer::Sample>
KernelTimer::timeSustained(const TimingCandidate &candidate, int launches,
                           int kernels) {
  Sample sample;
  Result<double> elapsed = launchBetweenEvents(candidate, launches, sample);
  if (!elapsed)
    return named(candidate, elapsed.status());
  sample.us = *elapsed / launches;
  if (!cupti)
    return sample;
  Result<std::vector<KernelRecord>> records =
      takeRecords(size_t(launches) * size_t(kernels));
  if (!records)
    return named(candidate, records.status());
  // Gaps between launches are the host's, not the kernel's.
  double busy = 0;
  for (const KernelRecord &record : *records)
    busy += double(record.end - record.start) / 1e3;
  sample.us = busy / launches;
  return sample;
}

/// Launches that fill one turn of sustained measuring.
Result<int> KernelTimer::launchesPerTurn(const TimingCandidate &candidate,
                                         int kernels) {
  constexpr int kProbeLaunches = 5;
  Result<Sample> probe = timeSustained(candidate, kProbeLaunches, kernels);
  if (!probe)
    return probe.status();
  double wanted = options.sustainedMs * 1e3 / std::max(1.0, probe->us);
  return int(std::clamp(wanted, 1.0, 100000.0));
}

namespace {
/// What is known about one candidate while it is measured.
struct Progress {
  int kernels = 0, launches = 1;
  std::vector<double> samples, clocks, watts;
};
} // namespace

static Measurement summarise(const std::string &name, Progress progress) {
  Measurement result;
  result.name = name;
  result.medianUs = median(progress.samples);
  auto [low, high] =
      std::minmax_element(progress.samples.begin(), progress.samples.end());
  if (!progress.samples.empty()) {
    result.minUs = *low;
    result.maxUs = *high;
  }
  result.samplesUs = std::move(progress.samples);
  result.smClockMHz = median(std::move(progress.clocks));
  result.powerWatts = median(std::move(progress.watts));
  result.kernelsPerLaunch = progress.kernels;
  return result;
}

Result<std::vector<Measurement>>
KernelTimer::measure(const std::vector<TimingCandidate> &candidates) {
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();
  // Records left by launches before this call are nobody's sample.
  if (cupti)
    if (Result<std::vector<KernelRecord>> stale = cupti->take(); !stale)
      return stale.status();
  size_t count = candidates.size();
  std::vector<Progress> progress(count);
  for (size_t i = 0; i < count; ++i) {
    Result<int> kernels = countKernels(candidates[i]);
    if (!kernels)
      return kernels.status();
    progress[i].kernels = *kernels;
    if (!options.sustained)
      continue;
    Result<int> launches = launchesPerTurn(candidates[i], *kernels);
    if (!launches)
      return launches.status();
    progress[i].launches = *launches;
  }
  // One sustained turn brings the chip to its sustained temperature.
  int warmups = options.sustained ? 1 : options.warmups;
  for (int round = -warmups; round < options.repeats; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      // Whoever runs after a slow candidate finds a higher clock: rotate.
      size_t i = (turn + size_t(round + warmups)) % count;
      Progress &mine = progress[i];
      if (options.pauseMs > 0 && !options.sustained)
        std::this_thread::sleep_for(
            std::chrono::duration<double, std::milli>(options.pauseMs));
      Result<Sample> sample =
          options.sustained
              ? timeSustained(candidates[i], mine.launches, mine.kernels)
              : timeOnce(candidates[i], mine.kernels);
      if (!sample)
        return sample.status();
      if (round < 0)
        continue;
      mine.samples.push_back(sample->us);
      mine.clocks.push_back(sample->clockMHz);
      mine.watts.push_back(sample->watts);
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(summarise(candidates[i].name, std::move(progress[i])));
  return results;
}

} // namespace dgemm::cuda
