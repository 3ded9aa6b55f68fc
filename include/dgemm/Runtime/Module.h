// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Code on a device: a cubin, or PTX text that the driver's own JIT assembles.

#ifndef DGEMM_RUNTIME_MODULE_H
#define DGEMM_RUNTIME_MODULE_H

#include "dgemm/Runtime/Device.h"

#include <memory>
#include <string>
#include <string_view>

namespace dgemm::cuda {

/// A kernel of a loaded module and what the driver says it needs.
struct KernelFunction {
  Function handle = nullptr;
  int registers = 0;      ///< per thread at entry
  int64_t localBytes = 0; ///< per thread: spills and stack
  int64_t staticSharedBytes = 0;
  int ctasPerSM = 0; ///< CTAs of the given size that fit on one SM
  /// Clusters that fit on the device at once: fewer than its SMs would hold,
  /// as the SMs of a group need not be a multiple of the cluster. 0 for a
  /// kernel without clusters.
  int activeClusters = 0;
};

/// A module loaded into one device's context; unloaded with its owner.
class LoadedModule {
public:
  /// `image` is a cubin (starts with the ELF magic) or PTX text. The error
  /// holds the driver's log when it could not assemble or load the image.
  static Result<std::unique_ptr<LoadedModule>>
  load(std::shared_ptr<Device> device, std::string_view image);
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;

  /// Looks a kernel up, allows it this much dynamic shared memory and loads
  /// its code now rather than at the first launch.
  Result<KernelFunction> function(const std::string &entry,
                                  int64_t dynamicSharedBytes,
                                  int threads) const;
  /// What the driver's JIT said; empty for a cubin.
  const std::string &log() const { return jitLog; }

private:
  LoadedModule(std::shared_ptr<Device> device, Module module, std::string log)
      : owner(std::move(device)), handle(module), jitLog(std::move(log)) {}

  std::shared_ptr<Device> owner;
  Module handle;
  std::string jitLog;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_MODULE_H
