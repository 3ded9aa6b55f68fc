// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Running a GEMM on the fake driver, whose launch computes the result on the
// host: operands arrive, D comes back with its guards, a hang is reported.

#include "../Runtime/FakeDriver.h"
#include "dgemm/Reference/Numerics.h"
#include "dgemm/Reference/Verify.h"
#include "dgemm/Tools/CudaGemm.h"

#include <cstring>

using namespace dgemm;

/// A kernel that takes pointers to A and D.
static LaunchMetadata makeMetadata(const Problem &problem) {
  LaunchMetadata metadata;
  metadata.problem = problem;
  KernelMetadata kernel;
  kernel.entry = "gemm";
  kernel.schedule.store = StoreKind::Vector;
  for (Operand operand : {Operand::A, Operand::D}) {
    KernelArgument argument;
    argument.kind = KernelArgument::Kind::Pointer;
    argument.operand = operand;
    kernel.arguments.push_back(argument);
  }
  metadata.kernels = {kernel};
  metadata.dispatch = {{-1, 0}};
  return metadata;
}

class CudaGemmTest : public FakeDriverTest {
protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    auto made = makeOperands(problem, defaultSizes(problem, 20, 30, 40), 1);
    ASSERT_TRUE(made) << made.message();
    host = std::move(*made);
    auto created = CudaGemm::create(openDevice(), makeMetadata(problem),
                                    ".version 8.0", host);
    ASSERT_TRUE(created) << created.message();
    gemm = std::move(*created);
  }

  /// What a right kernel does, on the device's copy of D.
  void computeInto(uint8_t *d) {
    for (int64_t r = 0; r < 20; ++r)
      for (int64_t c = 0; c < 30; ++c)
        storeElement(problem.d, d, r * host.sizes.ldd + c,
                     float(referenceElement(host, r, c)));
  }

  Problem problem;
  HostOperands host;
  std::unique_ptr<CudaGemm> gemm;
};

TEST_F(CudaGemmTest, OperandsArriveAndDComesBack) {
  state->onLaunch = [&](const cuda::LaunchConfig &, const std::string &,
                        void **parameters) {
    auto *a = *static_cast<uint8_t **>(parameters[0]);
    auto *d = *static_cast<uint8_t **>(parameters[1]);
    EXPECT_NE(a, host.a.data());
    EXPECT_EQ(std::memcmp(a, host.a.data(), size_t(host.a.dataBytes())), 0);
    computeInto(d);
  };
  Status s = gemm->runOnce({}, 1);
  ASSERT_TRUE(s.ok()) << s.message();
  VerifyResult result = verify(host, toleranceFor(problem));
  EXPECT_TRUE(result.ok) << result.failure;
}

TEST_F(CudaGemmTest, WritesOutsideDAreSeen) {
  state->onLaunch = [&](const cuda::LaunchConfig &, const std::string &,
                        void **parameters) {
    auto *d = *static_cast<uint8_t **>(parameters[1]);
    computeInto(d);
    d[-1] = 0;
    d[host.d.dataBytes()] = 0;
  };
  ASSERT_TRUE(gemm->runOnce({}, 1).ok());
  EXPECT_EQ(verify(host, toleranceFor(problem)).guardViolations, 2);
}

TEST_F(CudaGemmTest, EveryRunStartsFromPoison) {
  state->onLaunch = [&](const cuda::LaunchConfig &, const std::string &,
                        void **parameters) {
    computeInto(*static_cast<uint8_t **>(parameters[1]));
  };
  ASSERT_TRUE(gemm->runOnce({}, 1).ok());
  state->onLaunch = nullptr;
  ASSERT_TRUE(gemm->runOnce({}, 1).ok());
  EXPECT_EQ(host.d.countNaN(), 20 * 30);
}

TEST_F(CudaGemmTest, AHangIsReported) {
  state->busy = true;
  Status s = gemm->runOnce({}, 0.01);
  EXPECT_NE(s.message().find("did not end within"), std::string::npos);
  EXPECT_TRUE(gemm->deviceLost());
  state->busy = false;
}

TEST(DeviceModel, FollowsTheName) {
  cuda::DeviceInfo info;
  info.name = "NVIDIA H200";
  EXPECT_EQ(deviceModel(info), "H200");
  info.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(deviceModel(info), "H100");
  info.name = "NVIDIA H20";
  EXPECT_EQ(deviceModel(info), "H20");
  info.name = "NVIDIA GH200 480GB";
  EXPECT_EQ(deviceModel(info), "H200");
}
