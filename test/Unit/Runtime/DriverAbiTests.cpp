// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares dgemm's own declarations of the CUDA driver and of cuBLASLt with
// NVIDIA's headers, where a toolkit is installed.

#include "../../../lib/Runtime/CublasLtAbi.h"
#include "dgemm/Runtime/DriverApi.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cuda.h>

namespace ours = dgemm::cuda;

static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(ours::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::LaunchConfig, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::LaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::TensorMap) == sizeof(CUtensorMap));
static_assert(alignof(ours::TensorMap) >= alignof(CUtensorMap));

TEST(DriverAbi, ConstantsMatchCudaHeader) {
  EXPECT_EQ(int(ours::kAttrClockRateKHz), int(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  EXPECT_EQ(int(ours::kAttrMultiprocessorCount),
            int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(int(ours::kAttrMemoryClockRateKHz),
            int(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  EXPECT_EQ(int(ours::kAttrMemoryBusWidthBits),
            int(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  EXPECT_EQ(int(ours::kAttrL2CacheBytes),
            int(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  EXPECT_EQ(int(ours::kAttrComputeCapabilityMajor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(ours::kAttrComputeCapabilityMinor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(ours::kAttrMaxSharedMemoryOptIn),
            int(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(int(ours::kFuncSharedBytes),
            int(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(ours::kFuncLocalBytes),
            int(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  EXPECT_EQ(int(ours::kFuncRegisters), int(CU_FUNC_ATTRIBUTE_NUM_REGS));
  EXPECT_EQ(int(ours::kFuncMaxDynamicSharedBytes),
            int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(ours::kJitInfoLogBuffer), int(CU_JIT_INFO_LOG_BUFFER));
  EXPECT_EQ(int(ours::kJitInfoLogBufferBytes),
            int(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(int(ours::kJitErrorLogBuffer), int(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(int(ours::kJitErrorLogBufferBytes),
            int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(int(ours::kJitLogVerbose), int(CU_JIT_LOG_VERBOSE));
  EXPECT_EQ(int(ours::kPointerDeviceOrdinal),
            int(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
  EXPECT_EQ(int(ours::kLaunchClusterDimension),
            int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(int(ours::kLaunchProgrammaticStreamSerialization),
            int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
  EXPECT_EQ(ours::kStreamNonBlocking, unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(int(ours::kTensorMapUint8), int(CU_TENSOR_MAP_DATA_TYPE_UINT8));
  EXPECT_EQ(int(ours::kTensorMapInt32), int(CU_TENSOR_MAP_DATA_TYPE_INT32));
  EXPECT_EQ(int(ours::kTensorMapFloat16), int(CU_TENSOR_MAP_DATA_TYPE_FLOAT16));
  EXPECT_EQ(int(ours::kTensorMapFloat32), int(CU_TENSOR_MAP_DATA_TYPE_FLOAT32));
  EXPECT_EQ(int(ours::kTensorMapBFloat16),
            int(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16));
}

TEST(DriverAbi, ConstantsMatchCublasLtHeader) {
  EXPECT_EQ(int(ours::kDescTransA), int(CUBLASLT_MATMUL_DESC_TRANSA));
  EXPECT_EQ(int(ours::kDescTransB), int(CUBLASLT_MATMUL_DESC_TRANSB));
  EXPECT_EQ(int(ours::kDescScalePointerA),
            int(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
  EXPECT_EQ(int(ours::kDescScalePointerB),
            int(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
  EXPECT_EQ(int(ours::kDescFastAccumulate),
            int(CUBLASLT_MATMUL_DESC_FAST_ACCUM));
  EXPECT_EQ(int(ours::kDescScaleModeA), int(CUBLASLT_MATMUL_DESC_A_SCALE_MODE));
  EXPECT_EQ(int(ours::kDescScaleModeB), int(CUBLASLT_MATMUL_DESC_B_SCALE_MODE));
  EXPECT_EQ(int(ours::kPreferenceWorkspaceBytes),
            int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(int(ours::kScaleOuterVector),
            int(CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F));
  EXPECT_EQ(int(ours::kScaleVector128),
            int(CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F));
  EXPECT_EQ(int(ours::kScaleBlock128x128),
            int(CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F));
  EXPECT_EQ(int(ours::kCudaBF16), int(CUDA_R_16BF));
  EXPECT_EQ(int(ours::kCudaF16), int(CUDA_R_16F));
  EXPECT_EQ(int(ours::kCudaF32), int(CUDA_R_32F));
  EXPECT_EQ(int(ours::kCudaF8E4M3), int(CUDA_R_8F_E4M3));
  EXPECT_EQ(int(ours::kCudaF8E5M2), int(CUDA_R_8F_E5M2));
  EXPECT_EQ(ours::kComputeF32, int(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(ours::kHeuristicBytes, sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(ours::kHeuristicState,
            offsetof(cublasLtMatmulHeuristicResult_t, state));
}
#else
TEST(DriverAbi, NeedsToolkitHeaders) {
  GTEST_SKIP() << "no cuda.h and cublasLt.h on the include path";
}
#endif
