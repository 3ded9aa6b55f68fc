// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Registration and generated code of the attributes and enumerations. Parsing,
// printing and verifying lie in one file per attribute.

#include "PlainHash.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::dgemm;

#include "dgemm/Dialect/Dgemm/IR/DgemmEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.cpp.inc"

void DgemmDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.cpp.inc"
      >();
}
