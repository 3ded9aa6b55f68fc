// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L2 -> L3a: kernels become NVVM and LLVM ops plus WGMMA machine ops.

#ifndef DGEMM_CONVERSION_DGEMMTONVVM_DGEMMTONVVM_H
#define DGEMM_CONVERSION_DGEMMTONVVM_DGEMMTONVVM_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::dgemm {

/// Name of the gpu.module that holds converted kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "dgemm_kernels";

#define GEN_PASS_DECL
#include "dgemm/Conversion/DgemmToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dgemm/Conversion/DgemmToNVVM/Passes.h.inc"

} // namespace mlir::dgemm

#endif // DGEMM_CONVERSION_DGEMMTONVVM_DGEMMTONVVM_H
