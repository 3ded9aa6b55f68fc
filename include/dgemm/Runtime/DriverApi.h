// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver through dlopen. Nothing here needs cuda.h, a toolkit or a
// GPU to build or to start: a machine without a driver gets a Status. The
// declarations are the part of the driver's stable binary interface that dgemm
// uses; test/Unit/Runtime/DriverAbiTest.cpp compares them with cuda.h where
// that is installed.

#ifndef DGEMM_RUNTIME_DRIVERAPI_H
#define DGEMM_RUNTIME_DRIVERAPI_H

#include "dgemm/Support/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

// Opaque driver objects, declared as cuda.h declares them so that a program
// may include both.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
typedef struct CUstream_st *CUstream;

namespace dgemm::cuda {

using Context = ::CUctx_st *;
using Module = ::CUmod_st *;
using Function = ::CUfunc_st *;
using Event = ::CUevent_st *;
using DevicePtr = unsigned long long;
/// A CUresult; 0 is success.
using Code = int;
inline constexpr Code kNotReady = 600;

/// Device attributes (CUdevice_attribute).
enum DeviceAttribute : int {
  kAttrClockRateKHz = 13,
  kAttrMultiprocessorCount = 16,
  kAttrMemoryClockRateKHz = 36,
  kAttrMemoryBusWidthBits = 37,
  kAttrL2CacheBytes = 38,
  kAttrComputeCapabilityMajor = 75,
  kAttrComputeCapabilityMinor = 76,
  kAttrMaxSharedMemoryOptIn = 97,
};
/// Function attributes (CUfunction_attribute).
enum FunctionAttribute : int {
  kFuncSharedBytes = 1,
  kFuncLocalBytes = 3,
  kFuncRegisters = 4,
  kFuncMaxDynamicSharedBytes = 8,
};
/// Options of cuModuleLoadDataEx (CUjit_option).
enum JitOption : int {
  kJitInfoLogBuffer = 3,
  kJitInfoLogBufferBytes = 4,
  kJitErrorLogBuffer = 5,
  kJitErrorLogBufferBytes = 6,
  kJitLogVerbose = 12,
};
enum PointerAttribute : int {
  kPointerDeviceOrdinal = 9,
};
/// Launch attributes (CUlaunchAttributeID).
enum LaunchAttributeId : int {
  kLaunchClusterDimension = 4,
  kLaunchProgrammaticStreamSerialization = 6,
};
inline constexpr unsigned kStreamNonBlocking = 1;

/// CUlaunchAttribute: the value is a union of 64 bytes.
struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmaticStreamSerialization;
  } value = {};
};
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  CUstream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};
/// CUtensorMap: opaque, passed to kernels by value.
struct alignas(128) TensorMap {
  uint64_t opaque[16] = {};
};
/// CUtensorMapDataType, as far as dgemm encodes it.
enum TensorMapType : int {
  kTensorMapUint8 = 0,
  kTensorMapInt32 = 3,
  kTensorMapFloat16 = 6,
  kTensorMapFloat32 = 7,
  kTensorMapBFloat16 = 9,
};

// One row per entry point: result is always a CUresult. The names are the
// exported symbols; the suffixed ones are the current forms of those calls.
#define DGEMM_CUDA_DRIVER_CALLS(X)                                             \
  X(cuInit, (unsigned))                                                        \
  X(cuDriverGetVersion, (int *))                                               \
  X(cuGetErrorName, (Code, const char **))                                     \
  X(cuGetErrorString, (Code, const char **))                                   \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDeviceGet, (int *, int))                                                 \
  X(cuDeviceGetName, (char *, int, int))                                       \
  X(cuDeviceGetPCIBusId, (char *, int, int))                                   \
  X(cuDeviceGetAttribute, (int *, int, int))                                   \
  X(cuDeviceTotalMem_v2, (size_t *, int))                                      \
  X(cuDevicePrimaryCtxRetain, (Context *, int))                                \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                       \
  X(cuCtxPushCurrent_v2, (Context))                                            \
  X(cuCtxPopCurrent_v2, (Context *))                                           \
  X(cuCtxSynchronize, ())                                                      \
  X(cuModuleLoadDataEx, (Module *, const void *, unsigned, int *, void **))    \
  X(cuModuleUnload, (Module))                                                  \
  X(cuModuleGetFunction, (Function *, Module, const char *))                   \
  X(cuFuncSetAttribute, (Function, int, int))                                  \
  X(cuFuncGetAttribute, (int *, int, Function))                                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
    (int *, Function, int, size_t))                                            \
  X(cuOccupancyMaxActiveClusters, (int *, Function, const LaunchConfig *))     \
  X(cuLaunchKernelEx, (const LaunchConfig *, Function, void **, void **))      \
  X(cuTensorMapEncodeTiled,                                                    \
    (TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,   \
     const uint32_t *, const uint32_t *, int, int, int, int))                  \
  X(cuMemAlloc_v2, (DevicePtr *, size_t))                                      \
  X(cuMemFree_v2, (DevicePtr))                                                 \
  X(cuMemcpyHtoD_v2, (DevicePtr, const void *, size_t))                        \
  X(cuMemcpyDtoH_v2, (void *, DevicePtr, size_t))                              \
  X(cuMemsetD8Async, (DevicePtr, unsigned char, size_t, CUstream))             \
  X(cuMemsetD32Async, (DevicePtr, unsigned, size_t, CUstream))                 \
  X(cuPointerGetAttribute, (void *, int, DevicePtr))                           \
  X(cuStreamCreate, (CUstream *, unsigned))                                    \
  X(cuStreamDestroy_v2, (CUstream))                                            \
  X(cuStreamQuery, (CUstream))                                                 \
  X(cuStreamSynchronize, (CUstream))                                           \
  X(cuStreamIsCapturing, (CUstream, int *))                                    \
  X(cuStreamGetId, (CUstream, unsigned long long *))                           \
  X(cuEventCreate, (Event *, unsigned))                                        \
  X(cuEventDestroy_v2, (Event))                                                \
  X(cuEventRecord, (Event, CUstream))                                          \
  X(cuEventElapsedTime, (float *, Event, Event))

/// Table of driver entry points. Immutable once loaded; never unloaded.
struct DriverApi {
#define DGEMM_DECLARE(name, parameters) Code(*name) parameters = nullptr;
  DGEMM_CUDA_DRIVER_CALLS(DGEMM_DECLARE)
#undef DGEMM_DECLARE
  /// Puts a kernel's code on the device now; null before CUDA 12.4, whose
  /// drivers do so when an attribute of the function is set.
  Code (*cuFuncLoad)(Function) = nullptr;
  int driverVersion = 0; ///< 1000 * major + 10 * minor

  /// The process's driver, loaded and initialised on the first call. The
  /// error says whether the library, a symbol or a device is missing.
  static Result<const DriverApi *> get();
  /// The driver in this library file, for tests that bring their own.
  static Result<const DriverApi *> load(const std::string &library);

  /// Success, or an error "<what>: <CUDA error name>: <description>".
  Status check(Code code, const std::string &what) const;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_DRIVERAPI_H
