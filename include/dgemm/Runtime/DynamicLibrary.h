// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding NVIDIA's optional libraries (CUPTI, cuBLASLt, NVML) on machines that
// keep them in different places.

#ifndef DGEMM_RUNTIME_DYNAMICLIBRARY_H
#define DGEMM_RUNTIME_DYNAMICLIBRARY_H

#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm::cuda {

/// A library that stays loaded for the life of the process.
struct DynamicLibrary {
  void *handle = nullptr;
  std::string path; ///< the name or file that loaded

  /// Address of a symbol, null when the library has none of this name.
  void *symbol(const char *name) const;

  /// Tries every file name on the loader's own path, then in the toolkit
  /// folders below /usr/local, then in the `nvidia` packages of Python
  /// installations. The error lists the names.
  static Result<DynamicLibrary> find(const std::vector<std::string> &names);
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_DYNAMICLIBRARY_H
