// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of the sound problems and legal schedules the passes make kernels for.

#ifndef DGEMM_COSTMODEL_REALISATION_H
#define DGEMM_COSTMODEL_REALISATION_H

#include "dgemm/CostModel/Schedule.h"

#include <string>

namespace dgemm {

/// Why no kernel can be made for this problem, in words; empty when one can.
std::string whyNotRealised(const Problem &problem);
/// The same for a schedule of it, which verifySchedule takes.
std::string whyNotRealised(const Problem &problem, const Schedule &schedule);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_REALISATION_H
