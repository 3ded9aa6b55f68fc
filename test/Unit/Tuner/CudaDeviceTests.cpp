// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Checking and timing candidates on the fake driver, whose launches compute
// GEMMs and comparisons on the host.

#include "../Runtime/FakeDriver.h"
#include "dgemm/JIT/Ptxas.h"
#include "dgemm/Reference/Numerics.h"
#include "dgemm/Reference/Verify.h"
#include "dgemm/Runtime/DeviceCompare.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tuner/MeasuringDevice.h"

#include <cmath>
#include <cstring>

using namespace dgemm;
using namespace dgemm::tuner;

namespace {
template <typename T> T argument(void **parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(value));
  return value;
}

/// What dgemm_compare_bf16 does.
void compareOnHost(void **p) {
  auto *d = argument<uint8_t *>(p, 0), *ref = argument<uint8_t *>(p, 1);
  auto rows = argument<uint32_t>(p, 2), cols = argument<uint32_t>(p, 3),
       stride = argument<uint32_t>(p, 4), guard = argument<uint32_t>(p, 9),
       words = argument<uint32_t>(p, 10);
  auto *rowNorms = argument<float *>(p, 5), *colNorms = argument<float *>(p, 6);
  auto rounding = argument<float>(p, 7), typical = argument<float>(p, 8);
  auto *counts = argument<uint32_t *>(p, 11);
  auto *sums = reinterpret_cast<double *>(counts + 2);
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t c = 0; c < stride; ++c) {
      int64_t at = int64_t(r) * stride + c;
      if (c >= cols) {
        uint16_t bits;
        std::memcpy(&bits, d + 2 * at, 2);
        counts[1] += bits != (guard & 0xffff);
        continue;
      }
      float x = loadElement(DType::BF16, d, at),
            y = loadElement(DType::BF16, ref, at);
      counts[0] +=
          !(std::fabs(x - y) <=
            rounding * std::fabs(y) + typical * rowNorms[r] * colNorms[c]);
      if (std::isfinite(x - y)) {
        sums[0] += double(x - y) * (x - y);
        sums[1] += double(y) * y;
      }
    }
  for (uint32_t i = 0; i < words; ++i) {
    uint32_t before, behind;
    std::memcpy(&before, d - 4 * (i + 1), 4);
    std::memcpy(&behind, d + 2ull * rows * stride + 4 * i, 4);
    counts[1] += (before != guard) + (behind != guard);
  }
}
} // namespace

class CudaDeviceTest : public FakeDriverTest {
protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    problem = parseGemm("m=20,n=30,k=40")->problem;
    sizes = defaultSizes(problem, 20, 30, 40);
    auto operands = makeOperands(problem, sizes, 1);
    ASSERT_TRUE(operands) << operands.message();
    host = std::move(*operands);
    state->onLaunch = [this](const cuda::LaunchConfig &,
                             const std::string &kernel, void **parameters) {
      if (kernel == "gemm")
        runGemm(argument<uint8_t *>(parameters, 1));
      else if (kernel == "dgemm_compare_bf16" && comparisonWorks)
        compareOnHost(parameters);
    };
    device = makeCudaDevice(api, 4096);
    auto opened = device->open(L2State::Dirty, 0.05);
    ASSERT_TRUE(opened) << opened.message();
    EXPECT_EQ(opened->name, "Fake H200");
    ASSERT_TRUE(device->setProblem(problem, sizes, 1));
  }

  void runGemm(uint8_t *d) {
    ++gemms;
    for (int64_t r = 0; r < 20; ++r)
      for (int64_t c = 0; c < 30; ++c)
        storeElement(problem.d, d, r * sizes.ldd + c,
                     float(referenceElement(host, r, c)));
    if (spoil)
      spoil(d);
  }

  /// A kernel of pointers to A and D.
  CandidateRequest candidate(int id) {
    LaunchMetadata metadata;
    metadata.problem = problem;
    KernelMetadata kernel;
    kernel.entry = "gemm";
    kernel.schedule.store = StoreKind::Vector;
    for (Operand operand : {Operand::A, Operand::D}) {
      KernelArgument one;
      one.kind = KernelArgument::Kind::Pointer;
      one.operand = operand;
      kernel.arguments.push_back(one);
    }
    metadata.kernels = {kernel};
    metadata.dispatch = {{-1, 0}};
    CandidateRequest request;
    request.id = id;
    request.files = {folder->path() + "/k.ptx", folder->path() + "/k.json"};
    EXPECT_TRUE(writeFile(request.files.image, ".version 8.0"));
    EXPECT_TRUE(writeFile(request.files.metadata, toJson(metadata)));
    return request;
  }

  RecordStatus check(int id) {
    CheckOutcome outcome = device->check(candidate(id));
    note = outcome.note;
    return outcome.status;
  }

  std::optional<TempDir> folder;
  Problem problem;
  LaunchSizes sizes;
  HostOperands host;
  std::unique_ptr<MeasuringDevice> device;
  std::function<void(uint8_t *)> spoil;
  bool comparisonWorks = true;
  int gemms = 0;
  std::string note;
};

