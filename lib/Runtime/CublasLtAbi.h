// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of cuBLASLt's binary interface that the baselines use, so that its
// header is not needed to build. test/Unit/Runtime/DriverAbiTest.cpp compares
// it with cublasLt.h where that is installed.

#ifndef DGEMM_LIB_RUNTIME_CUBLASLTABI_H
#define DGEMM_LIB_RUNTIME_CUBLASLTABI_H

#include <cstddef>
#include <cstdint>

namespace dgemm::cuda {

enum CublasAttribute : int {
  kDescTransA = 3,
  kDescTransB = 4,
  kDescScalePointerA = 17,
  kDescScalePointerB = 18,
  kDescFastAccumulate = 25,
  kDescScaleModeA = 31,
  kDescScaleModeB = 32,
  kPreferenceWorkspaceBytes = 1,
};
enum CublasScaleMode : int32_t {
  kScaleScalar = 0,
  kScaleOuterVector = 3,
  kScaleVector128 = 4,
  kScaleBlock128x128 = 5,
};
enum CudaDataType : int {
  kCudaF32 = 0,
  kCudaF16 = 2,
  kCudaBF16 = 14,
  kCudaF8E4M3 = 28,
  kCudaF8E5M2 = 29,
};
inline constexpr int kComputeF32 = 68;
inline constexpr int32_t kOpNone = 0, kOpTranspose = 1;
/// cublasLtMatmulHeuristicResult_t: the algorithm's 64 bytes stand first.
inline constexpr size_t kHeuristicBytes = 96, kHeuristicState = 72;

/// Entry points; every result is a cublasStatus_t, 0 is success.
struct CublasLtLibrary {
  void *handle = nullptr;
  size_t version = 0; ///< 10000 * major + 100 * minor + patch
  size_t (*getVersion)() = nullptr;
  int (*create)(void **) = nullptr;
  int (*descCreate)(void **, int, int) = nullptr;
  int (*descDestroy)(void *) = nullptr;
  int (*descSet)(void *, int, const void *, size_t) = nullptr;
  int (*layoutCreate)(void **, int, uint64_t, uint64_t, int64_t) = nullptr;
  int (*layoutDestroy)(void *) = nullptr;
  int (*preferenceCreate)(void **) = nullptr;
  int (*preferenceDestroy)(void *) = nullptr;
  int (*preferenceSet)(void *, int, const void *, size_t) = nullptr;
  int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int,
                   void *, int *) = nullptr;
  int (*matmul)(void *, void *, const void *, const void *, void *,
                const void *, void *, const void *, const void *, void *,
                void *, void *, const void *, void *, size_t, void *) = nullptr;
};

} // namespace dgemm::cuda

#endif // DGEMM_LIB_RUNTIME_CUBLASLTABI_H
