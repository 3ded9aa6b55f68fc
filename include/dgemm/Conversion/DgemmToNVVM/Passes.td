// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L2 -> L3a.

#ifndef DGEMM_CONVERSION_DGEMMTONVVM_PASSES
#define DGEMM_CONVERSION_DGEMMTONVVM_PASSES

include "mlir/Pass/PassBase.td"

def ConvertDgemmToNVVMPass
    : Pass<"convert-dgemm-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn kernels into NVVM and LLVM ops plus WGMMA machine ops";
  let description = [{
    Each `dgemm.kernel` becomes an `llvm.func` in the `gpu.module`
    `@dgemm_kernels`, with its launch metadata attached as JSON text; warps,
    threads, shared-memory addresses and matrix descriptors become explicit.
    What stays of the dialect are its machine ops (`dgemm.wgmma`, its fence and
    its wait), which the emulator executes and dgemm-lower-to-asm spells.
    `dgemm.launch` follows its kernels' new names.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::dgemm::DgemmDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

#endif // DGEMM_CONVERSION_DGEMMTONVVM_PASSES
