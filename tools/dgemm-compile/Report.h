// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What --report prints.

#ifndef DGEMM_TOOLS_DGEMM_COMPILE_REPORT_H
#define DGEMM_TOOLS_DGEMM_COMPILE_REPORT_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/JIT/Compiler.h"

#include <string>

namespace dgemm::compile {

/// Per kernel: schedule, registers, spills, shared memory, stages, CTAs per SM,
/// waves, predicted time and its parts, what holds the kernel back; then why
/// the schedule was chosen.
std::string makeReport(const jit::Artifact &artifact,
                       const DeviceModel &device);

} // namespace dgemm::compile

#endif // DGEMM_TOOLS_DGEMM_COMPILE_REPORT_H
