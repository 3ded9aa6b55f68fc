// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compile, make data, execute, compare.

#include "RunCase.h"

#include "dgemm/Runtime/Timing.h"
#include "dgemm/Tools/CudaGemm.h"

#include <chrono>
#include <cmath>
#include <cstring>

namespace dgemm::run {

static std::string trim(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Result<Case> parseCase(const std::string &line, const RunOptions &fallback) {
  Case made;
  made.label = trim(line);
  made.schedule = fallback.schedule;
  made.dynamicDims = fallback.dynamicDims;
  size_t end = line.find(';');
  Result<GemmText> gemm = parseGemm(trim(line.substr(0, end)));
  if (!gemm)
    return gemm.status();
  made.gemm = *gemm;
  while (end != std::string::npos) {
    size_t begin = end + 1;
    end = line.find(';', begin);
    std::string part = trim(line.substr(begin, end - begin));
    if (part.rfind("expect=", 0) == 0)
      made.expectedError = part.substr(7);
    else if (part.rfind("dynamic=", 0) == 0)
      made.dynamicDims = part.substr(8);
    else
      made.schedule = part;
  }
  return made;
}

Result<Target> findTarget(const RunOptions &options) {
  Target target;
  if (options.device != "emulator") {
    Result<const cuda::DriverApi *> api = cuda::DriverApi::get();
    if (api) {
      Result<std::shared_ptr<cuda::Device>> device = cuda::Device::open(**api);
      if (device) {
        target.device = *device;
        target.name = (*device)->info().name;
        return target;
      }
      target.reason = device.message();
    } else {
      target.reason = api.message();
    }
  }
  target.emulator = options.device != "cuda";
  target.name = target.emulator ? "emulator" : "none";
  return target;
}

jit::CompileOptions compileOptions(const RunOptions &options,
                                   const Target &target,
                                   const std::string &schedule) {
  jit::CompileOptions made;
  made.chip = options.chip;
  made.ptxVersion = int(options.ptx);
  made.schedule = schedule;
  made.tuningDB = options.db;
  made.ptxasPath = options.ptxas;
  made.cacheDir = options.cacheDir;
  made.allowSlow = options.allowSlow;
  // The emulator has no use for machine code, unless its figures are shown.
  made.emitCubin =
      !options.driverJit && (target.device != nullptr || options.report);
  if (target.device)
    made.device = deviceModel(target.device->info());
  return made;
}

Result<std::shared_ptr<const jit::Artifact>>
compileCase(const Case &which, const RunOptions &options,
            const Target &target) {
  jit::CompileOptions with = compileOptions(options, target, which.schedule);
  jit::Compiler &compiler = jit::Compiler::instance();
  if (!which.module.empty())
    return compiler.compileModule(which.module, with);
  Result<Problem> problem =
      withDynamicDims(which.gemm.problem, which.dynamicDims);
  if (!problem)
    return problem.status();
  return compiler.compileProblem(*problem, with);
}

/// Runs on the GPU, several times when asked; D of the last launch is left in
/// the host operands.
static Status runOnCuda(const RunOptions &options, const Target &target,
                        HostOperands &operands, const LaunchOptions &launch,
                        Outcome &outcome) {
  const jit::Artifact &artifact = *outcome.artifact;
  std::string_view image =
      artifact.cubin.empty()
          ? std::string_view(artifact.ptx)
          : std::string_view(artifact.cubin.data(), artifact.cubin.size());
  Result<std::unique_ptr<CudaGemm>> gemm =
      CudaGemm::create(target.device, artifact.metadata, image, operands);
  if (!gemm)
    return gemm.status();
  std::vector<uint8_t> first;
  for (int64_t i = 0; i < options.repeat; ++i) {
    if (Status s = (*gemm)->runOnce(launch, options.timeout); !s) {
      outcome.deviceLost = (*gemm)->deviceLost();
      // Freeing memory would wait for a kernel that may never end.
      if (outcome.deviceLost)
        gemm->release();
      return s;
    }
    const HostMatrix &d = operands.d;
    if (i == 0)
      first.assign(d.allBytes(), d.allBytes() + d.allSize());
    else if (std::memcmp(first.data(), d.allBytes(), first.size()) != 0)
      return Status::error("launch " + std::to_string(i + 1) +
                           " gave other bits than the first");
  }
  if (!options.time || outcome.kernel < 0)
    return Status::success();
  cuda::TimingOptions timing;
  timing.repeats = 11;
  Result<std::unique_ptr<cuda::KernelTimer>> timer =
      cuda::KernelTimer::create(target.device, timing);
  if (!timer)
    return timer.status();
  auto measured = (*timer)->measure({{"dgemm", [&](CUstream stream) {
                                        return (*gemm)->launch(launch, stream);
                                      }}});
  if (!measured)
    return measured.status();
  outcome.timeMethod = (*timer)->method();
  outcome.timeUs = measured->front().medianUs;
  return Status::success();
}

static Status runOnEmulator(const RunOptions &options, HostOperands &operands,
                            const LaunchOptions &launch, Outcome &outcome) {
  const jit::Artifact &artifact = *outcome.artifact;
  Result<std::unique_ptr<EmulatorProgram>> program =
      EmulatorProgram::createFromText(artifact.l3IR);
  if (!program)
    return program.status();
  LaunchOperands addresses = operands.addresses();
  EmulatorOptions with;
  with.order = *parseAsyncOrder(options.order);
  with.smCount = int(options.emulatorSms);
  with.reducedFp8Accumulator = options.narrowFp8;
  for (HostMatrix *matrix : {&operands.a, &operands.b, &operands.c, &operands.d,
                             &operands.scaleA, &operands.scaleB}) {
    if (matrix->type() == DType::None)
      continue;
    const char *name = matrix == &operands.a        ? "a"
                       : matrix == &operands.b      ? "b"
                       : matrix == &operands.c      ? "c"
                       : matrix == &operands.d      ? "d"
                       : matrix == &operands.scaleA ? "scale_a"
                                                    : "scale_b";
    with.allocations.push_back({reinterpret_cast<uint64_t>(matrix->data()),
                                uint64_t(matrix->dataBytes()), name});
  }
  Result<LaunchPlan> plan = planLaunch(artifact.metadata, operands.sizes,
                                       addresses, launch, with.smCount);
  if (!plan)
    return plan.status();
  // Left as the kernel found it, so one serves every repetition.
  std::vector<uint64_t> workspace(size_t(plan->workspaceBytes + 15) / 8 + 32);
  if (plan->workspaceBytes > 0) {
    uint64_t start = reinterpret_cast<uint64_t>(workspace.data());
    addresses.workspace = (start + 127) / 128 * 128;
    with.allocations.push_back(
        {addresses.workspace, uint64_t(plan->workspaceBytes), "workspace"});
  }
  auto begin = std::chrono::steady_clock::now();
  std::vector<uint8_t> first;
  for (int64_t i = 0; i < options.repeat; ++i) {
    operands.resetOutput();
    addresses.d = operands.addresses().d;
    for (DeviceAllocation &allocation : with.allocations)
      if (allocation.name == "d")
        allocation.address = addresses.d;
    with.seed = uint64_t(options.emulatorSeed + i);
    EmulatorReport report;
    if (Status s = (*program)->run(artifact.metadata, operands.sizes, addresses,
                                   launch, with, report);
        !s)
      return s;
    if (!report.clean()) {
      outcome.emulatorReport = toString(report);
      return Status::error("the emulator found " +
                           std::to_string(report.findings.size()) +
                           " faults:\n" + outcome.emulatorReport);
    }
    const auto *fixed = reinterpret_cast<const uint8_t *>(addresses.workspace);
    if (std::any_of(fixed, fixed + plan->kernel->workspaceFixed,
                    [](uint8_t byte) { return byte != 0; }))
      return Status::error("the kernel left the fixed part of its workspace "
                           "other than zero");
    const HostMatrix &d = operands.d;
    if (i == 0)
      first.assign(d.allBytes(), d.allBytes() + d.allSize());
    else if (std::memcmp(first.data(), d.allBytes(), first.size()) != 0)
      return Status::error("run " + std::to_string(i + 1) +
                           " gave other bits than the first");
  }
  outcome.timeMethod = "wall";
  outcome.timeUs = std::chrono::duration<double, std::micro>(
                       std::chrono::steady_clock::now() - begin)
                       .count() /
                   double(options.repeat);
  return Status::success();
}

/// Runs the kernel that ran on the GPU on the emulator too, on the same
/// operands, and compares every element of the two results.
static Status compareWithEmulator(const RunOptions &options,
                                  HostOperands &operands,
                                  const LaunchOptions &launch,
                                  Outcome &outcome) {
  const HostMatrix &d = operands.d;
  std::vector<double> onGpu;
  onGpu.reserve(size_t(d.rows() * d.cols()));
  for (int64_t row = 0; row < d.rows(); ++row)
    for (int64_t col = 0; col < d.cols(); ++col)
      onGpu.push_back(d.at(row, col));
  RunOptions once = options;
  once.repeat = 1;
  Outcome emulated = outcome;
  if (Status s = runOnEmulator(once, operands, launch, emulated); !s)
    return Status::error("on the emulator: " + s.message());
  double difference = 0, norm = 0;
  size_t next = 0;
  for (int64_t row = 0; row < d.rows(); ++row)
    for (int64_t col = 0; col < d.cols(); ++col, ++next) {
      double there = onGpu[next], here = d.at(row, col);
      difference += (there - here) * (there - here);
      norm += there * there;
    }
  outcome.difference =
      norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  return Status::success();
}

static Outcome failed(Outcome outcome, ExitCode code, std::string error) {
  outcome.code = code;
  outcome.error = std::move(error);
  return outcome;
}

/// Compile, execute, compare; what a case expects is not looked at.
static Outcome runToEnd(const Case &which, const RunOptions &options,
                        const Target &target) {
  Outcome outcome;
  outcome.problem = which.gemm.problem;
  GemmText gemm = which.gemm;
  SizeOverrides overrides{options.m, options.n, options.k};
  // A module's sizes are known once it is compiled.
  if (which.module.empty()) {
    Result<LaunchSizes> sizes = launchSizes(gemm, overrides);
    if (!sizes)
      return failed(outcome, kBadInput, sizes.message());
    outcome.sizes = *sizes;
  }
  Result<std::shared_ptr<const jit::Artifact>> artifact =
      compileCase(which, options, target);
  if (!artifact)
    return failed(outcome, kBadInput, artifact.message());
  outcome.artifact = *artifact;
  if (!which.module.empty()) {
    gemm.problem = outcome.artifact->metadata.problem;
    Result<LaunchSizes> sizes = launchSizes(gemm, overrides);
    if (!sizes)
      return failed(outcome, kBadInput, sizes.message());
    outcome.sizes = *sizes;
    outcome.problem = gemm.problem;
  }
  if (!target.device && !target.emulator)
    return failed(outcome, kNotExecuted,
                  "compiled, but nothing was executed: " + target.reason);

  DataKind kind =
      options.data == "positive" ? DataKind::Positive : DataKind::Normal;
  Result<HostOperands> operands =
      makeOperands(gemm.problem, outcome.sizes, uint64_t(options.seed), kind);
  if (!operands)
    return failed(outcome, kBadInput, operands.message());
  outcome.problem = operands->problem;
  LaunchOptions launch;
  launch.smLimit = int(options.smLimit);
  launch.rasterGroup = int(options.rasterGroup);
  launch.programmaticDependentLaunch = options.pdl;
  if (outcome.sizes.m > 0 && outcome.sizes.n > 0) {
    Result<int> kernel =
        outcome.artifact->metadata.selectKernel(outcome.sizes.m);
    if (!kernel)
      return failed(outcome, kWrong, kernel.message());
    outcome.kernel = *kernel;
  }
  // What the launch would refuse is the input's fault, wherever it runs.
  constexpr int kAnySmCount = 132;
  if (Result<LaunchPlan> plan =
          planLaunch(outcome.artifact->metadata, outcome.sizes,
                     operands->addresses(), launch, kAnySmCount);
      !plan)
    return failed(outcome, kBadInput, plan.message());
  Status ran = target.device
                   ? runOnCuda(options, target, *operands, launch, outcome)
                   : runOnEmulator(options, *operands, launch, outcome);
  if (!ran)
    return failed(outcome, kWrong, ran.message());
  if (options.verify) {
    VerifyOptions how;
    how.seed = uint64_t(options.seed);
    outcome.verified =
        verify(*operands, toleranceFor(operands->problem, kind), how);
    if (!outcome.verified->ok)
      return failed(outcome, kWrong, outcome.verified->failure);
  }
  if (options.againstEmulator && target.device) {
    if (Status s = compareWithEmulator(options, *operands, launch, outcome); !s)
      return failed(outcome, kWrong, s.message());
    double limit = toleranceFor(operands->problem, kind).frobenius;
    if (!(*outcome.difference <= limit))
      return failed(outcome, kWrong,
                    "differs from the emulator by " +
                        std::to_string(*outcome.difference) + ", limit " +
                        std::to_string(limit));
  }
  outcome.code = kRight;
  return outcome;
}

Outcome runCase(const Case &which, const RunOptions &options,
                const Target &target) {
  Outcome outcome = runToEnd(which, options, target);
  if (which.expectedError.empty() || outcome.code == kNotExecuted)
    return outcome;
  if (outcome.code == kRight)
    return failed(outcome, kWrong,
                  "ran, but the error '" + which.expectedError +
                      "' was expected");
  // Only a refusal counts, not a wrong result that happens to say so.
  if (!outcome.verified &&
      outcome.error.find(which.expectedError) != std::string::npos) {
    outcome.code = kRight;
    outcome.error.clear();
    return outcome;
  }
  return failed(outcome, kWrong,
                "expected the error '" + which.expectedError + "', found '" +
                    outcome.error + "'");
}

} // namespace dgemm::run
