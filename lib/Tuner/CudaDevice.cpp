// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks and times candidates on a GPU.

#include "dgemm/Reference/DeviceOperands.h"
#include "dgemm/Reference/Numerics.h"
#include "dgemm/Reference/Verify.h"
#include "dgemm/Runtime/DeviceCompare.h"
#include "dgemm/Runtime/Launcher.h"
#include "dgemm/Runtime/Timing.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tuner/MeasuringDevice.h"

#include <cmath>
#include <map>

namespace dgemm::tuner {

/// What D holds on the device before a candidate runs: NaN in every type.
static constexpr uint8_t kPoison = HostMatrix::kPoison;

namespace {
class CudaDevice : public MeasuringDevice {
public:
  CudaDevice(const cuda::DriverApi *driver, int64_t flushBytes)
      : driver(driver), flushBytes(flushBytes) {}

  Result<DeviceDescription> open(L2State l2, double timeout) override;
  Status setProblem(const Problem &problem, const LaunchSizes &sizes,
                    uint64_t seed) override;
  CheckOutcome check(const CandidateRequest &candidate) override;
  Result<std::vector<std::vector<double>>> time(const std::vector<int> &ids,
                                                const Rounds &rounds) override;
  void drop(int id) override { loaded.erase(id); }
  bool lost() const override { return deviceLost; }

private:
  struct Loaded {
    std::shared_ptr<cuda::LoadedArtifact> artifact;
    LaunchOptions options;
  };
  /// Everything that belongs to one problem.
  struct Operands {
    HostOperands host;
    std::optional<DeviceOperands> device;
    cuda::DeviceBuffer reference, rowNorms, colNorms;
    Tolerance tolerance;
    /// The device's comparison found what it had to find.
    bool comparable = false;
  };

  Result<Loaded> load(const CandidateRequest &candidate);
  CheckOutcome runOnce(const Loaded &candidate);
  CheckOutcome verifyOnHost();
  Status makeReference();
  Result<bool> comparisonWorks();
  cuda::CompareInputs compareInputs(uint8_t guard) const;
  CheckOutcome compare();

