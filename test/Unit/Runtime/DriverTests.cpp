// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading the driver, choosing a device, device memory, modules and tensor
// maps, on the fake driver.

#include "FakeDriver.h"
#include "dgemm/Runtime/CublasLt.h"
#include "dgemm/Runtime/Module.h"
#include "dgemm/Runtime/TensorMapEncode.h"
#include "dgemm/Runtime/Timing.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::cuda;

TEST(DriverApi, MissingLibraryIsAnError) {
  Result<const DriverApi *> api = DriverApi::load("libno-such-driver.so.1");
  ASSERT_FALSE(api);
  EXPECT_NE(api.message().find("no CUDA driver: cannot load "
                               "'libno-such-driver.so.1'"),
            std::string::npos)
      << api.message();
}

TEST(DriverApi, LibraryWithoutTheCallsIsAnError) {
  Result<const DriverApi *> api = DriverApi::load("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_NE(api.message().find("has no cuInit"), std::string::npos);
}

class Driver : public FakeDriverTest {};

TEST_F(Driver, ErrorsCarryTheDriversNameAndText) {
  Status s = api->check(500, "kernel 'k'");
  EXPECT_EQ(s.message(), "kernel 'k': CUDA_ERROR_NOT_FOUND: fake failure");
  EXPECT_TRUE(api->check(0, "nothing").ok());
}

TEST_F(Driver, OpensTheFirstHopper) {
  state->devices = {{"A100", 8, 0, 108}, {"H200", 9, 0, 132}};
  Result<std::shared_ptr<Device>> device = Device::open(*api);
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->info().ordinal, 1);
  EXPECT_EQ((*device)->info().smCount, 132);
}

TEST_F(Driver, RefusesOtherCapabilitiesByName) {
  state->devices = {{"B200", 10, 0, 148}};
  Result<std::shared_ptr<Device>> any = Device::open(*api);
  ASSERT_FALSE(any);
  EXPECT_EQ(any.message(), "no device of compute capability 9.0: device 0 "
                           "(B200) has compute capability 10.0");
  Result<std::shared_ptr<Device>> named = Device::open(*api, 0);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.message(), "device 0 (B200) has compute capability 10.0; "
                             "kernels for sm_90a need exactly 9.0");
}

TEST_F(Driver, RefusesADeviceThatIsNotThere) {
  Result<std::shared_ptr<Device>> device = Device::open(*api, 3);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.message(), "no CUDA device 3: there are 1");
  state->devices.clear();
  EXPECT_EQ(Device::open(*api).message(), "no CUDA device");
}

TEST_F(Driver, FindsTheDeviceOfAPointer) {
  state->devices = {{"H200 a", 9, 0, 132}, {"H200 b", 9, 0, 78}};
  state->ownerOfAddress[0x1230] = 1;
  Result<std::shared_ptr<Device>> device = Device::forPointer(*api, 0x1230);
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->info().smCount, 78);
}

TEST_F(Driver, BuffersRoundTripAndCheckTheirRange) {
  std::shared_ptr<Device> device = openDevice();
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(device, 16);
  ASSERT_TRUE(buffer) << buffer.message();
  ASSERT_TRUE(buffer->fill(0x5a).ok());
  uint8_t in[4] = {1, 2, 3, 4}, out[16] = {};
  ASSERT_TRUE(buffer->upload(in, 4, 8).ok());
  ASSERT_TRUE(buffer->download(out, 16).ok());
  EXPECT_EQ(out[7], 0x5a);
  EXPECT_EQ(out[8], 1);
  EXPECT_EQ(out[11], 4);
  EXPECT_EQ(buffer->upload(in, 4, 13).message(),
            "copy of 4 bytes at offset 13 exceeds a device buffer of 16 bytes");
  EXPECT_EQ(state->contextDepth, 0);
}

TEST_F(Driver, WaitingForAStreamEnds) {
  auto stream = Stream::create(openDevice());
  ASSERT_TRUE(stream) << stream.message();
  Result<bool> done = (*stream)->waitFor(1);
  ASSERT_TRUE(done) << done.message();
  EXPECT_TRUE(*done);
  state->busy = true;
  done = (*stream)->waitFor(0.01);
  ASSERT_TRUE(done) << done.message();
  EXPECT_FALSE(*done);
}

