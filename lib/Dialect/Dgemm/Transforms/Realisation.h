// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of the sound problems and legal schedules the passes make kernels for.

#ifndef DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REALISATION_H
#define DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REALISATION_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"

#include <string>

namespace mlir::dgemm {

/// Why no kernel can be made for this problem, in words; empty when one can.
std::string whyNotRealised(const ::dgemm::Problem &problem);
/// The same for a schedule of it, which verifySchedule takes.
std::string whyNotRealised(const ::dgemm::Problem &problem,
                           const ::dgemm::Schedule &schedule);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REALISATION_H