  const cuda::DriverApi *driver;
  int64_t flushBytes;
  double timeoutSeconds = 5;
  std::shared_ptr<cuda::Device> device;
  std::unique_ptr<cuda::KernelTimer> timer;
  std::unique_ptr<cuda::Stream> stream;
  std::unique_ptr<cuda::DeviceComparer> comparer;
  std::unique_ptr<Operands> operands;
  std::map<int, Loaded> loaded;
  bool deviceLost = false;
};
} // namespace

Result<DeviceDescription> CudaDevice::open(L2State l2, double timeout) {
  timeoutSeconds = timeout;
  if (!driver) {
    Result<const cuda::DriverApi *> api = cuda::DriverApi::get();
    if (!api)
      return api.status();
    driver = *api;
  }
  auto opened = cuda::Device::open(*driver);
  if (!opened)
    return opened.status();
  device = *opened;
  cuda::TimingOptions timing;
  timing.flushBytes = flushBytes;
  timing.l2 =
      l2 == L2State::Clean ? cuda::L2State::Clean : cuda::L2State::Dirty;
  auto madeTimer = cuda::KernelTimer::create(device, timing);
  if (!madeTimer)
    return madeTimer.status();
  timer = std::move(*madeTimer);
  auto madeStream = cuda::Stream::create(device);
  if (!madeStream)
    return madeStream.status();
  stream = std::move(*madeStream);
  auto madeComparer = cuda::DeviceComparer::create(device);
  if (!madeComparer)
    return madeComparer.status();
  comparer = std::move(*madeComparer);
  return DeviceDescription{device->info().name, timer->method()};
}

Status CudaDevice::setProblem(const Problem &problem, const LaunchSizes &sizes,
                              uint64_t seed) {
  loaded.clear();
  operands.reset();
  auto made = std::make_unique<Operands>();
  Result<HostOperands> host = makeOperands(problem, sizes, seed);
  if (!host)
    return host.status();
  made->host = std::move(*host);
  made->tolerance = toleranceFor(made->host.problem);
  auto uploaded = DeviceOperands::upload(device, made->host);
  if (!uploaded)
    return uploaded.status();
  made->device.emplace(std::move(*uploaded));
  for (auto [buffer, ofA] :
       {std::pair{&made->rowNorms, true}, std::pair{&made->colNorms, false}}) {
    std::vector<float> norms = operandNorms(made->host, ofA);
    int64_t bytes = int64_t(norms.size() * sizeof(float));
    auto allocated = cuda::DeviceBuffer::allocate(device, bytes);
    if (!allocated)
      return allocated.status();
    *buffer = std::move(*allocated);
    if (Status s = buffer->upload(norms.data(), bytes); !s)
      return s;
  }
  operands = std::move(made);
  return Status::success();
}

Result<CudaDevice::Loaded> CudaDevice::load(const CandidateRequest &candidate) {
  Result<std::string> image = readFile(candidate.files.image);
  if (!image)
    return image.status();
  Result<std::string> text = readFile(candidate.files.metadata);
  if (!text)
    return text.status();
  Result<LaunchMetadata> metadata = parseLaunchMetadata(*text);
  if (!metadata)
    return metadata.status();
  auto artifact = cuda::LoadedArtifact::load(device, *metadata, *image);
  if (!artifact)
    return artifact.status();
  (*artifact)->checkPointers = false;
  Loaded made{*artifact, {}};
  made.options.rasterGroup = candidate.schedule.rasterGroup;
  return made;
}

/// Launches and waits; a hang or a fault loses the device.
CheckOutcome CudaDevice::runOnce(const Loaded &candidate) {
  if (Status s = cuda::launch(*candidate.artifact, operands->host.sizes,
                              operands->device->addresses(), candidate.options,
                              stream->get());
      !s) {
    deviceLost = true;
    return {RecordStatus::Fault, s.message()};
  }
  Result<bool> done = stream->waitFor(timeoutSeconds);
  if (!done) {
    deviceLost = true;
    return {RecordStatus::Fault, done.message()};
  }
  if (!*done) {
    deviceLost = true;
    return {RecordStatus::Hang, "the kernel did not end within " +
                                    std::to_string(timeoutSeconds) + " s"};
  }
  return {};
}

CheckOutcome CudaDevice::verifyOnHost() {
  if (Status s = operands->device->downloadOutput(); !s)
    return {RecordStatus::Fault, s.message()};
  VerifyResult result = verify(operands->host, operands->tolerance);
  if (!result.ok)
    return {RecordStatus::Wrong, result.failure};
  return {};
}

cuda::CompareInputs CudaDevice::compareInputs(uint8_t guard) const {
  const HostOperands &host = operands->host;
  cuda::CompareInputs inputs;
  inputs.type = host.d.type();
  inputs.d = operands->device->addresses().d;
  inputs.reference = operands->reference.address() + HostMatrix::dataOffset();
  inputs.rows = host.d.rows();
  inputs.cols = host.d.cols();
  inputs.stride = host.d.stride();
  inputs.rowNorms = operands->rowNorms.address();
  inputs.colNorms = operands->colNorms.address();
  // Both sides are off by as much as a kernel may be.
  double k = double(std::max<int64_t>(host.sizes.k, 1));
  inputs.rounding = float(
      2 * (2 * unitRoundoff(host.d.type()) + operands->tolerance.relative));
  inputs.typical = float(2 * operands->tolerance.element / std::sqrt(k));
  inputs.guard = guard;
  inputs.guardBytes = HostMatrix::kGuardBytes;
  return inputs;
}

/// Whether the comparison finds the reference equal to itself, and a damaged
/// element, tail and guard damaged. D holds the reference, with guards.
Result<bool> CudaDevice::comparisonWorks() {
  const HostOperands &host = operands->host;
  cuda::CompareInputs inputs = compareInputs(HostMatrix::kGuard);
  auto finds = [&](bool mismatch, bool violation) -> Result<bool> {
    Result<cuda::CompareResult> found = comparer->compare(inputs, *stream);
    if (!found)
      return found.status();
    return (found->mismatches > 0) == mismatch &&
           (found->guardViolations > 0) == violation &&
           found->errorSquares == 0;
  };
  auto damaged = [&](uint64_t address, bool mismatch,
                     bool violation) -> Result<bool> {
    const cuda::DriverApi &api = device->api();
    cuda::ContextScope scope(*device);
    if (!scope.status())
      return scope.status();
    if (Status s = api.check(
            api.cuMemsetD8Async(address, kPoison, 4, stream->get()), "memset");
        !s)
      return s;
    return finds(mismatch, violation);
  };
  uint64_t last = inputs.d + uint64_t(host.d.dataBytes());
  int64_t size = sizeOf(inputs.type);
  uint64_t lastElement =
      inputs.d +
      uint64_t(((inputs.rows - 1) * inputs.stride + inputs.cols) * size) - 4;
  Result<bool> works = finds(false, false);
  if (works && *works && inputs.cols * size >= 4)
    works = damaged(lastElement, true, false);
  if (works && *works)
    works = damaged(last + HostMatrix::kGuardBytes - 4, inputs.cols * size >= 4,
                    true);
  return works;
}

/// Keeps the D that verifyOnHost found right.
Status CudaDevice::makeReference() {
  HostMatrix &d = operands->host.d;
  if (!cuda::DeviceComparer::supports(d.type()))
    return Status::success();
  auto buffer = cuda::DeviceBuffer::allocate(device, d.allSize());
  if (!buffer)
    return buffer.status();
  if (Status s = buffer->upload(d.allBytes(), d.allSize()); !s)
    return s;
  operands->reference = std::move(*buffer);
  Result<bool> works = comparisonWorks();
  if (!works)
    return works.status();
  operands->comparable = *works;
  return Status::success();
}

CheckOutcome CudaDevice::compare() {
  Result<cuda::CompareResult> found =
      comparer->compare(compareInputs(kPoison), *stream);
  if (!found) {
    deviceLost = true;
    return {RecordStatus::Fault, found.message()};
  }
  std::string why;
  if (found->mismatches > 0)
    why = std::to_string(found->mismatches) + " elements are wrong";
  if (found->guardViolations > 0)
    why += (why.empty() ? "" : "; ") + std::string("bytes outside d were "
                                                   "overwritten");
  double error = found->referenceSquares > 0
                     ? std::sqrt(found->errorSquares / found->referenceSquares)
                     : std::sqrt(found->errorSquares);
  if (!(error <= 2 * operands->tolerance.frobenius))
    why += (why.empty() ? "" : "; ") + std::string("relative difference ") +
           std::to_string(error);
  if (!why.empty())
    return {RecordStatus::Wrong, why};
  return {};
}

CheckOutcome CudaDevice::check(const CandidateRequest &candidate) {
  if (!operands)
    return {RecordStatus::Fault, "no problem was set"};
  Result<Loaded> made = load(candidate);
  if (!made)
    return {RecordStatus::Fault, made.message()};
  bool byDevice = operands->comparable;
  // Values, tails and guards get one pattern, which is a NaN; the host's check
  // has its own.
  Status poisoned;
  if (byDevice) {
    poisoned = operands->device->fillOutput(kPoison, stream->get());
  } else {
    operands->host.resetOutput();
    poisoned = operands->device->uploadOutput();
  }
  if (!poisoned)
    return {RecordStatus::Fault, poisoned.message()};
  CheckOutcome outcome = runOnce(*made);
  if (outcome.status != RecordStatus::Ok)
    return outcome;
  outcome = byDevice ? compare() : verifyOnHost();
  if (outcome.status != RecordStatus::Ok)
    return outcome;
  if (!byDevice && operands->reference.size() == 0)
    if (Status s = makeReference(); !s)
      return {RecordStatus::Fault, s.message()};
  loaded[candidate.id] = std::move(*made);
  return {};
}

Result<std::vector<std::vector<double>>>
CudaDevice::time(const std::vector<int> &ids, const Rounds &rounds) {
  std::vector<cuda::TimingCandidate> timed;
  for (int id : ids) {
    auto candidate = loaded.find(id);
    if (candidate == loaded.end())
      return Status::error("no candidate " + std::to_string(id));
    const Loaded *kernel = &candidate->second;
    timed.push_back({std::to_string(id),
                     [this, kernel](CUstream on) {
                       return cuda::launch(
                           *kernel->artifact, operands->host.sizes,
                           operands->device->addresses(), kernel->options, on);
                     },
                     /*kernels=*/1});
  }
  timer->setRounds(rounds.warmups, rounds.repeats, rounds.pauseMs);
  auto measured = timer->measure(timed);
  if (!measured) {
    deviceLost = true;
    return measured.status();
  }
  std::vector<std::vector<double>> samples;
  for (cuda::Measurement &one : *measured)
    samples.push_back(std::move(one.samplesUs));
  return samples;
}

std::unique_ptr<MeasuringDevice> makeCudaDevice(const cuda::DriverApi *driver,
                                                int64_t flushBytes) {
  return std::make_unique<CudaDevice>(driver, flushBytes);
}

} // namespace dgemm::tuner
