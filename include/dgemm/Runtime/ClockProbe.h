// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The SM clock and power draw of a device, by NVML through dlopen: large GEMMs
// run at whatever clock the power limit leaves, so a time without its clock
// says little.

#ifndef DGEMM_RUNTIME_CLOCKPROBE_H
#define DGEMM_RUNTIME_CLOCKPROBE_H

#include "dgemm/Runtime/Device.h"
#include "dgemm/Support/Status.h"

#include <memory>

namespace dgemm::cuda {

/// Reads clock and power of one device; cheap enough to call per launch.
class ClockProbe {
public:
  static Result<std::unique_ptr<ClockProbe>> create(const DeviceInfo &device);

  /// SM clock at this moment in MHz, 0 when NVML cannot tell.
  double smClockMHz() const;
  /// Board power at this moment in watts, 0 when NVML cannot tell.
  double powerWatts() const;

private:
  ClockProbe() = default;

  void *device = nullptr;
  int (*clockInfo)(void *, int, unsigned *) = nullptr;
  int (*powerUsage)(void *, unsigned *) = nullptr;
};

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_CLOCKPROBE_H
