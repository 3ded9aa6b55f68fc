// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-lsp-server: diagnostics, hovers and completion for IR files in an
// editor that speaks the language server protocol.

#include "dgemm/InitAllDialects.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int dgemmLspServerMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
