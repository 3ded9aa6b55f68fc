// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Text form and verifiers of the dialect's types.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::dgemm;

/// Parses "<64x88xf32" and leaves what follows.
static ParseResult parseShapeAndType(AsmParser &parser, int64_t &rows,
                                     int64_t &cols, Type &elementType) {
  SmallVector<int64_t, 2> dims;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(dims, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return failure();
  if (dims.size() != 2)
    return parser.emitError(loc, "expected rows x columns x type, found ")
           << dims.size() << " sizes";
  rows = dims[0];
  cols = dims[1];
  return success();
}

template <typename TypeT> static Type parseMatrixType(AsmParser &parser) {
  int64_t rows = 0, cols = 0;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parseShapeAndType(parser, rows, cols, elementType) ||
      parser.parseGreater())
    return {};
  return TypeT::getChecked([&] { return parser.emitError(loc); },
                           parser.getContext(), rows, cols, elementType);
}

static void printMatrixType(AsmPrinter &printer, int64_t rows, int64_t cols,
                            Type elementType) {
  printer << "<" << rows << "x" << cols << "x" << elementType << ">";
}

static LogicalResult verifyColumns(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t cols, Type elementType) {
  if (cols < 8 || cols % 8 != 0)
    return emitError() << "columns must be a positive multiple of 8, found "
                       << cols;
  if (!elementType.isF32())
    return emitError() << "accumulators are f32, found " << elementType;
  return success();
}

static LogicalResult
verifyAccumulator(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                  int64_t cols, Type elementType) {
  if (rows < 64 || rows % 64 != 0)
    return emitError() << "rows must be 16 or a positive multiple of 64, found "
                       << rows;
  return verifyColumns(emitError, cols, elementType);
}

Type FragmentType::parse(AsmParser &parser) {
  return parseMatrixType<FragmentType>(parser);
}
void FragmentType::print(AsmPrinter &printer) const {
  printMatrixType(printer, getRows(), getCols(), getElementType());
}
LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t cols,
                                   Type elementType) {
  if (rows == 16)
    return verifyColumns(emitError, cols, elementType);
  return verifyAccumulator(emitError, rows, cols, elementType);
}

Type InflightType::parse(AsmParser &parser) {
  return parseMatrixType<InflightType>(parser);
}
void InflightType::print(AsmPrinter &printer) const {
  printMatrixType(printer, getRows(), getCols(), getElementType());
}
LogicalResult InflightType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t cols,
                                   Type elementType) {
  if (rows != 64)
    return emitError() << "a WGMMA has 64 rows, found " << rows;
  if (cols > 256)
    return emitError() << "a WGMMA has at most 256 columns, found " << cols;
  return verifyAccumulator(emitError, rows, cols, elementType);
}

Type StripType::parse(AsmParser &parser) {
  return parseMatrixType<StripType>(parser);
}
void StripType::print(AsmPrinter &printer) const {
  printMatrixType(printer, getRows(), getCols(), getElementType());
}
LogicalResult StripType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t rows, int64_t cols, Type elementType) {
  if (rows < 8 || rows % 8 != 0)
    return emitError() << "rows must be a positive multiple of 8, found "
                       << rows;
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(elementType) &&
      !elementType.isBF16() && !elementType.isF16())
    return emitError() << "strip elements must be bf16, f16, f8E4M3FN or "
                       << "f8E5M2, found " << elementType;
  int64_t bytes = cols * elementType.getIntOrFloatBitWidth() / 8;
  if (bytes < 64 || bytes % 64 != 0)
    return emitError() << "columns must be a positive multiple of 64 bytes, "
                       << "found " << bytes << " bytes";
  return success();
}
int64_t StripType::getPieces() const {
  return getCols() * getElementType().getIntOrFloatBitWidth() / 8 / 64;
}

Type TileType::parse(AsmParser &parser) {
  int64_t rows = 0, cols = 0, swizzle = 0;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parseShapeAndType(parser, rows, cols, elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("swizzle") || parser.parseEqual() ||
       parser.parseInteger(swizzle)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    rows, cols, elementType, swizzle);
}
void TileType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType();
  if (getSwizzle() != 0)
    printer << ", swizzle = " << getSwizzle();
  printer << ">";
}
LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t cols, Type elementType,
                               int64_t swizzle) {
  if (rows < 1 || cols < 1)
    return emitError() << "tile sizes must be positive, found " << rows << "x"
                       << cols;
  if (!elementType.isIntOrFloat())
    return emitError() << "tile elements must be integers or floats, found "
                       << elementType;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle must be 0, 32, 64 or 128 bytes, found "
                       << swizzle;
  return success();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, ArrayRef<Type> members) {
  if (slots < 2)
    return emitError() << "a ring needs at least 2 slots, found " << slots;
  if (members.size() < 2)
    return emitError() << "a ring holds at least the tiles of A and B, found "
                       << members.size() << " members";
  for (Type member : members)
    if (!isa<TileType>(member))
      return emitError() << "ring members must be tiles, found " << member;
  return success();
}

#define GET_TYPEDEF_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmTypes.cpp.inc"

void DgemmDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dgemm/Dialect/Dgemm/IR/DgemmTypes.cpp.inc"
      >();
}
