// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel durations as the hardware reports them, by CUPTI's activity records,
// loaded with dlopen. Without the library the caller times with events.

#ifndef DGEMM_RUNTIME_CUPTI_H
#define DGEMM_RUNTIME_CUPTI_H

#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dgemm::cuda {

/// One kernel that ran; times in nanoseconds of one common clock.
struct KernelRecord {
  std::string name;
  uint64_t start = 0, end = 0;
};

/// The process-wide collector of kernel records: CUPTI has one set of buffers
/// per process. Thread-safe.
class Cupti {
public:
  /// Loads the library and switches kernel records on. The search order is
  /// the loader's path, then the toolkits below /usr/local. The error says
  /// what was missing or refused (a profiler may hold the device already).
  static Result<Cupti *> get();

  /// Records of the kernels that ended since the last call, by start time.
  /// The caller has synchronised the streams it asks about.
  Result<std::vector<KernelRecord>> take();

private:
  Cupti() = default;
  static Result<Cupti *> load();

  int (*flushAll)(uint32_t) = nullptr;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_CUPTI_H
