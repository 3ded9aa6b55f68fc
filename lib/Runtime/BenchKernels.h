// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that measuring needs, as PTX text for the driver's JIT.

#ifndef DGEMM_LIB_RUNTIME_BENCHKERNELS_H
#define DGEMM_LIB_RUNTIME_BENCHKERNELS_H

namespace dgemm::cuda {

/// dgemm_empty(): does nothing. dgemm_flush_read(u64 data, u64 vectors, u64
/// sink): reads `vectors` 16-byte vectors, so that L2 holds clean lines of
/// that buffer; `sink` (4 bytes) keeps the reads alive and is not written in
/// practice.
extern const char *const kBenchKernelsPtx;

/// True for the kernels above and those of DeviceCompare.h, which are no part
/// of what is measured.
bool isBenchKernel(const char *name);

} // namespace dgemm::cuda

#endif // DGEMM_LIB_RUNTIME_BENCHKERNELS_H