TEST_F(Driver, PtxIsTerminatedForTheDriver) {
  std::shared_ptr<Device> device = openDevice();
  std::string text = ".version 8.0 and more";
  auto module =
      LoadedModule::load(device, std::string_view(text).substr(0, 12));
  ASSERT_TRUE(module) << module.message();
  EXPECT_EQ(state->lastImage, ".version 8.0");
}

TEST_F(Driver, ModuleErrorsHoldTheJitLog) {
  std::shared_ptr<Device> device = openDevice();
  state->failModuleLoad = 218;
  state->moduleErrorLog = "line 3: unknown instruction";
  auto module = LoadedModule::load(device, ".version 8.0");
  ASSERT_FALSE(module);
  EXPECT_NE(module.message().find("assembling PTX by the driver"),
            std::string::npos);
  EXPECT_NE(module.message().find("line 3: unknown instruction"),
            std::string::npos);
}

TEST_F(Driver, FunctionsAreFoundAndOptIn) {
  std::shared_ptr<Device> device = openDevice();
  auto module = LoadedModule::load(device, ".version 8.0");
  ASSERT_TRUE(module) << module.message();
  Result<KernelFunction> found = (*module)->function("gemm", 200000, 384);
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(found->registers, 168);
  EXPECT_EQ(found->ctasPerSM, 1);
  EXPECT_EQ(state->dynamicShared["gemm"], 200000);
  EXPECT_EQ((*module)->function("missing", 0, 384).message(),
            "kernel 'missing': CUDA_ERROR_NOT_FOUND: fake failure");
  EXPECT_EQ((*module)->function("gemm", 232449, 384).message(),
            "kernel 'gemm' needs 232449 bytes of dynamic shared memory, the "
            "device allows 232448");
}

TEST_F(Driver, TensorMapsPassEveryField) {
  TensorMapValues values;
  values.type = DType::F8E4M3FN;
  values.base = 0x10000;
  values.dims = {7168, 128};
  values.stridesBytes = {7168};
  values.box = {128, 64};
  values.swizzle = 128;
  values.l2Promotion = 256;
  TensorMap map;
  ASSERT_TRUE(encodeTensorMap(*api, values, map).ok());
  const FakeTensorMap &made = state->tensorMaps.back();
  EXPECT_EQ(made.type, int(kTensorMapUint8));
  EXPECT_EQ(made.base, 0x10000u);
  EXPECT_EQ(made.dims, values.dims);
  EXPECT_EQ(made.strides, values.stridesBytes);
  EXPECT_EQ(made.box, values.box);
  EXPECT_EQ(made.swizzle, 3);
  EXPECT_EQ(made.promotion, 3);
}

TEST_F(Driver, TensorMapErrorsNameTheOperandAndShape) {
  TensorMapValues values;
  values.operand = Operand::B;
  values.dims = {64, 64};
  values.stridesBytes = {128};
  values.box = {64, 64};
  values.swizzle = 48;
  TensorMap map;
  Status s = encodeTensorMap(*api, values, map);
  EXPECT_NE(s.message().find("tensor map of b: dims 64x64"), std::string::npos);
  EXPECT_NE(s.message().find("found 48"), std::string::npos);
  values.stridesBytes.clear();
  EXPECT_NE(encodeTensorMap(*api, values, map).message().find("one stride"),
            std::string::npos);
}

TEST(TensorMapType, EveryElementTypeHasOne) {
  EXPECT_EQ(*tensorMapType(DType::F8E5M2), int(kTensorMapUint8));
  EXPECT_EQ(*tensorMapType(DType::F8E8M0FNU), int(kTensorMapUint8));
  EXPECT_EQ(*tensorMapType(DType::BF16), int(kTensorMapBFloat16));
  EXPECT_EQ(*tensorMapType(DType::F16), int(kTensorMapFloat16));
  EXPECT_EQ(*tensorMapType(DType::F32), int(kTensorMapFloat32));
  EXPECT_FALSE(tensorMapType(DType::None));
}

