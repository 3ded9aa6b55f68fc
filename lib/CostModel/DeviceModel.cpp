// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The known devices: the text files in devices/, compiled in.

#include "dgemm/CostModel/DeviceModel.h"

#include "dgemm/CostModel/DeviceFile.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>

namespace dgemm {

double residentCtas(const DeviceModel &device, int clusterSize, int ctasPerSM) {
  double perSM = std::max(ctasPerSM, 1);
  if (clusterSize <= 2)
    return device.smCount * perSM;
  double ctas =
      (clusterSize <= 4 ? device.clusterCtas4 : device.clusterCtas8) * perSM;
  return std::max(std::floor(ctas / clusterSize), 1.0) * clusterSize;
}

std::vector<std::string> deviceNames() {
  return {"H200", "H100", "H800", "H20"};
}

/// What Devices.inc holds.
static const char *deviceText(const std::string &name) {
  static const std::map<std::string, const char *> texts = {
#include "Devices.inc"
  };
  auto found = texts.find(name);
  return found == texts.end() ? nullptr : found->second;
}

/// Each text is read once: that takes far longer than what a device is asked
/// for. Null: no such device.
static const Result<DeviceModel> *readOnce(const std::string &name) {
  // Reading a device that is based on another one reads that one.
  static std::recursive_mutex lock;
  static std::map<std::string, Result<DeviceModel>> read;
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (auto known = read.find(name); known != read.end())
    return &known->second;
  const char *text = deviceText(name);
  return text ? &read.emplace(name, parseDeviceModel(text)).first->second
              : nullptr;
}

Result<DeviceModel> findDevice(const std::string &name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (const Result<DeviceModel> *known = readOnce(lower))
    return *known;
  std::string known;
  for (const std::string &device : deviceNames())
    known += (known.empty() ? "" : ", ") + device;
  return Status::error("unknown device '" + name + "'; expected one of " +
                       known);
}

} // namespace dgemm
