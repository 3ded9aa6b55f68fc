// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The spelling of scale blocks, as attributes and dgemm.matmul share it.

#ifndef DGEMM_LIB_DIALECT_DGEMM_IR_SCALINGSYNTAX_H
#define DGEMM_LIB_DIALECT_DGEMM_IR_SCALINGSYNTAX_H

#include "dgemm/CostModel/Problem.h"

#include "mlir/IR/OpImplementation.h"

namespace mlir::dgemm {

/// Reads `1x128`, `tensor` or `row` into rows and cols.
ParseResult parseScaleBlock(AsmParser &parser, ::dgemm::ScaleSpec &scale);
void printScaleBlock(raw_ostream &os, const ::dgemm::ScaleSpec &scale);

/// Reads `k_major` or `mn_major` if it stands there; K major without.
ParseResult parseOptionalMajor(AsmParser &parser, ::dgemm::ScaleSpec &scale);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_IR_SCALINGSYNTAX_H
