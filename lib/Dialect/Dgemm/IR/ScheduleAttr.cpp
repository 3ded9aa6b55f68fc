// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// #dgemm.schedule. The grammar of a schedule is the cost model's, in one place
// for command lines, tuning records and IR; here the attribute's text is only
// cut out of the source and handed over.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::dgemm;

/// Steps over one token of a schedule; false at the closing bracket or at
/// anything that no schedule holds.
static bool skipToken(AsmParser &parser) {
  StringRef word;
  APInt number;
  if (succeeded(parser.parseOptionalKeyword(&word)) ||
      succeeded(parser.parseOptionalEqual()) ||
      succeeded(parser.parseOptionalComma()) ||
      succeeded(parser.parseOptionalLSquare()) ||
      succeeded(parser.parseOptionalRSquare()))
    return true;
  OptionalParseResult integer = parser.parseOptionalInteger(number);
  return integer.has_value() && succeeded(*integer);
}

/// Comments and line breaks are the IR's business, not the grammar's.
static std::string flatten(StringRef text) {
  std::string flat;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    flat += line.take_front(line.find("//"));
    flat += ' ';
    text = rest;
  }
  return StringRef(flat).trim().str();
}

/// "; did you mean 'stages'?" when the text begins a clause with a word that is
/// nearly the name of one.
static std::string nearestName(StringRef text) {
  static constexpr StringRef names[] = {
      "tile",     "consumers", "n_blocks", "stages",     "kblocks_per_stage",
      "swizzle",  "cluster",   "promote",  "regs",       "raster",
      "split_k",  "form",      "store",    "persistent", "ctas_per_sm",
      "stream_b", "load_rows"};
  SmallVector<StringRef> clauses;
  text.split(clauses, ',');
  for (StringRef clause : clauses) {
    // Only what stands before an equals sign is a name; the commas inside
    // brackets separate numbers.
    if (!clause.contains('='))
      continue;
    StringRef name = clause.split('=').first.trim();
    if (llvm::is_contained(names, name))
      continue;
    const StringRef *best = std::min_element(
        std::begin(names), std::end(names),
        [&](StringRef left, StringRef right) {
          return name.edit_distance(left) < name.edit_distance(right);
        });
    return (" (unknown field '" + name + "'; the nearest known one is '" +
            *best + "')")
        .str();
  }
  return "";
}

ScheduleAttr
ScheduleAttr::parseText(MLIRContext *context, StringRef text,
                        function_ref<InFlightDiagnostic()> emitError) {
  std::string flat = flatten(text);
  ::dgemm::Result<::dgemm::Schedule> schedule = ::dgemm::parseSchedule(flat);
  if (!schedule) {
    emitError() << "invalid schedule: " << schedule.message()
                << nearestName(flat);
    return {};
  }
  return getChecked(emitError, context, *schedule);
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc begin = parser.getCurrentLocation();
  while (skipToken(parser))
    continue;
  SMLoc end = parser.getCurrentLocation();
  if (parser.parseGreater())
    return {};
  StringRef text(begin.getPointer(), end.getPointer() - begin.getPointer());
  return parseText(parser.getContext(), text,
                   [&] { return parser.emitError(begin); });
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << '<' << ::dgemm::toString(getValue()) << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ::dgemm::Schedule value) {
  // The chip is not known here; the widest limits are those of the only
  // architecture there is.
  std::vector<::dgemm::ScheduleViolation> violations =
      ::dgemm::verifyScheduleAlone(value, ::dgemm::TargetLimits());
  for (const ::dgemm::ScheduleViolation &violation : violations) {
    InFlightDiagnostic error = emitError();
    error << "illegal schedule: " << violation.message;
    if (!violation.hint.empty())
      error.attachNote() << violation.hint;
  }
  return success(violations.empty());
}
