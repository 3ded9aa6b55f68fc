// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Fixture of tests on the fake driver: loads it once, resets it per test.

#ifndef DGEMM_TEST_UNIT_RUNTIME_FAKEDRIVER_H
#define DGEMM_TEST_UNIT_RUNTIME_FAKEDRIVER_H

#include "FakeCuda.h"
#include "dgemm/Runtime/Device.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

class FakeDriverTest : public testing::Test {
protected:
  void SetUp() override {
    static const dgemm::Result<const dgemm::cuda::DriverApi *> loaded =
        dgemm::cuda::DriverApi::load(DGEMM_FAKE_CUDA);
    ASSERT_TRUE(loaded) << loaded.message();
    api = *loaded;
    void *handle = dlopen(DGEMM_FAKE_CUDA, RTLD_NOW);
    ASSERT_NE(handle, nullptr);
    auto get =
        reinterpret_cast<FakeCudaState *(*)()>(dlsym(handle, "fakeCudaState"));
    ASSERT_NE(get, nullptr);
    state = get();
    *state = FakeCudaState();
  }

  std::shared_ptr<dgemm::cuda::Device> openDevice() {
    dgemm::Result<std::shared_ptr<dgemm::cuda::Device>> device =
        dgemm::cuda::Device::open(*api);
    EXPECT_TRUE(device) << device.message();
    return device ? *device : nullptr;
  }

  const dgemm::cuda::DriverApi *api = nullptr;
  FakeCudaState *state = nullptr;
};

#endif // DGEMM_TEST_UNIT_RUNTIME_FAKEDRIVER_H
