// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's entry points.

#include "FakeCuda.h"

#include <cstdlib>
#include <cstring>
#include <set>

using namespace dgemm::cuda;

static constexpr Code kSuccess = 0, kInvalidValue = 1, kNotFound = 500,
                      kInvalidContext = 201;

static FakeCudaState state;
static std::set<std::string> functionNames;

extern "C" {

FakeCudaState *fakeCudaState() { return &state; }

Code cuInit(unsigned) { return kSuccess; }
Code cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
Code cuGetErrorName(Code code, const char **name) {
  *name = code == kNotFound         ? "CUDA_ERROR_NOT_FOUND"
          : code == kInvalidContext ? "CUDA_ERROR_INVALID_CONTEXT"
                                    : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}
Code cuGetErrorString(Code, const char **text) {
  *text = "fake failure";
  return kSuccess;
}
Code cuDeviceGetCount(int *count) {
  *count = int(state.devices.size());
  return kSuccess;
}
Code cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < int(state.devices.size()) ? kSuccess : 101;
}
Code cuDeviceGetName(char *name, int size, int device) {
  std::strncpy(name, state.devices[device].name.c_str(), size_t(size));
  return kSuccess;
}
Code cuDeviceGetPCIBusId(char *name, int size, int) {
  std::strncpy(name, "0000:01:00.0", size_t(size));
  return kSuccess;
}
Code cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case kAttrComputeCapabilityMajor:
    *value = state.devices[device].major;
    break;
  case kAttrComputeCapabilityMinor:
    *value = state.devices[device].minor;
    break;
  case kAttrMultiprocessorCount:
    *value = state.devices[device].smCount;
    break;
  case kAttrMaxSharedMemoryOptIn:
    *value = 232448;
    break;
  case kAttrMemoryClockRateKHz:
    *value = 3201000;
    break;
  case kAttrMemoryBusWidthBits:
    *value = 6144;
    break;
  default:
    *value = 1980000;
  }
  return kSuccess;
}
Code cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(141) << 30;
  return kSuccess;
}
Code cuDevicePrimaryCtxRetain(Context *context, int device) {
  *context = reinterpret_cast<Context>(uintptr_t(0x1000 + device));
  return kSuccess;
}
Code cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
Code cuCtxPushCurrent_v2(Context) {
  ++state.contextDepth;
  return kSuccess;
}
Code cuCtxPopCurrent_v2(Context *) {
  --state.contextDepth;
  return kSuccess;
}
Code cuCtxSynchronize() {
  ++state.synchronizations;
  return kSuccess;
}

