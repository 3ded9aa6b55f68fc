// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Launching a compiled GEMM on a CUDA stream. Loading does everything slow
// (module, function look-up, shared-memory opt-in); launch() only fills
// arguments, encodes tensor maps and calls the driver.

#ifndef DGEMM_RUNTIME_LAUNCHER_H
#define DGEMM_RUNTIME_LAUNCHER_H

#include "dgemm/Runtime/Device.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Runtime/Module.h"

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace dgemm::cuda {

/// Workspaces that no caller gave: one per (kernel, stream), so that neither
/// two streams nor two kernels ever share one and a kernel finds the fixed
/// part, which stands first, as it left it. Grows outside graph capture only;
/// outgrown buffers live as long as the pool, since launches in flight may
/// still use them.
class WorkspacePool {
public:
  explicit WorkspacePool(std::shared_ptr<Device> device)
      : owner(std::move(device)) {}

  /// Address of at least `bytes` bytes, all zero when new. An error when it
  /// would have to grow while the stream is being captured.
  Result<uint64_t> acquire(int kernel, CUstream stream, int64_t bytes);

private:
  std::shared_ptr<Device> owner;
  std::mutex lock;
  std::map<std::pair<int, uint64_t>, std::vector<DeviceBuffer>> buffers;
};

/// An artifact on one device, ready to launch. Thread-safe after loading.
class LoadedArtifact {
public:
  /// `image` is a cubin or PTX text that holds every kernel the metadata
  /// names.
  static Result<std::shared_ptr<LoadedArtifact>>
  load(std::shared_ptr<Device> device, LaunchMetadata metadata,
       std::string_view image);

  const LaunchMetadata &metadata() const { return document; }
  const std::shared_ptr<Device> &device() const { return owner; }
  /// Resources of kernels()[index] as loaded.
  const KernelFunction &function(int index) const { return functions[index]; }
  /// What the driver's JIT said; empty for a cubin.
  const std::string &log() const { return module->log(); }

  /// Workspace bytes a launch of this size needs from its caller or the pool.
  Result<int64_t> workspaceBytes(const LaunchSizes &sizes,
                                 const LaunchOptions &options) const;
  /// Makes the pool large enough for this size on this stream, so that a
  /// later launch may be captured into a graph.
  Status reserveWorkspace(const LaunchSizes &sizes,
                          const LaunchOptions &options, CUstream stream) const;

  /// When set (the default) launch() refuses operands of another device, at
  /// the cost of one driver query per operand.
  bool checkPointers = true;

private:
  friend Status launch(const LoadedArtifact &, const LaunchSizes &,
                       const LaunchOperands &, const LaunchOptions &, CUstream);
  LoadedArtifact(std::shared_ptr<Device> device, LaunchMetadata metadata)
      : owner(std::move(device)), document(std::move(metadata)),
        workspaces(std::make_unique<WorkspacePool>(owner)) {}

  /// SMs that the kernel for this M can be resident on at once.
  int usableSMs(int64_t m) const;

  std::shared_ptr<Device> owner;
  LaunchMetadata document;
  std::unique_ptr<LoadedModule> module;
  std::vector<KernelFunction> functions;
  std::unique_ptr<WorkspacePool> workspaces;
};

/// Enqueues one GEMM; returns before it ran. Operands are device addresses of
/// the artifact's device. Loads nothing and waits for nothing; allocates only
/// when no workspace was given and the stream's pool is too small, which is an
/// error during graph capture. M = 0 or N = 0 launches nothing.
Status launch(const LoadedArtifact &artifact, const LaunchSizes &sizes,
              const LaunchOperands &operands, const LaunchOptions &options,
              CUstream stream);

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_LAUNCHER_H
