// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The few NVML calls that a benchmark needs.

#include "dgemm/Runtime/ClockProbe.h"

#include "dgemm/Runtime/DynamicLibrary.h"

namespace dgemm::cuda {

Result<std::unique_ptr<ClockProbe>>
ClockProbe::create(const DeviceInfo &device) {
  Result<DynamicLibrary> library = DynamicLibrary::find({"libnvidia-ml.so.1"});
  if (!library)
    return library.status();
  auto init = reinterpret_cast<int (*)()>(library->symbol("nvmlInit_v2"));
  auto byBus = reinterpret_cast<int (*)(const char *, void **)>(
      library->symbol("nvmlDeviceGetHandleByPciBusId_v2"));
  std::unique_ptr<ClockProbe> probe(new ClockProbe);
  probe->clockInfo = reinterpret_cast<int (*)(void *, int, unsigned *)>(
      library->symbol("nvmlDeviceGetClockInfo"));
  probe->powerUsage = reinterpret_cast<int (*)(void *, unsigned *)>(
      library->symbol("nvmlDeviceGetPowerUsage"));
  if (!init || !byBus || !probe->clockInfo || !probe->powerUsage)
    return Status::error("'" + library->path + "' lacks an NVML call");
  if (int code = init(); code != 0)
    return Status::error("nvmlInit failed with status " + std::to_string(code));
  if (int code = byBus(device.pciBusId.c_str(), &probe->device); code != 0)
    return Status::error("NVML does not know PCI device " + device.pciBusId +
                         " (status " + std::to_string(code) + ")");
  return probe;
}

double ClockProbe::smClockMHz() const {
  constexpr int kClockSm = 1;
  unsigned value = 0;
  return clockInfo(device, kClockSm, &value) == 0 ? value : 0;
}

double ClockProbe::powerWatts() const {
  unsigned milliwatts = 0;
  return powerUsage(device, &milliwatts) == 0 ? milliwatts / 1e3 : 0;
}

} // namespace dgemm::cuda
