// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands of a GEMM copied to a device with their guards, so that writes
// outside D are found there too.

#ifndef DGEMM_REFERENCE_DEVICEOPERANDS_H
#define DGEMM_REFERENCE_DEVICEOPERANDS_H

#include "dgemm/Reference/HostData.h"
#include "dgemm/Runtime/Device.h"

#include <array>
#include <memory>

namespace dgemm {

/// Device copies of host operands; the host operands outlive them.
class DeviceOperands {
public:
  static Result<DeviceOperands> upload(std::shared_ptr<cuda::Device> device,
                                       HostOperands &host);

  /// Device addresses for a launch; no workspace.
  const LaunchOperands &addresses() const { return operands; }
  /// Copies D with its guards back into the host operands.
  Status downloadOutput();
  /// Writes the host's D with its guards to the device again.
  Status uploadOutput();
  /// Sets every byte of the device's D and its guards, in order on the stream.
  Status fillOutput(uint8_t value, CUstream stream);

private:
  explicit DeviceOperands(HostOperands &operandsOnHost)
      : host(&operandsOnHost) {}

  HostOperands *host;
  std::array<cuda::DeviceBuffer, 6> buffers; ///< a, b, c, d, scale_a, scale_b
  LaunchOperands operands;
};

} // namespace dgemm

#endif // DGEMM_REFERENCE_DEVICEOPERANDS_H
