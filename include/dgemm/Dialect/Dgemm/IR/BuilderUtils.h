// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic that passes of every level emit.

#ifndef DGEMM_DIALECT_DGEMM_IR_BUILDERUTILS_H
#define DGEMM_DIALECT_DGEMM_IR_BUILDERUTILS_H

#include "mlir/IR/Builders.h"

namespace mlir::dgemm {

Value constantI32(OpBuilder &builder, Location loc, int64_t value);
Value constantI64(OpBuilder &builder, Location loc, int64_t value);
/// (a + b - 1) / b for an unsigned i32 `a` small enough not to overflow.
Value ceilDivide(OpBuilder &builder, Location loc, Value a, int64_t b);

} // namespace mlir::dgemm

#endif // DGEMM_DIALECT_DGEMM_IR_BUILDERUTILS_H
