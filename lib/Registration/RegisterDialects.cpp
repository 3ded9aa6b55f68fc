// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Our dialect in a registry.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/InitAllDialects.h"

using namespace mlir;

void mlir::dgemm::registerDgemmDialect(DialectRegistry &registry) {
  registry.insert<DgemmDialect>();
}

void mlir::dgemm::registerAllDialects(DialectRegistry &registry) {
  registerDgemmDialect(registry);
  registerUpstreamDialects(registry);
}
