// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What an inference engine does with dgemm: names a GEMM whose M is known only
// at run time, gets one artifact, and launches it for several M. On a machine
// with a Hopper GPU the kernel runs there, elsewhere on the emulator. Operands
// are small integers, so every right result is exact.

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Emulator/Emulator.h"
#include "dgemm/JIT/Compiler.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Runtime/DriverApi.h"
#include "dgemm/Runtime/Launcher.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace dgemm;

/// BF16 bits of a value that BF16 holds exactly.
static uint16_t toBF16(int value) {
  return static_cast<uint16_t>(
      std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

static int valueOfA(int64_t m, int64_t k) {
  return static_cast<int>((m * 3 + k * 5) % 7) - 3;
}
static int valueOfB(int64_t n, int64_t k) {
  return static_cast<int>((n * 2 + k * 11) % 5) - 2;
}

/// D = A x B^T in host memory; rows lie `lda`, `ldb`, `ldd` elements apart.
struct Matrices {
  std::vector<uint16_t> a, b;
  std::vector<float> d;
};

static Matrices makeMatrices(const LaunchSizes &sizes) {
  Matrices host;
  host.a.resize(sizes.m * sizes.lda);
  host.b.resize(sizes.n * sizes.ldb);
  host.d.resize(sizes.m * sizes.ldd);
  for (int64_t k = 0; k < sizes.k; ++k) {
    for (int64_t m = 0; m < sizes.m; ++m)
      host.a[m * sizes.lda + k] = toBF16(valueOfA(m, k));
    for (int64_t n = 0; n < sizes.n; ++n)
      host.b[n * sizes.ldb + k] = toBF16(valueOfB(n, k));
  }
  return host;
}

static int64_t countWrong(const Matrices &host, const LaunchSizes &sizes) {
  int64_t wrong = 0;
  for (int64_t m = 0; m < sizes.m; ++m)
    for (int64_t n = 0; n < sizes.n; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < sizes.k; ++k)
        sum += valueOfA(m, k) * valueOfB(n, k);
      wrong += host.d[m * sizes.ldd + n] != static_cast<float>(sum);
    }
  return wrong;
}

static Status runOnDevice(const cuda::LoadedArtifact &artifact,
                          const LaunchSizes &sizes, Matrices &host) {
  auto upload = [&](const void *data,
                    int64_t bytes) -> Result<cuda::DeviceBuffer> {
    auto buffer = cuda::DeviceBuffer::allocate(artifact.device(), bytes);
    if (buffer.ok())
      if (Status status = buffer->upload(data, bytes); !status.ok())
        return status;
    return buffer;
  };
  auto a = upload(host.a.data(), host.a.size() * sizeof(uint16_t));
  auto b = upload(host.b.data(), host.b.size() * sizeof(uint16_t));
  auto d = upload(host.d.data(), host.d.size() * sizeof(float));
  for (const auto *buffer : {&a, &b, &d})
    if (!buffer->ok())
      return buffer->status();
  LaunchOperands operands;
  operands.a = a->address();
  operands.b = b->address();
  operands.d = d->address();
  if (Status status = launch(artifact, sizes, operands, {}, nullptr);
      !status.ok())
    return status;
  if (Status status = artifact.device()->synchronize(); !status.ok())
    return status;
  return d->download(host.d.data(), host.d.size() * sizeof(float));
}

static Status runOnEmulator(const EmulatorProgram &program,
                            const LaunchMetadata &metadata,
                            const LaunchSizes &sizes, Matrices &host) {
  LaunchOperands operands;
  operands.a = reinterpret_cast<uint64_t>(host.a.data());
  operands.b = reinterpret_cast<uint64_t>(host.b.data());
  operands.d = reinterpret_cast<uint64_t>(host.d.data());
  EmulatorReport report;
  if (Status status = program.run(metadata, sizes, operands, {}, {}, report);
      !status.ok())
    return status;
  return report.clean() ? Status::success() : Status::error(toString(report));
}

/// The Hopper of this machine, or null after saying why there is none.
static std::shared_ptr<cuda::Device> openDevice() {
  auto driver = cuda::DriverApi::get();
  if (!driver.ok()) {
    std::printf("no GPU: %s\n", driver.status().message().c_str());
    return nullptr;
  }
  auto device = cuda::Device::open(**driver);
  if (!device.ok()) {
    std::printf("no GPU: %s\n", device.status().message().c_str());
    return nullptr;
  }
  return *device;
}

static Status run() {
  // What: D[M,384] = A[M,512] x B[384,512]^T; M stays open.
  Problem problem;
  problem.n = 384;
  problem.k = 512;
  problem.a = problem.b = DType::BF16;
  problem.d = DType::F32;
  auto artifact = jit::compileProblem(problem);
  if (!artifact.ok())
    return artifact.status();
  std::printf("%s\n", artifact->scheduleReport.c_str());
  std::printf("%zu bytes of PTX, %zu of cubin, %zu kernel(s)\n",
              artifact->ptx.size(), artifact->cubin.size(),
              artifact->metadata.kernels.size());

  std::shared_ptr<cuda::Device> device = openDevice();
  std::shared_ptr<cuda::LoadedArtifact> loaded;
  std::unique_ptr<EmulatorProgram> program;
  if (device) {
    const std::vector<char> &cubin = artifact->cubin;
    auto result = cuda::LoadedArtifact::load(
        device, artifact->metadata,
        cubin.empty() ? std::string_view(artifact->ptx)
                      : std::string_view(cubin.data(), cubin.size()));
    if (!result.ok())
      return result.status();
    loaded = *result;
  } else {
    auto result = EmulatorProgram::createFromText(artifact->l3IR);
    if (!result.ok())
      return result.status();
    program = std::move(*result);
  }

  for (int64_t m : {1, 77, 160}) {
    LaunchSizes sizes = defaultSizes(problem, m, problem.n, problem.k);
    Matrices host = makeMatrices(sizes);
    Status status =
        loaded ? runOnDevice(*loaded, sizes, host)
               : runOnEmulator(*program, artifact->metadata, sizes, host);
    if (!status.ok())
      return status;
    if (int64_t wrong = countWrong(host, sizes))
      return Status::error(std::to_string(wrong) +
                           " wrong elements at M = " + std::to_string(m));
    std::printf("M = %lld: right on the %s\n", static_cast<long long>(m),
                loaded ? "GPU" : "emulator");
  }
  return Status::success();
}

int main() {
  Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "embed-cpp: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
