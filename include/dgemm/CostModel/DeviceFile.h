// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Device models as text, one `name = value` per line, and the list of their
// fields that this text, the documentation and calibration share.

#ifndef DGEMM_COSTMODEL_DEVICEFILE_H
#define DGEMM_COSTMODEL_DEVICEFILE_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm {

/// One number of a device model.
struct DeviceField {
  const char *name; ///< "hbm_bandwidth", "large.load_latency", ...
  const char *unit; ///< "us", "cyc", "TB/s", ...; "" for pure numbers
  const char *meaning;
  /// Where it lies in a model.
  double &(*access)(DeviceModel &);
  /// Whether calibration may change it: a coefficient of the large formula, of
  /// the decode formula, or (none) a published property or fixed exponent.
  enum class Fit { None, Large, Decode } fit;
};

/// Every numeric field, in the order in which files hold them.
const std::vector<DeviceField> &deviceFields();

/// The text of a device file; each line carries unit and meaning as a comment.
std::string toText(const DeviceModel &device);
/// Reads such a text. `base = H200` in the first line starts from that known
/// device, otherwise fields left out keep the values of DeviceModel(); `name *=
/// factor` scales. `#` starts a comment, whose part in brackets (or all of it)
/// says where the number comes from. Errors name the line and the field.
Result<DeviceModel> parseDeviceModel(const std::string &text);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_DEVICEFILE_H
