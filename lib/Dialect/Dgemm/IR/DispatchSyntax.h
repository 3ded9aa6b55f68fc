// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows over M, `[M upto 64 : x, M upto 256 : y, _ : z]`, as #dgemm.dispatch and
// dgemm.launch both have them. A sign for "at most" cannot stand in the text of
// an attribute, whose angle brackets have to balance.

#ifndef DGEMM_LIB_DIALECT_DGEMM_IR_DISPATCHSYNTAX_H
#define DGEMM_LIB_DIALECT_DGEMM_IR_DISPATCHSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::dgemm {

/// Reads the rows with their square brackets; `parseRow` reads what stands
/// after the colon. `bounds` gets one bound per row but the last, which is `_`.
inline ParseResult parseDispatchRows(AsmParser &parser,
                                     SmallVectorImpl<int64_t> &bounds,
                                     function_ref<ParseResult()> parseRow) {
  bool closed = false;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (closed)
      return parser.emitError(loc, "dispatch: no row may follow '_'");
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    if (word == "_") {
      closed = true;
    } else if (word == "M") {
      int64_t bound = 0;
      if (parser.parseKeyword("upto") || parser.parseInteger(bound))
        return failure();
      bounds.push_back(bound);
    } else {
      return parser.emitError(loc, "dispatch: expected 'M upto bound' or '_', "
                                   "found '")
             << word << "'";
    }
    return failure(parser.parseColon() || parseRow());
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (!closed)
    return parser.emitError(loc, "dispatch: expected a last row '_', which "
                                 "takes every other M");
  return success();
}

inline void printDispatchRows(AsmPrinter &printer, ArrayRef<int64_t> bounds,
                              size_t numRows,
                              function_ref<void(size_t)> printRow) {
  printer << '[';
  for (size_t row = 0; row < numRows; ++row) {
    if (row != 0)
      printer << ", ";
    if (row < bounds.size())
      printer << "M upto " << bounds[row] << " : ";
    else
      printer << "_ : ";
    printRow(row);
  }
  printer << ']';
}

/// Bounds are positive, rise strictly, and are one fewer than the rows.
inline LogicalResult
verifyDispatchBounds(function_ref<InFlightDiagnostic()> emitError,
                     ArrayRef<int64_t> bounds, size_t numRows) {
  if (bounds.size() + 1 != numRows)
    return emitError() << "dispatch: expected one bound for each row but the "
                          "last, found "
                       << bounds.size() << " bounds and " << numRows << " rows";
  int64_t previous = 0;
  for (int64_t bound : bounds) {
    if (bound <= previous)
      return emitError() << "dispatch: expected bounds on M that are positive "
                            "and rise strictly, found "
                         << bound << " after " << previous;
    previous = bound;
  }
  return success();
}

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_IR_DISPATCHSYNTAX_H
