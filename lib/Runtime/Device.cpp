// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Devices, contexts, device memory and streams.

#include "dgemm/Runtime/Device.h"

#include <chrono>
#include <thread>

namespace dgemm::cuda {

static Result<DeviceInfo> describe(const DriverApi &api, int ordinal) {
  DeviceInfo info;
  info.ordinal = ordinal;
  int device = 0;
  if (Status s = api.check(api.cuDeviceGet(&device, ordinal), "cuDeviceGet");
      !s)
    return s;
  char text[256] = {};
  if (Status s = api.check(api.cuDeviceGetName(text, sizeof(text) - 1, device),
                           "cuDeviceGetName");
      !s)
    return s;
  info.name = text;
  char bus[32] = {};
  if (api.cuDeviceGetPCIBusId(bus, sizeof(bus) - 1, device) == 0)
    info.pciBusId = bus;
  size_t memory = 0;
  if (Status s = api.check(api.cuDeviceTotalMem_v2(&memory, device),
                           "cuDeviceTotalMem");
      !s)
    return s;
  info.memoryBytes = int64_t(memory);

  Status failed;
  auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    Status s = api.check(api.cuDeviceGetAttribute(&value, which, device),
                         "cuDeviceGetAttribute");
    if (!s)
      failed = s;
    return value;
  };
  info.major = attribute(kAttrComputeCapabilityMajor);
  info.minor = attribute(kAttrComputeCapabilityMinor);
  info.smCount = attribute(kAttrMultiprocessorCount);
  info.l2Bytes = attribute(kAttrL2CacheBytes);
  info.sharedMemoryPerBlock = attribute(kAttrMaxSharedMemoryOptIn);
  info.maxClockMHz = attribute(kAttrClockRateKHz) / 1e3;
  // Two transfers per memory clock.
  info.memoryGBps = 2.0 * attribute(kAttrMemoryClockRateKHz) *
                    attribute(kAttrMemoryBusWidthBits) / 8 / 1e6;
  if (!failed)
    return failed;
  return info;
}

Result<std::vector<DeviceInfo>> listDevices(const DriverApi &api) {
  int count = 0;
  if (Status s = api.check(api.cuDeviceGetCount(&count), "cuDeviceGetCount");
      !s)
    return s;
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Result<DeviceInfo> info = describe(api, ordinal);
    if (!info)
      return info.status();
    devices.push_back(*info);
  }
  return devices;
}

static std::string capability(const DeviceInfo &info) {
  return "device " + std::to_string(info.ordinal) + " (" + info.name +
         ") has compute capability " + std::to_string(info.major) + "." +
         std::to_string(info.minor);
}

Result<std::shared_ptr<Device>> Device::open(const DriverApi &api,
                                             int ordinal) {
  Result<std::vector<DeviceInfo>> devices = listDevices(api);
  if (!devices)
    return devices.status();
  if (devices->empty())
    return Status::error("no CUDA device");
  const DeviceInfo *chosen = nullptr;
  if (ordinal < 0) {
    for (const DeviceInfo &info : *devices)
      if (!chosen && info.isHopper())
        chosen = &info;
    if (!chosen)
      return Status::error("no device of compute capability 9.0: " +
                           capability(devices->front()));
  } else {
    if (ordinal >= int(devices->size()))
      return Status::error("no CUDA device " + std::to_string(ordinal) +
                           ": there are " + std::to_string(devices->size()));
    chosen = &(*devices)[ordinal];
    if (!chosen->isHopper())
      return Status::error(capability(*chosen) +
                           "; kernels for sm_90a need exactly 9.0");
  }
  int device = 0;
  if (Status s =
          api.check(api.cuDeviceGet(&device, chosen->ordinal), "cuDeviceGet");
      !s)
    return s;
  Context context = nullptr;
  if (Status s = api.check(api.cuDevicePrimaryCtxRetain(&context, device),
                           "cuDevicePrimaryCtxRetain");
      !s)
    return s;
  return std::shared_ptr<Device>(new Device(api, *chosen, context));
}

Result<std::shared_ptr<Device>> Device::forPointer(const DriverApi &api,
                                                   uint64_t pointer) {
  Result<int> ordinal = deviceOfPointer(api, pointer);
  if (!ordinal)
    return ordinal.status();
  return open(api, *ordinal);
}

Device::~Device() {
  int device = 0;
  if (driver.cuDeviceGet(&device, description.ordinal) == 0)
    driver.cuDevicePrimaryCtxRelease_v2(device);
}

