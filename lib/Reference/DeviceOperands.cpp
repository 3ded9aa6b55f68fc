// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies operands between host and device.

#include "dgemm/Reference/DeviceOperands.h"

namespace dgemm {

static constexpr size_t kOutput = 3;

Result<DeviceOperands>
DeviceOperands::upload(std::shared_ptr<cuda::Device> device,
                       HostOperands &host) {
  DeviceOperands made(host);
  struct {
    HostMatrix &matrix;
    uint64_t &address;
  } all[] = {
      {host.a, made.operands.a},           {host.b, made.operands.b},
      {host.c, made.operands.c},           {host.d, made.operands.d},
      {host.scaleA, made.operands.scaleA}, {host.scaleB, made.operands.scaleB}};
  for (size_t i = 0; i < made.buffers.size(); ++i) {
    auto &[matrix, address] = all[i];
    if (matrix.type() == DType::None)
      continue;
    Result<cuda::DeviceBuffer> buffer =
        cuda::DeviceBuffer::allocate(device, matrix.allSize());
    if (!buffer)
      return buffer.status();
    made.buffers[i] = std::move(*buffer);
    if (Status s = made.buffers[i].upload(matrix.allBytes(), matrix.allSize());
        !s)
      return s;
    address = made.buffers[i].address() + HostMatrix::dataOffset();
  }
  return made;
}

Status DeviceOperands::downloadOutput() {
  return buffers[kOutput].download(host->d.allBytes(), host->d.allSize());
}

Status DeviceOperands::uploadOutput() {
  return buffers[kOutput].upload(host->d.allBytes(), host->d.allSize());
}

Status DeviceOperands::fillOutput(uint8_t value, CUstream stream) {
  return buffers[kOutput].fill(value, stream);
}

} // namespace dgemm
