// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// An outcome as text for people and as JSON for programs.

#ifndef DGEMM_TOOLS_DGEMM_RUN_PRINT_H
#define DGEMM_TOOLS_DGEMM_RUN_PRINT_H

#include "RunCase.h"

namespace dgemm::run {

/// Several lines: device, problem, schedule, errors, time.
std::string describe(const Outcome &outcome, const Target &target,
                     bool withReport);
/// One line of a batch: "PASS" or "FAIL", the case, figures or the error.
std::string describeLine(const Case &which, const Outcome &outcome);
/// One JSON object.
std::string toJson(const Outcome &outcome, const Target &target);

} // namespace dgemm::run

#endif // DGEMM_TOOLS_DGEMM_RUN_PRINT_H
