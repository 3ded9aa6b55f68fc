// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One compiled GEMM with its operands on a device: run it, fetch D, time it.

#ifndef DGEMM_TOOLS_CUDAGEMM_H
#define DGEMM_TOOLS_CUDAGEMM_H

#include "dgemm/Reference/DeviceOperands.h"
#include "dgemm/Runtime/Launcher.h"

#include <memory>
#include <optional>
#include <string_view>

namespace dgemm {

class CudaGemm {
public:
  /// Loads the code (cubin or PTX text) and copies the operands. The host
  /// operands outlive the result.
  static Result<std::unique_ptr<CudaGemm>>
  create(std::shared_ptr<cuda::Device> device, const LaunchMetadata &metadata,
         std::string_view image, HostOperands &host);

  /// Enqueues one launch.
  Status launch(const LaunchOptions &options, CUstream stream) const;

  /// Poisons D, launches, waits and copies D back into the host operands. An
  /// error that left the context unusable (a fault, or a kernel that did not
  /// end within the limit) sets `deviceLost`: the process should then end
  /// without freeing anything of the device.
  Status runOnce(const LaunchOptions &options, double timeoutSeconds);
  bool deviceLost() const { return lost; }

  const cuda::LoadedArtifact &artifact() const { return *loaded; }
  const LaunchOperands &addresses() const { return operands->addresses(); }
  /// Copies D with its guards back into the host operands.
  Status downloadOutput() { return operands->downloadOutput(); }

private:
  explicit CudaGemm(HostOperands &operandsOnHost) : host(operandsOnHost) {}

  HostOperands &host;
  std::shared_ptr<cuda::LoadedArtifact> loaded;
  std::optional<DeviceOperands> operands;
  std::unique_ptr<cuda::Stream> stream;
  bool lost = false;
};

/// The cost model's name of a device ("H200", "H100", "H800", "H20"), from the
/// driver's; "H200" for a Hopper it does not know.
std::string deviceModel(const cuda::DeviceInfo &info);

} // namespace dgemm

#endif // DGEMM_TOOLS_CUDAGEMM_H
