// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L3a -> L3b: machine ops become assembly text.

#ifndef DGEMM_CONVERSION_LOWERTOASM_LOWERTOASM_H
#define DGEMM_CONVERSION_LOWERTOASM_LOWERTOASM_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::dgemm {

#define GEN_PASS_DECL
#include "dgemm/Conversion/LowerToAsm/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dgemm/Conversion/LowerToAsm/Passes.h.inc"

} // namespace mlir::dgemm

#endif // DGEMM_CONVERSION_LOWERTOASM_LOWERTOASM_H
