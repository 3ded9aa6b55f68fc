// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Our passes and pipelines by name.

#include "dgemm/Conversion/DgemmToNVVM/DgemmToNVVM.h"
#include "dgemm/Conversion/LowerToAsm/LowerToAsm.h"
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"
#include "dgemm/InitAllPasses.h"
#include "dgemm/Pipelines/Pipelines.h"

void mlir::dgemm::registerDgemmPasses() {
  registerDgemmProblemPasses();
  registerDgemmKernelPasses();
  registerDgemmToNVVMPasses();
  registerDgemmLowerToAsmPasses();
  registerDgemmPipelines();
}

void mlir::dgemm::registerAllPasses() {
  registerDgemmPasses();
  registerUpstreamPasses();
}
