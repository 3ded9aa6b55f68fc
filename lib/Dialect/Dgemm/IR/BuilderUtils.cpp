// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic that passes of every level emit.

#include "dgemm/Dialect/Dgemm/IR/BuilderUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

Value mlir::dgemm::constantI32(OpBuilder &builder, Location loc,
                               int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value mlir::dgemm::constantI64(OpBuilder &builder, Location loc,
                               int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

Value mlir::dgemm::ceilDivide(OpBuilder &builder, Location loc, Value a,
                              int64_t b) {
  Value up =
      arith::AddIOp::create(builder, loc, a, constantI32(builder, loc, b - 1));
  return arith::DivUIOp::create(builder, loc, up, constantI32(builder, loc, b));
}
