// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-opt: reads IR, runs passes named on the command line, prints IR.

#include "dgemm/InitAllDialects.h"
#include "dgemm/InitAllPasses.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int dgemmOptMain(int argc, char **argv) {
  mlir::dgemm::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dgemm modular optimizer\n", registry));
}
