// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The operand lists that dgemm.matmul and dgemm.launch have in common.

#ifndef DGEMM_LIB_DIALECT_DGEMM_IR_OPERANDSYNTAX_H
#define DGEMM_LIB_DIALECT_DGEMM_IR_OPERANDSYNTAX_H

#include "mlir/IR/OpImplementation.h"

#include <array>

namespace mlir::dgemm {

class LaunchOp;

/// Types as written; null for operands that are not there.
struct GemmOperandTypes {
  Type a, b, scaleA, scaleB, c, d;
};

/// Reads from `ins` to the result type and resolves every operand.
/// `parseScaleSuffix` reads what follows the scales of A (0) or B (1).
ParseResult
parseGemmOperands(OpAsmParser &parser, OperationState &state,
                  GemmOperandTypes &types, std::array<int32_t, 7> &segments,
                  function_ref<ParseResult(unsigned)> parseScaleSuffix);

void printGemmOperands(LaunchOp op, OpAsmPrinter &printer);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_IR_OPERANDSYNTAX_H
