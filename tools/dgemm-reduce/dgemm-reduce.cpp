// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-reduce: makes an IR file that shows a fault as small as it can.

#include "dgemm/Dialect/Dgemm/Transforms/Reduction.h"
#include "dgemm/InitAllDialects.h"
#include "dgemm/InitAllPasses.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int dgemmReduceMain(int argc, char **argv) {
  mlir::dgemm::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  mlir::dgemm::registerReductionPatterns(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
