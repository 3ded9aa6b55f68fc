// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Refusal of ops that the emulator gives no meaning to.

#ifndef DGEMM_EMULATOR_KNOWNOPS_H
#define DGEMM_EMULATOR_KNOWNOPS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace dgemm::emu {

/// "file:line:col", a name, or empty.
std::string locationText(mlir::Location location);

/// Why this op cannot be executed, with its name and location; empty when it
/// can.
std::string refuse(mlir::Operation *op);

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_KNOWNOPS_H
