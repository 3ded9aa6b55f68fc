// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From MLIR's types and sizes to those of the plain C++ libraries and back.

#ifndef DGEMM_DIALECT_DGEMM_IR_ELEMENTTYPES_H
#define DGEMM_DIALECT_DGEMM_IR_ELEMENTTYPES_H

#include "dgemm/CostModel/Problem.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::dgemm {

/// The plain element type of an MLIR type; DType::None where there is none
/// (index, si8, f64, ...).
::dgemm::DType toDType(Type type);

/// The MLIR type of a plain element type; null for DType::None.
Type toMLIRType(MLIRContext *context, ::dgemm::DType type);

/// A size in elements, with ShapedType::kDynamic and ::dgemm::kDynamic
/// exchanged for each other.
inline int64_t toPlainSize(int64_t size) {
  return ShapedType::isDynamic(size) ? ::dgemm::kDynamic : size;
}
inline int64_t toMLIRSize(int64_t size) {
  return size == ::dgemm::kDynamic ? ShapedType::kDynamic : size;
}

} // namespace mlir::dgemm

#endif // DGEMM_DIALECT_DGEMM_IR_ELEMENTTYPES_H
