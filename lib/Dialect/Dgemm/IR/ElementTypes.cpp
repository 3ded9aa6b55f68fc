// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types of MLIR and of the plain libraries, one table.

#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

using namespace mlir;
using PlainType = ::dgemm::DType;

PlainType mlir::dgemm::toDType(Type type) {
  if (isa<BFloat16Type>(type))
    return PlainType::BF16;
  if (isa<Float16Type>(type))
    return PlainType::F16;
  if (isa<Float32Type>(type))
    return PlainType::F32;
  if (isa<Float8E4M3FNType>(type))
    return PlainType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return PlainType::F8E5M2;
  if (isa<Float8E8M0FNUType>(type))
    return PlainType::F8E8M0FNU;
  if (type.isSignlessInteger(8))
    return PlainType::I8;
  if (type.isSignlessInteger(32))
    return PlainType::I32;
  return PlainType::None;
}

Type mlir::dgemm::toMLIRType(MLIRContext *context, PlainType type) {
  switch (type) {
  case PlainType::None:
    return {};
  case PlainType::BF16:
    return BFloat16Type::get(context);
  case PlainType::F16:
    return Float16Type::get(context);
  case PlainType::F32:
    return Float32Type::get(context);
  case PlainType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case PlainType::F8E5M2:
    return Float8E5M2Type::get(context);
  case PlainType::F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case PlainType::I8:
    return IntegerType::get(context, 8);
  case PlainType::I32:
    return IntegerType::get(context, 32);
  }
  return {};
}