Status Device::synchronize() const {
  ContextScope scope(*this);
  if (!scope.status())
    return scope.status();
  return driver.check(driver.cuCtxSynchronize(), "cuCtxSynchronize");
}

Result<int> deviceOfPointer(const DriverApi &api, uint64_t pointer) {
  int ordinal = -1;
  if (Status s = api.check(
          api.cuPointerGetAttribute(&ordinal, kPointerDeviceOrdinal, pointer),
          "cuPointerGetAttribute");
      !s)
    return Status::error("not a device address: " + s.message());
  return ordinal;
}

ContextScope::ContextScope(const Device &device) : driver(device.api()) {
  result = driver.check(driver.cuCtxPushCurrent_v2(device.context()),
                        "cuCtxPushCurrent");
}

ContextScope::~ContextScope() {
  Context popped = nullptr;
  if (result.ok())
    driver.cuCtxPopCurrent_v2(&popped);
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<Device> device,
                                            int64_t bytes) {
  DeviceBuffer buffer;
  if (bytes <= 0) {
    buffer.owner = std::move(device);
    return buffer;
  }
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();
  DevicePtr address = 0;
  if (Status s = device->api().check(
          device->api().cuMemAlloc_v2(&address, size_t(bytes)),
          "allocating " + std::to_string(bytes) + " bytes on the device");
      !s)
    return s;
  buffer.owner = std::move(device);
  buffer.pointer = address;
  buffer.bytes = bytes;
  return buffer;
}

void DeviceBuffer::release() {
  if (!pointer)
    return;
  ContextScope scope(*owner);
  if (scope.status().ok())
    owner->api().cuMemFree_v2(pointer);
  pointer = 0;
  bytes = 0;
}

DeviceBuffer::~DeviceBuffer() { release(); }

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : owner(std::move(other.owner)), pointer(other.pointer),
      bytes(other.bytes) {
  other.pointer = 0;
  other.bytes = 0;
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  owner = std::move(other.owner);
  std::swap(pointer, other.pointer);
  std::swap(bytes, other.bytes);
  return *this;
}

static Status checkRange(int64_t count, int64_t offset, int64_t size) {
  if (count < 0 || offset < 0 || count > size - offset)
    return Status::error("copy of " + std::to_string(count) +
                         " bytes at offset " + std::to_string(offset) +
                         " exceeds a device buffer of " + std::to_string(size) +
                         " bytes");
  return Status::success();
}

Status DeviceBuffer::upload(const void *from, int64_t count, int64_t offset) {
  if (Status s = checkRange(count, offset, bytes); !s)
    return s;
  if (count == 0)
    return Status::success();
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  return owner->api().check(
      owner->api().cuMemcpyHtoD_v2(pointer + offset, from, size_t(count)),
      "copy to the device");
}

Status DeviceBuffer::download(void *to, int64_t count, int64_t offset) const {
  if (Status s = checkRange(count, offset, bytes); !s)
    return s;
  if (count == 0)
    return Status::success();
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  return owner->api().check(
      owner->api().cuMemcpyDtoH_v2(to, pointer + offset, size_t(count)),
      "copy from the device");
}

Status DeviceBuffer::fill(uint8_t value, CUstream stream) {
  if (bytes == 0)
    return Status::success();
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  return owner->api().check(
      owner->api().cuMemsetD8Async(pointer, value, size_t(bytes), stream),
      "cuMemsetD8Async");
}

Result<std::unique_ptr<Stream>> Stream::create(std::shared_ptr<Device> device) {
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();
  CUstream handle = nullptr;
  if (Status s = device->api().check(
          device->api().cuStreamCreate(&handle, kStreamNonBlocking),
          "cuStreamCreate");
      !s)
    return s;
  return std::unique_ptr<Stream>(new Stream(std::move(device), handle));
}

Stream::~Stream() {
  ContextScope scope(*owner);
  if (scope.status().ok())
    owner->api().cuStreamDestroy_v2(handle);
}

Result<bool> Stream::waitFor(double seconds) const {
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    Code code = owner->api().cuStreamQuery(handle);
    if (code != kNotReady) {
      if (Status s = owner->api().check(code, "waiting for the stream"); !s)
        return s;
      return true;
    }
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status Stream::synchronize() const {
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  return owner->api().check(owner->api().cuStreamSynchronize(handle),
                            "cuStreamSynchronize");
}

} // namespace dgemm::cuda
