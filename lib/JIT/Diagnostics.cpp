// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics as text.

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dgemm::jit {

/// The innermost file position of a location; fused and call-site locations
/// give their first.
static FileLineColLoc findPosition(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    if (auto position = dyn_cast<FileLineColLoc>(part)) {
      found = position;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

std::string describeLocation(Location location) {
  FileLineColLoc position = findPosition(location);
  if (!position)
    return {};
  std::string name = position.getFilename().str();
  // A module as a whole stands at line 0, which no editor can go to.
  if (position.getLine() == 0)
    return name;
  return name + ":" + std::to_string(position.getLine()) + ":" +
         std::to_string(position.getColumn());
}

static const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

static void print(llvm::raw_ostream &stream, const Diagnostic &diagnostic,
                  bool leading) {
  if (leading)
    stream << '\n';
  if (std::string place = describeLocation(diagnostic.getLocation());
      !place.empty())
    stream << place << ": ";
  stream << severityName(diagnostic.getSeverity()) << ": " << diagnostic;
}

namespace {
/// One line per optimisation remark: what kind, its texts, then its figures.
class RemarkLines final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkLines(std::string &lines) : lines(lines) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    llvm::raw_string_ostream stream(lines);
    stream << (lines.empty() ? "" : "\n") << kindName(remark);
    const char *separator = ": ";
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      bool prose =
          arg.key == "Remark" || arg.key == "Reason" || arg.key == "Suggestion";
      stream << separator << (prose ? "" : arg.key + " = ") << arg.val;
      separator = "; ";
    }
  }

private:
  static const char *kindName(const remark::detail::Remark &remark) {
    switch (remark.getRemarkType()) {
    case llvm::remarks::Type::Passed:
      return "chosen";
    case llvm::remarks::Type::Missed:
      return "missed";
    case llvm::remarks::Type::Failure:
      return "failed";
    default:
      return "analysis";
    }
  }

  std::string &lines;
};
} // namespace

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        bool error = diagnostic.getSeverity() == DiagnosticSeverity::Error;
        std::string &text = error ? errorText : remarkText;
        llvm::raw_string_ostream stream(text);
        print(stream, diagnostic, !text.empty());
        for (const Diagnostic &note : diagnostic.getNotes())
          print(stream, note, true);
        return success();
      }) {
  remark::RemarkCategories categories;
  // Each kind has to be named: `all` only widens those that are.
  for (auto *kind : {&categories.passed, &categories.missed,
                     &categories.analysis, &categories.failed})
    *kind = "dgemm.*";
  // Without the engine there are no remarks, and nothing else changes.
  (void)remark::enableOptimizationRemarks(
      *context, std::make_unique<RemarkLines>(remarkText),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

Status DiagnosticCollector::toStatus(const std::string &otherwise) const {
  return Status::error(errorText.empty() ? otherwise : errorText);
}

} // namespace dgemm::jit
