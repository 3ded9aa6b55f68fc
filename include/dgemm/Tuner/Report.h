// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured schedules as a page to look at.

#ifndef DGEMM_TUNER_REPORT_H
#define DGEMM_TUNER_REPORT_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <functional>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// One HTML document without external parts: how good the model is, predicted
/// against measured time, roofline, regret per problem, what tuning changed,
/// what failed. All texts are escaped. `heldOut` marks problems (may be empty).
std::string htmlReport(const std::vector<TuningRecord> &records,
                       const DeviceModel &device, const std::string &date,
                       const std::function<bool(const Problem &)> &heldOut);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_REPORT_H
