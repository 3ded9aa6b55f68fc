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

  timer->methodName = "events";
  if (!options.eventsOnly) {
    Result<Cupti *> cupti = Cupti::get();
    if (cupti) {
      timer->cupti = *cupti;
      timer->methodName = "cupti";
    } else {
      timer->note = cupti.message();
    }
  }
  if (Status s = timer->queue->synchronize(); !s)
    return s;
  if (!timer->cupti)
    if (Status s = timer->measureEmptyKernel(); !s)
      return s;
  return timer;
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
    Result<Sample> sample = timeOnce(candidate);
    if (!sample)
      return sample.status();
    if (i >= kWarmups)
      samples.push_back(sample->us);
  }
  emptyUs = median(samples);
  return Status::success();
}

/// From the first start to the last end of the kernels that are measured.
static double spanUs(const std::vector<KernelRecord> &records, int &kernels) {
  uint64_t start = UINT64_MAX, end = 0;
  kernels = 0;
  for (const KernelRecord &record : records) {
    if (isBenchKernel(record.name.c_str()))
      continue;
    start = std::min(start, record.start);
    end = std::max(end, record.end);
    ++kernels;
  }
  return kernels ? double(end - start) / 1e3 : 0;
}

Result<KernelTimer::Sample>
KernelTimer::timeOnce(const TimingCandidate &candidate) {
  const DriverApi &api = device->api();
  auto failed = [&](const Status &status) {
    return Status::error("timing '" + candidate.name +
                         "': " + status.message());
  };
  if (Status s = flush(); !s)
    return failed(s);
  if (Status s = api.check(api.cuEventRecord(events->begin, stream()),
                           "cuEventRecord");
      !s)
    return failed(s);
  if (Status s = candidate.launch(stream()); !s)
    return failed(s);
  if (Status s =
          api.check(api.cuEventRecord(events->end, stream()), "cuEventRecord");
      !s)
    return failed(s);
  Sample sample;
  if (clock) {
    sample.clockMHz = clock->smClockMHz();
    sample.watts = clock->powerWatts();
  }
  if (Status s = queue->synchronize(); !s)
    return failed(s);
  if (cupti) {
    Result<std::vector<KernelRecord>> records = cupti->take();
    if (!records)
      return failed(records.status());
    sample.us = spanUs(*records, sample.kernels);
    if (sample.kernels == 0)
      return failed(Status::error("CUPTI reported no kernel"));
    return sample;
  }
  float milliseconds = 0;
  if (Status s = api.check(
          api.cuEventElapsedTime(&milliseconds, events->begin, events->end),
          "cuEventElapsedTime");
      !s)
    return failed(s);
  sample.us = std::max(0.0, milliseconds * 1e3 - emptyUs);
  return sample;
}

/// Medians over the samples of one candidate.
static Measurement summarise(const std::string &name,
                             std::vector<double> samples,
                             std::vector<double> clocks,
                             std::vector<double> watts, int kernels) {
  Measurement result;
  result.name = name;
  result.medianUs = median(samples);
  auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  if (!samples.empty()) {
    result.minUs = *low;
    result.maxUs = *high;
  }
  result.samplesUs = std::move(samples);
  result.smClockMHz = median(std::move(clocks));
  result.powerWatts = median(std::move(watts));
  result.kernelsPerLaunch = kernels;
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
  if (options.sustained)
    return measureSustained(candidates);
  size_t count = candidates.size();
  std::vector<std::vector<double>> samples(count), clocks(count), watts(count);
  std::vector<int> kernels(count, 0);
  for (int round = -options.warmups; round < options.repeats; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      // Whoever runs after a slow candidate finds a higher clock: rotate.
      size_t i = (turn + size_t(round + options.warmups)) % count;
      if (options.pauseMs > 0)
        std::this_thread::sleep_for(
            std::chrono::duration<double, std::milli>(options.pauseMs));
      Result<Sample> sample = timeOnce(candidates[i]);
      if (!sample)
        return sample.status();
      if (round < 0)
        continue;
      samples[i].push_back(sample->us);
      clocks[i].push_back(sample->clockMHz);
      watts[i].push_back(sample->watts);
      kernels[i] = sample->kernels;
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(summarise(candidates[i].name, std::move(samples[i]),
                                std::move(clocks[i]), std::move(watts[i]),
                                kernels[i]));
  return results;
}

Result<KernelTimer::Sample>
KernelTimer::timeSustained(const TimingCandidate &candidate, int launches) {
  const DriverApi &api = device->api();
  if (Status s = api.check(api.cuEventRecord(events->begin, stream()),
                           "cuEventRecord");
      !s)
    return s;
  for (int i = 0; i < launches; ++i)
    if (Status s = candidate.launch(stream()); !s)
      return Status::error("timing '" + candidate.name + "': " + s.message());
  if (Status s =
          api.check(api.cuEventRecord(events->end, stream()), "cuEventRecord");
      !s)
    return s;
  Sample sample;
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
  sample.us = milliseconds * 1e3 / std::max(1, launches);
  if (cupti) {
    Result<std::vector<KernelRecord>> records = cupti->take();
    if (!records)
      return records.status();
    // Gaps between launches are the host's, not the kernel's.
    double busy = 0;
    for (const KernelRecord &record : *records)
      busy += double(record.end - record.start) / 1e3;
    sample.kernels = int(records->size()) / std::max(1, launches);
    if (records->empty())
      return Status::error("timing '" + candidate.name +
                           "': CUPTI reported no kernel");
    sample.us = busy / std::max(1, launches);
  }
  return sample;
}

Result<std::vector<Measurement>>
KernelTimer::measureSustained(const std::vector<TimingCandidate> &candidates) {
  size_t count = candidates.size();
  std::vector<std::vector<double>> samples(count), clocks(count), watts(count);
  std::vector<int> launches(count, 1), kernels(count, 0);
  for (size_t i = 0; i < count; ++i) {
    constexpr int kProbeLaunches = 5;
    Result<Sample> probe = timeSustained(candidates[i], kProbeLaunches);
    if (!probe)
      return probe.status();
    double wanted = options.sustainedMs * 1e3 / std::max(1.0, probe->us);
    launches[i] = int(std::clamp(wanted, 1.0, 100000.0));
  }
  // The first round only warms the chip up to its sustained temperature and
  // clock.
  for (int round = -1; round < options.repeats; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      size_t i = (turn + size_t(round + 1)) % count;
      Result<Sample> sample = timeSustained(candidates[i], launches[i]);
      if (!sample)
        return sample.status();
      if (round < 0)
        continue;
      samples[i].push_back(sample->us);
      clocks[i].push_back(sample->clockMHz);
      watts[i].push_back(sample->watts);
      kernels[i] = sample->kernels;
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(summarise(candidates[i].name, std::move(samples[i]),
                                std::move(clocks[i]), std::move(watts[i]),
                                kernels[i]));
  return results;
}

} // namespace dgemm::cuda
