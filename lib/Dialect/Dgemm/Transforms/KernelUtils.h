// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Small helpers that several kernel passes share.

#ifndef DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_KERNELUTILS_H
#define DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_KERNELUTILS_H

#include "dgemm/Dialect/Dgemm/IR/BuilderUtils.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"

namespace mlir::dgemm {

/// M, N or K as i32: a constant when the problem fixes it, else the kernel's
/// parameter.
Value sizeOf(OpBuilder &builder, Location loc, KernelOp kernel,
             ::dgemm::Symbol symbol);

/// The MLIR element type of a plain one.
Type elementTypeOf(MLIRContext *context, ::dgemm::DType type);

/// What one slot of the kernel's ring holds, by operand: A, then B, then A's
/// scales where they travel by TMA, each cut as the schedule says.
SmallVector<std::pair<StringRef, TileType>> slotTiles(KernelOp kernel);

/// Bytes that the copy into a slot's `member` brings: the whole tile, but of A
/// only the rows that the schedule loads.
int64_t bytesCopied(KernelOp kernel, int64_t member, TileType tile);

/// What stands in front of everything that touches operands: the wait for the
/// kernels in front, which may still write or read them, and leave for the next
/// one to start. So late, at most one kernel waits behind this one.
void waitForGrids(OpBuilder &builder, Location loc);

/// The only tile loop below `op`; null when there is none.
TilesOp findTiles(Operation *op);
/// The K loop of a tile: the only scf.for in its body; null when absent.
scf::ForOp findKLoop(TilesOp tiles);
/// The consumer role of a kernel; null before specialize-warps.
RoleOp findRole(KernelOp kernel, StringRef role);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_KERNELUTILS_H
