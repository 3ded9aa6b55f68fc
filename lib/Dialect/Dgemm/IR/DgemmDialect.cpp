// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The dialect class: what it registers, the interfaces it gives to generic
// MLIR machinery, and the checks of its discardable attributes.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::dgemm;

#include "dgemm/Dialect/Dgemm/IR/DgemmDialect.cpp.inc"
#include "dgemm/Dialect/Dgemm/IR/DgemmInterfaces.cpp.inc"

namespace {
/// Functions that hold GEMMs may be inlined: every dgemm op means the same
/// wherever it stands.
struct DgemmInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void DgemmDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dgemm/Dialect/Dgemm/IR/DgemmOps.cpp.inc"
      >();
  addInterfaces<DgemmInliner>();
}

#define GET_OP_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmOps.cpp.inc"
