// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A Hopper GPU as the runtime sees it: capability check, primary context,
// memory that frees itself, and the device a pointer belongs to.

#ifndef DGEMM_RUNTIME_DEVICE_H
#define DGEMM_RUNTIME_DEVICE_H

#include "dgemm/Runtime/DriverApi.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dgemm::cuda {

/// What the driver says about one device.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string pciBusId;
  int major = 0, minor = 0; ///< compute capability
  int smCount = 0;
  int64_t l2Bytes = 0, memoryBytes = 0;
  int64_t sharedMemoryPerBlock = 0; ///< bytes, opt-in maximum
  double maxClockMHz = 0;           ///< SM clock at its highest
  double memoryGBps = 0;            ///< peak, from clock and bus width

  /// True for compute capability 9.0, the only one dgemm's code runs on.
  bool isHopper() const { return major == 9 && minor == 0; }
};

/// Every device of this driver, Hopper or not; empty when there is none.
Result<std::vector<DeviceInfo>> listDevices(const DriverApi &api);

/// One Hopper device with its primary context retained. Thread-safe.
class Device {
public:
  /// Opens the device with this CUDA ordinal; -1 takes the first of compute
  /// capability 9.0. Another capability is refused with its name.
  static Result<std::shared_ptr<Device>> open(const DriverApi &api,
                                              int ordinal = -1);
  /// The device of the process's driver that owns this device address.
  static Result<std::shared_ptr<Device>> forPointer(const DriverApi &api,
                                                    uint64_t pointer);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DriverApi &api() const { return driver; }
  const DeviceInfo &info() const { return description; }
  Context context() const { return primary; }

  /// Waits for all work of the context; reports faults of earlier launches.
  Status synchronize() const;

private:
  Device(const DriverApi &api, DeviceInfo info, Context context)
      : driver(api), description(std::move(info)), primary(context) {}

  const DriverApi &driver;
  DeviceInfo description;
  Context primary;
};

/// Ordinal of the device that owns a device address.
Result<int> deviceOfPointer(const DriverApi &api, uint64_t pointer);

/// Makes a device's context current in this thread for the scope's lifetime
/// and puts the former one back.
class ContextScope {
public:
  explicit ContextScope(const Device &device);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  const Status &status() const { return result; }

private:
  const DriverApi &driver;
  Status result;
};

/// Device memory, freed with its owner. Movable; empty when default made.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  static Result<DeviceBuffer> allocate(std::shared_ptr<Device> device,
                                       int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;

  uint64_t address() const { return pointer; }
  int64_t size() const { return bytes; }

  /// Copies `count` bytes from or to host memory at a byte offset; waits.
  Status upload(const void *from, int64_t count, int64_t offset = 0);
  Status download(void *to, int64_t count, int64_t offset = 0) const;
  /// Sets every byte, in order on the stream.
  Status fill(uint8_t value, CUstream stream = nullptr);

private:
  void release();

  std::shared_ptr<Device> owner;
  uint64_t pointer = 0;
  int64_t bytes = 0;
};

/// A non-blocking stream, destroyed with its owner.
class Stream {
public:
  static Result<std::unique_ptr<Stream>> create(std::shared_ptr<Device> device);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  CUstream get() const { return handle; }
  Status synchronize() const;
  /// Waits at most this long; false when work is still running then. Nothing
  /// of the context can be freed after that without waiting for ever.
  Result<bool> waitFor(double seconds) const;

private:
  Stream(std::shared_ptr<Device> device, CUstream stream)
      : owner(std::move(device)), handle(stream) {}

  std::shared_ptr<Device> owner;
  CUstream handle;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_DEVICE_H
