// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver made of host memory, so that everything the runtime does
// before a kernel runs is tested on machines without a GPU. Built as a shared
// library and loaded the way the real driver is; tests steer and inspect it
// through fakeCudaState().

#ifndef DGEMM_TEST_UNIT_RUNTIME_FAKECUDA_H
#define DGEMM_TEST_UNIT_RUNTIME_FAKECUDA_H

#include "dgemm/Runtime/DriverApi.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

struct FakeDevice {
  std::string name = "Fake H200";
  int major = 9, minor = 0, smCount = 132;
};

/// One cuTensorMapEncodeTiled call.
struct FakeTensorMap {
  int type = -1;
  uint64_t base = 0;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box;
  int swizzle = -1, promotion = -1;
};

struct FakeCudaState {
  std::vector<FakeDevice> devices{FakeDevice{}};
  bool capturing = false;
  bool busy = false;                        ///< streams never finish
  int failModuleLoad = 0;                   ///< CUresult of the next loads
  std::string moduleErrorLog;               ///< what the JIT then says
  std::string lastImage;                    ///< PTX text or cubin last loaded
  std::map<uint64_t, int> ownerOfAddress;   ///< others belong to device 0
  std::map<std::string, int> dynamicShared; ///< opt-in by kernel name
  std::vector<FakeTensorMap> tensorMaps;
  int allocations = 0, synchronizations = 0, launches = 0, contextDepth = 0;
  int activeClusters = 66;
  /// Called with the configuration and the kernel's parameter pointers.
  std::function<void(const dgemm::cuda::LaunchConfig &, const std::string &,
                     void **)>
      onLaunch;
};

extern "C" FakeCudaState *fakeCudaState();

#endif // DGEMM_TEST_UNIT_RUNTIME_FAKECUDA_H
