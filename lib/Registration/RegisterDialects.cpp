// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Our dialect in a registry.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Dialect/Dgemm/Transforms/BufferizableOpInterfaceImpl.h"
#include "dgemm/InitAllDialects.h"

using namespace mlir;

void mlir::dgemm::registerDgemmDialect(DialectRegistry &registry) {
  registry.insert<DgemmDialect>();
  // one-shot-bufferize stops at an op that has no model.
  registerBufferizableOpInterfaceExternalModels(registry);
}

void mlir::dgemm::registerAllDialects(DialectRegistry &registry) {
  registerDgemmDialect(registry);
  registerUpstreamDialects(registry);
}