Code cuModuleLoadDataEx(Module *module, const void *image, unsigned count,
                        int *options, void **values) {
  const char *text = static_cast<const char *>(image);
  state.lastImage = text;
  if (state.failModuleLoad) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLogBuffer)
        std::strcpy(static_cast<char *>(values[i]),
                    state.moduleErrorLog.c_str());
    return state.failModuleLoad;
  }
  *module = reinterpret_cast<Module>(uintptr_t(0x2000));
  return kSuccess;
}
Code cuModuleUnload(Module) { return kSuccess; }
Code cuModuleGetFunction(Function *function, Module, const char *name) {
  if (std::strstr(name, "missing"))
    return kNotFound;
  // The set's nodes never move, so their text can stand for the handle.
  const std::string &kept = *functionNames.insert(name).first;
  *function = reinterpret_cast<Function>(const_cast<char *>(kept.c_str()));
  return kSuccess;
}
Code cuFuncSetAttribute(Function function, int attribute, int value) {
  if (attribute == kFuncMaxDynamicSharedBytes)
    state.dynamicShared[reinterpret_cast<const char *>(function)] = value;
  return kSuccess;
}
Code cuFuncGetAttribute(int *value, int attribute, Function) {
  *value = attribute == kFuncRegisters ? 168 : 0;
  return kSuccess;
}
Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int,
                                                 size_t) {
  *blocks = 1;
  return kSuccess;
}
Code cuOccupancyMaxActiveClusters(int *clusters, Function,
                                  const LaunchConfig *) {
  *clusters = state.activeClusters;
  return kSuccess;
}
Code cuLaunchKernelEx(const LaunchConfig *config, Function function,
                      void **parameters, void **) {
  if (state.contextDepth < 1)
    return kInvalidContext;
  ++state.launches;
  if (state.onLaunch)
    state.onLaunch(*config, reinterpret_cast<const char *>(function),
                   parameters);
  return kSuccess;
}
Code cuTensorMapEncodeTiled(TensorMap *map, int type, uint32_t rank, void *base,
                            const uint64_t *dims, const uint64_t *strides,
                            const uint32_t *box, const uint32_t *, int,
                            int swizzle, int promotion, int) {
  FakeTensorMap made;
  made.type = type;
  made.base = reinterpret_cast<uint64_t>(base);
  made.dims.assign(dims, dims + rank);
  made.strides.assign(strides, strides + rank - 1);
  made.box.assign(box, box + rank);
  made.swizzle = swizzle;
  made.promotion = promotion;
  // Lets a test see which map arrived as which argument.
  map->opaque[0] = state.tensorMaps.size();
  state.tensorMaps.push_back(made);
  return made.dims[0] == 0 ? kInvalidValue : kSuccess;
}
Code cuMemAlloc_v2(DevicePtr *address, size_t bytes) {
  ++state.allocations;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *address = reinterpret_cast<DevicePtr>(memory);
  return memory ? kSuccess : 2;
}
Code cuMemFree_v2(DevicePtr address) {
  std::free(reinterpret_cast<void *>(address));
  return kSuccess;
}
Code cuMemcpyHtoD_v2(DevicePtr to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return kSuccess;
}
Code cuMemcpyDtoH_v2(void *to, DevicePtr from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return kSuccess;
}
Code cuMemsetD8Async(DevicePtr to, unsigned char value, size_t count,
                     CUstream) {
  std::memset(reinterpret_cast<void *>(to), value, count);
  return kSuccess;
}
Code cuMemsetD32Async(DevicePtr to, unsigned value, size_t count, CUstream) {
  auto *words = reinterpret_cast<unsigned *>(to);
  for (size_t i = 0; i < count; ++i)
    words[i] = value;
  return kSuccess;
}
Code cuPointerGetAttribute(void *value, int, DevicePtr address) {
  auto owner = state.ownerOfAddress.find(address);
  *static_cast<int *>(value) =
      owner == state.ownerOfAddress.end() ? 0 : owner->second;
  return kSuccess;
}
Code cuStreamCreate(CUstream *stream, unsigned) {
  static uintptr_t next = 0x3000;
  *stream = reinterpret_cast<CUstream>(next++);
  return kSuccess;
}
Code cuStreamDestroy_v2(CUstream) { return kSuccess; }
Code cuStreamQuery(CUstream) { return state.busy ? kNotReady : kSuccess; }
Code cuStreamSynchronize(CUstream) {
  ++state.synchronizations;
  return kSuccess;
}
Code cuStreamIsCapturing(CUstream, int *capturing) {
  *capturing = state.capturing;
  return kSuccess;
}
Code cuStreamGetId(CUstream stream, unsigned long long *id) {
  *id = reinterpret_cast<uintptr_t>(stream);
  return kSuccess;
}
Code cuEventCreate(Event *event, unsigned) {
  *event = reinterpret_cast<Event>(uintptr_t(0x4000));
  return kSuccess;
}
Code cuEventDestroy_v2(Event) { return kSuccess; }
Code cuEventRecord(Event, CUstream) { return kSuccess; }
Code cuEventElapsedTime(float *milliseconds, Event, Event) {
  *milliseconds = 0.01f;
  return kSuccess;
}

} // extern "C"
