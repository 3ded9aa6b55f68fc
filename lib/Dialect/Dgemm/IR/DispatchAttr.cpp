// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// #dgemm.dispatch: text form and rules of a table of schedules over M.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "DispatchSyntax.h"

using namespace mlir;
using namespace mlir::dgemm;

Attribute DispatchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> bounds;
  SmallVector<ScheduleAttr> schedules;
  SmallVector<StringAttr> sources;
  auto parseRow = [&]() -> ParseResult {
    ScheduleAttr schedule;
    StringAttr source;
    if (failed(parser.parseOptionalKeyword("undecided"))) {
      if (parser.parseAttribute(schedule))
        return failure();
      if (succeeded(parser.parseOptionalKeyword("from")) &&
          parser.parseAttribute(source))
        return failure();
    }
    schedules.push_back(schedule);
    sources.push_back(source);
    return success();
  };
  if (parser.parseLess() || parseDispatchRows(parser, bounds, parseRow) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(bounds),
                    ArrayRef<ScheduleAttr>(schedules),
                    ArrayRef<StringAttr>(sources));
}

void DispatchAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDispatchRows(printer, getBounds(), getNumRows(), [&](size_t row) {
    if (!getSchedules()[row]) {
      printer << "undecided";
      return;
    }
    printer << getSchedules()[row];
    if (StringAttr source = getRowSource(row))
      printer << " from " << source;
  });
  printer << '>';
}

LogicalResult DispatchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> bounds,
                                   ArrayRef<ScheduleAttr> schedules,
                                   ArrayRef<StringAttr> sources) {
  if (failed(verifyDispatchBounds(emitError, bounds, schedules.size())))
    return failure();
  if (sources.size() != schedules.size())
    return emitError() << "dispatch: expected one source per row, found "
                       << sources.size() << " for " << schedules.size()
                       << " rows";
  if (llvm::none_of(schedules, [](ScheduleAttr row) { return bool(row); }))
    return emitError() << "dispatch: expected at least one row with a "
                          "schedule, found only undecided ones";
  for (auto [schedule, source] : llvm::zip_equal(schedules, sources)) {
    if (!schedule && source)
      return emitError() << "dispatch: a row without a schedule was chosen by "
                            "nobody, found "
                         << source;
    if (source) {
      auto known = ::dgemm::parseScheduleSource(source.getValue().str());
      if (!known)
        return emitError() << "dispatch: " << known.message();
    }
  }
  return success();
}
