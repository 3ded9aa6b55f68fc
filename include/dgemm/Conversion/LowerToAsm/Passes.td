// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L3a -> L3b.

#ifndef DGEMM_CONVERSION_LOWERTOASM_PASSES
#define DGEMM_CONVERSION_LOWERTOASM_PASSES

include "mlir/Pass/PassBase.td"

def DgemmLowerToAsmPass
    : Pass<"dgemm-lower-to-asm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "spell machine ops as assembly";
  let description = [{
    `dgemm.wgmma` becomes `nvvm.wgmma.mma_async`; its fence and wait become
    assembly text with every accumulator they concern as a tied operand, so
    that neither LLVM nor ptxas moves register accesses across them. Values in
    flight become structs of registers. Afterwards only LLVM, NVVM and
    structural ops are left.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // DGEMM_CONVERSION_LOWERTOASM_PASSES
