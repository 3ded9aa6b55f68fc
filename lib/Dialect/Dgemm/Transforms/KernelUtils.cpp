// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Small helpers that several kernel passes share.

#include "KernelUtils.h"

using namespace mlir;

Value mlir::dgemm::constantI32(OpBuilder &builder, Location loc,
                               int64_t value) {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value mlir::dgemm::constantI64(OpBuilder &builder, Location loc,
                               int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

Value mlir::dgemm::sizeOf(OpBuilder &builder, Location loc, KernelOp kernel,
                          ::dgemm::Symbol symbol) {
  const ::dgemm::Problem &problem = kernel.getProblem().getValue();
  int64_t size = symbol == ::dgemm::Symbol::M   ? problem.m
                 : symbol == ::dgemm::Symbol::N ? problem.n
                                                : problem.k;
  if (size != ::dgemm::kDynamic)
    return constantI32(builder, loc, size);
  return kernel.getSize(symbol);
}

Type mlir::dgemm::elementTypeOf(MLIRContext *context, ::dgemm::DType type) {
  switch (type) {
  case ::dgemm::DType::BF16:
    return BFloat16Type::get(context);
  case ::dgemm::DType::F16:
    return Float16Type::get(context);
  case ::dgemm::DType::F32:
    return Float32Type::get(context);
  case ::dgemm::DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ::dgemm::DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ::dgemm::DType::F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case ::dgemm::DType::I8:
    return IntegerType::get(context, 8);
  case ::dgemm::DType::I32:
    return IntegerType::get(context, 32);
  case ::dgemm::DType::None:
    break;
  }
  return NoneType::get(context);
}

mlir::dgemm::TilesOp mlir::dgemm::findTiles(Operation *op) {
  TilesOp found;
  op->walk([&](TilesOp tiles) { found = tiles; });
  return found;
}

scf::ForOp mlir::dgemm::findKLoop(TilesOp tiles) {
  for (Operation &op : tiles.getBody().front())
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop;
  return {};
}

mlir::dgemm::RoleOp mlir::dgemm::findRole(KernelOp kernel, StringRef role) {
  for (RoleOp op : kernel.getBody().getOps<RoleOp>())
    if (op.getRole() == role)
      return op;
  return {};
}