TEST_F(Driver, TimerWithEventsTakesTheEmptyKernelOff) {
  std::shared_ptr<Device> device = openDevice();
  TimingOptions options;
  options.eventsOnly = true;
  options.flushBytes = 4096;
  options.pauseMs = 0;
  options.repeats = 5;
  auto timer = KernelTimer::create(device, options);
  ASSERT_TRUE(timer) << timer.message();
  EXPECT_EQ((*timer)->method(), "events");
  // The fake's events are always 10 us apart, for the empty kernel too.
  EXPECT_NEAR((*timer)->emptyKernelUs(), 10, 1e-3);
  int launched = 0;
  std::vector<TimingCandidate> candidates = {
      {"one",
       [&](CUstream) {
         ++launched;
         return Status::success();
       }},
      {"two", [&](CUstream) { return Status::success(); }}};
  auto measured = (*timer)->measure(candidates);
  ASSERT_TRUE(measured) << measured.message();
  ASSERT_EQ(measured->size(), 2u);
  EXPECT_EQ((*measured)[0].name, "one");
  EXPECT_EQ((*measured)[0].samplesUs.size(), 5u);
  EXPECT_NEAR((*measured)[0].medianUs, 0, 1e-3);
  EXPECT_EQ(launched, options.warmups + options.repeats);
}

TEST_F(Driver, SustainedTurnsFillTheirTime) {
  TimingOptions options;
  options.eventsOnly = true;
  options.flushBytes = 4096;
  options.sustained = true;
  options.sustainedMs = 1;
  options.repeats = 3;
  auto timer = KernelTimer::create(openDevice(), options);
  ASSERT_TRUE(timer) << timer.message();
  int launched = 0;
  auto measured = (*timer)->measure({{"one", [&](CUstream) {
                                        ++launched;
                                        return Status::success();
                                      }}});
  ASSERT_TRUE(measured) << measured.message();
  // Five launches took the fake 10 us, so 500 fill a millisecond; one turn
  // warms up.
  EXPECT_EQ(launched, 5 + 4 * 500);
  EXPECT_NEAR(measured->front().medianUs, 10.0 / 500, 1e-6);
  EXPECT_EQ(measured->front().samplesUs.size(), 3u);
}

TEST_F(Driver, TimerReportsTheFailingCandidate) {
  std::shared_ptr<Device> device = openDevice();
  TimingOptions options;
  options.eventsOnly = true;
  options.flushBytes = 4096;
  options.pauseMs = 0;
  auto timer = KernelTimer::create(device, options);
  ASSERT_TRUE(timer) << timer.message();
  auto measured = (*timer)->measure(
      {{"bad", [](CUstream) { return Status::error("no luck"); }}});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.message(), "timing 'bad': no luck");
}

TEST(Timing, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Timing, L2StateText) {
  EXPECT_EQ(*parseL2State("clean"), L2State::Clean);
  EXPECT_EQ(parseL2State("cold").message(),
            "L2 state: expected dirty, clean or warm, found 'cold'");
}

TEST(CublasLt, BaselineOfAProblem) {
  Problem p;
  EXPECT_EQ(*baselineFor(p), Baseline::BF16);
  p.a = p.b = DType::F8E4M3FN;
  EXPECT_EQ(*baselineFor(p), Baseline::FP8PerTensor);
  p.scaleA = {DType::F32, 1, 0, ScaleMajor::K};
  p.scaleB = {DType::F32, 1, 0, ScaleMajor::K};
  EXPECT_EQ(*baselineFor(p), Baseline::FP8PerRow);
  p.scaleA = {DType::F32, 1, 128, ScaleMajor::K};
  EXPECT_FALSE(baselineFor(p));
  p.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  EXPECT_EQ(*baselineFor(p), Baseline::FP8Block);
  EXPECT_EQ(*parseBaseline("fp8-row"), Baseline::FP8PerRow);
  EXPECT_FALSE(parseBaseline("int4"));
}

TEST(CublasLt, ScalesAreRepacked) {
  // Two rows of three blocks.
  std::vector<float> scales = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(packRowBlockScales(scales, 2, 3),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(packSquareBlockScales(scales, 2, 3),
            (std::vector<float>{1, 2, 3, 0, 4, 5, 6, 0}));
}
