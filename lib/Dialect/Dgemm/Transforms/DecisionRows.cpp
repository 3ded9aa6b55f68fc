// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Between the attributes of an op and rows over M.

#include "DecisionRows.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::dgemm;

bool mlir::dgemm::isUndecided(ScheduledOpInterface op) {
  Attribute decision = op.getScheduleAttr();
  if (auto table = dyn_cast_if_present<DispatchAttr>(decision))
    return table.hasUndecidedRows();
  return !decision;
}

SmallVector<DecisionRow> mlir::dgemm::readDecision(ScheduledOpInterface op) {
  Attribute decision = op.getScheduleAttr();
  if (!decision)
    return {DecisionRow()};
  StringAttr source = op.getSourceAttr();
  if (!source)
    source = StringAttr::get(op->getContext(), "user");
  if (auto schedule = dyn_cast<ScheduleAttr>(decision))
    return {{-1, schedule, source}};
  auto table = cast<DispatchAttr>(decision);
  SmallVector<DecisionRow> rows;
  for (auto [row, schedule] : llvm::enumerate(table.getSchedules())) {
    StringAttr own = table.getRowSource(row);
    rows.push_back(
        {table.getMaxM(row), schedule, schedule && !own ? source : own});
  }
  return rows;
}

void mlir::dgemm::writeDecision(ScheduledOpInterface op,
                                ArrayRef<DecisionRow> rows) {
  SmallVector<DecisionRow> joined;
  for (const DecisionRow &row : rows) {
    // The range of the row before, whose end goes away.
    if (!joined.empty() && joined.back().schedule == row.schedule &&
        joined.back().source == row.source)
      joined.pop_back();
    joined.push_back(row);
  }
  StringAttr first = joined.front().source;
  if (joined.size() == 1) {
    if (!joined.front().schedule)
      return;
    op.setScheduleAttr(joined.front().schedule);
    op.setSourceAttr(first);
    return;
  }
  bool oneSource = llvm::all_of(
      joined, [&](const DecisionRow &row) { return row.source == first; });
  SmallVector<int64_t> bounds;
  SmallVector<ScheduleAttr> schedules;
  SmallVector<StringAttr> sources;
  for (const DecisionRow &row : joined) {
    if (row.maxM >= 0)
      bounds.push_back(row.maxM);
    schedules.push_back(row.schedule);
    sources.push_back(oneSource ? StringAttr() : row.source);
  }
  op.setScheduleAttr(
      DispatchAttr::get(op->getContext(), bounds, schedules, sources));
  op.setSourceAttr(oneSource ? first : StringAttr());
}

std::string mlir::dgemm::rowPrefix(int64_t maxM, size_t numRows) {
  if (numRows == 1)
    return "";
  return maxM < 0 ? "other M: " : "M <= " + std::to_string(maxM) + ": ";
}

remark::RemarkOpts mlir::dgemm::scheduleRemark(Operation *op, StringRef name) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(name)
      .category("dgemm-schedule")
      .function(function ? function.getName() : StringRef());
}
