// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Small helpers that several kernel passes share.

#include "KernelUtils.h"

#include "dgemm/Runtime/KernelInterface.h"

using namespace mlir;

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

SmallVector<std::pair<StringRef, mlir::dgemm::TileType>>
mlir::dgemm::slotTiles(KernelOp kernel) {
  const ::dgemm::Problem &problem = kernel.getProblem().getValue();
  const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
  MLIRContext *context = kernel.getContext();
  auto tile = [&](int64_t rows, int64_t cols, ::dgemm::DType type,
                  int64_t swizzle) {
    return TileType::get(context, rows, cols, elementTypeOf(context, type),
                         swizzle);
  };
  int64_t blocks = schedule.kBlocksPerStage;
  int64_t depth = schedule.tileK * blocks;
  SmallVector<std::pair<StringRef, TileType>> tiles = {
      {"a", tile(schedule.tileM, depth, problem.a, schedule.swizzleA)},
      {"b", tile(schedule.tileN, depth, problem.b, schedule.swizzleB)}};
  if (::dgemm::rowScalePath(problem, schedule) == ::dgemm::RowScalePath::Ring)
    tiles.push_back({"scale_a", tile(blocks, schedule.tileM,
                                     problem.scaleA.type, /*swizzle=*/0)});
  return tiles;
}

int64_t mlir::dgemm::bytesCopied(KernelOp kernel, int64_t member,
                                 TileType tile) {
  int64_t rows = member == 0 ? kernel.getSchedule().getValue().rowsLoaded()
                             : tile.getRows();
  return rows * tile.getCols() *
         (tile.getElementType().getIntOrFloatBitWidth() / 8);
}

void mlir::dgemm::waitForGrids(OpBuilder &builder, Location loc) {
  GridWaitOp::create(builder, loc);
  GridLaunchOp::create(builder, loc);
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
