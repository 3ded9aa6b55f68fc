// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The known devices. H200 was measured; the others differ from it in published
// properties, and their coefficients are scaled by the ratios of these.

#include "dgemm/CostModel/DeviceModel.h"

#include <algorithm>
#include <cctype>

namespace dgemm {

/// Scales what depends on DRAM by published bandwidth, and lets everything
/// else be Hopper.
static DeviceModel scaled(std::string name, double hbmBandwidth,
                          double hbmGigabytes) {
  DeviceModel device;
  double ratio = hbmBandwidth / device.hbmBandwidth;
  device.name = std::move(name);
  device.measured = false;
  device.hbmBandwidth = hbmBandwidth;
  device.hbmGigabytes = hbmGigabytes;
  device.large.hbmRead *= ratio;
  device.large.hbmWrite *= ratio;
  device.decode.hbm *= ratio;
  return device;
}

/// 78 SMs whose tensor cores run at a quarter of the rate (148 published dense
/// BF16 TFLOP/s against 78 SMs x 4096 x 1.83 GHz = 585), so that the 400 W
/// limit does not lower the clock under tensor load.
static DeviceModel h20() {
  DeviceModel device = scaled("H20", 4.0, 96);
  device.smCount = 78;
  device.l2Megabytes = 60;
  device.powerWatts = 400;
  device.tensorTeraflops16 = 148;
  device.tensorCycleFactor = 4;
  device.large.clock16 = device.large.clock8 = device.maxClock;
  device.large.powerExponent = 0;
  device.large.l2Panels *= 60.0 / 50.0;
  return device;
}

std::vector<std::string> deviceNames() {
  return {"H200", "H100", "H800", "H20"};
}

Result<DeviceModel> findDevice(const std::string &name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  if (upper == "H200")
    return DeviceModel();
  if (upper == "H100")
    return scaled("H100", 3.35, 80);
  // H100 with fewer links between devices; the same within one.
  if (upper == "H800")
    return scaled("H800", 3.35, 80);
  if (upper == "H20")
    return h20();
  std::string known;
  for (const std::string &device : deviceNames())
    known += (known.empty() ? "" : ", ") + device;
  return Status::error("unknown device '" + name + "'; expected one of " +
                       known);
}

} // namespace dgemm