TEST_F(CudaDeviceTest, RightCandidatesAreTimed) {
  EXPECT_EQ(check(0), RecordStatus::Ok) << note;
  EXPECT_EQ(check(1), RecordStatus::Ok) << note;
  int before = gemms;
  auto samples = device->time({0, 1}, {1, 3, 0});
  ASSERT_TRUE(samples) << samples.message();
  ASSERT_EQ(samples->size(), 2u);
  EXPECT_EQ((*samples)[0].size(), 3u);
  EXPECT_EQ(gemms - before, 8);
  device->drop(1);
  EXPECT_NE(device->time({1}, {1, 1, 0}).message().find("no candidate 1"),
            std::string::npos);
}

TEST_F(CudaDeviceTest, WrongNumbersAreFoundByHostAndDevice) {
  // The first is compared with float64 on the host, the others on the device.
  auto spoilt = [&](std::function<void(uint8_t *)> how, const char *text) {
    spoil = std::move(how);
    EXPECT_EQ(check(7), RecordStatus::Wrong);
    EXPECT_NE(note.find(text), std::string::npos) << note;
    spoil = nullptr;
  };
  int64_t last = 19 * sizes.ldd + 29;
  auto element = [&](float value) {
    return [=, this](uint8_t *d) { storeElement(problem.d, d, last, value); };
  };
  for (bool haveReference : {false, true}) {
    if (haveReference) {
      ASSERT_EQ(check(0), RecordStatus::Ok) << note;
    }
    spoilt(element(1e4f), "wrong");
    spoilt(element(NAN), haveReference ? "wrong" : "NaN");
    spoilt([&](uint8_t *d) { d[2 * last + 2] = 0; }, "overwritten");
    spoilt([&](uint8_t *d) { d[-1] = 0; }, "overwritten");
    spoilt([&](uint8_t *d) { d[2 * 20 * sizes.ldd] = 0; }, "overwritten");
  }
  // A kernel that writes nothing leaves poison, not the D of the one before.
  state->onLaunch = [](const cuda::LaunchConfig &, const std::string &name,
                       void **parameters) {
    if (name == "dgemm_compare_bf16")
      compareOnHost(parameters);
  };
  EXPECT_EQ(check(8), RecordStatus::Wrong);
}

TEST_F(CudaDeviceTest, AComparisonThatFindsNothingIsNotTrusted) {
  comparisonWorks = false;
  ASSERT_EQ(check(0), RecordStatus::Ok) << note;
  spoil = [&](uint8_t *d) { storeElement(problem.d, d, 5, 1e4f); };
  EXPECT_EQ(check(1), RecordStatus::Wrong) << note;
}

TEST_F(CudaDeviceTest, AHangLosesTheDevice) {
  state->busy = true;
  EXPECT_EQ(check(0), RecordStatus::Hang);
  EXPECT_NE(note.find("did not end within"), std::string::npos) << note;
  EXPECT_TRUE(device->lost());
  state->busy = false;
}

TEST_F(CudaDeviceTest, MissingFilesAreAFaultOfTheCandidateAlone) {
  CandidateRequest request = candidate(0);
  request.files.image = "/nowhere";
  CheckOutcome outcome = device->check(request);
  EXPECT_EQ(outcome.status, RecordStatus::Fault);
  EXPECT_NE(outcome.note.find("/nowhere"), std::string::npos);
  EXPECT_FALSE(device->lost());
}

TEST(DeviceCompareTest, TheKernelsAssemble) {
  Result<jit::Ptxas> ptxas = jit::findPtxas("");
  if (!ptxas)
    GTEST_SKIP() << ptxas.message();
  auto assembly = jit::assemble(*ptxas, cuda::comparePtx(), "sm_90a");
  ASSERT_TRUE(assembly) << assembly.message();
  EXPECT_EQ(assembly->resources.size(), 3u);
  for (const jit::KernelResources &kernel : assembly->resources)
    EXPECT_EQ(kernel.spillStores, 0);
}
