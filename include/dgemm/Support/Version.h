// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of dgemm, for what tools print and what caches are keyed by.

#ifndef DGEMM_SUPPORT_VERSION_H
#define DGEMM_SUPPORT_VERSION_H

namespace dgemm {

/// "major.minor.patch" of this build.
const char *version();

/// "major.minor" of the LLVM this build is made for.
const char *llvmVersion();

/// Generation of the kernels: raised by one whenever a change of the compiler
/// makes kernels of the same schedule faster or slower, or gives a schedule
/// another meaning. Times measured with another generation are not used.
inline constexpr int kKernelGeneration = 1;

} // namespace dgemm

#endif // DGEMM_SUPPORT_VERSION_H
