// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The decision that an op carries as rows over M, which is how passes that
// decide fill in what is left open. One schedule is one row; no decision is one
// undecided row.

#ifndef DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_DECISIONROWS_H
#define DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_DECISIONROWS_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Remarks.h"

#include <string>

namespace mlir::dgemm {

struct DecisionRow {
  int64_t maxM = -1;     ///< end of the range; -1: every other M
  ScheduleAttr schedule; ///< null: undecided
  StringAttr source;     ///< who chose it; null for an undecided row
};

/// Whether there is something left to decide.
bool isUndecided(ScheduledOpInterface op);

/// Rows in rising order; a schedule that names nobody is the user's.
SmallVector<DecisionRow> readDecision(ScheduledOpInterface op);

/// Makes rows the op's decision: equal neighbours become one, one row becomes a
/// schedule, and a table with one chooser has it as the op's source. Without a
/// decided row the op stays as it is.
void writeDecision(ScheduledOpInterface op, ArrayRef<DecisionRow> rows);

/// "M <= 64: " for a row of a table, nothing for the only one.
std::string rowPrefix(int64_t maxM, size_t numRows);

/// Options of a remark about the choice for an op.
remark::RemarkOpts scheduleRemark(Operation *op, StringRef name);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_DECISIONROWS_H
