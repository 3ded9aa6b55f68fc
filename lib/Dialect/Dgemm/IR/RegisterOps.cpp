// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Verifiers of the ops of the register form (L2).

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

using namespace mlir;
using namespace mlir::dgemm;

LogicalResult StripMmaOp::verify() {
  StripType a = getA().getType(), b = getB().getType();
  FragmentType result = getResult().getType();
  if (a.getRows() != 16)
    return emitOpError() << "A must have 16 rows, found " << a.getRows();
  if (a.getCols() != b.getCols())
    return emitOpError() << "A and B must agree in K, found " << a.getCols()
                         << " and " << b.getCols();
  // Only the two 8-bit types may be mixed.
  auto isFp8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (a.getElementType() != b.getElementType() &&
      !(isFp8(a.getElementType()) && isFp8(b.getElementType())))
    return emitOpError() << "element types do not go together: "
                         << a.getElementType() << " and " << b.getElementType();
  if (result.getRows() != 16 || result.getCols() != b.getRows())
    return emitOpError() << "expected a 16x" << b.getRows() << " result, found "
                         << result;
  return success();
}

LogicalResult WarpReduceOp::verify() {
  if (getValues().getTypes() != getSums().getTypes())
    return emitOpError("results must have the operands' types");
  for (Value value : getValues())
    if (auto fragment = cast<FragmentType>(value.getType());
        fragment.getRows() != 16)
      return emitOpError() << "expected fragments of 16 rows, found "
                           << fragment;
  if (getWarps() < 1 || getWarps() > 32)
    return emitOpError() << "expected 1 to 32 warps, found " << getWarps();
  return success();
}
