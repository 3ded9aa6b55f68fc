// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns what MLIR reports into text, so that nothing is printed.

#ifndef DGEMM_LIB_JIT_DIAGNOSTICS_H
#define DGEMM_LIB_JIT_DIAGNOSTICS_H

#include "dgemm/Support/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace dgemm::jit {

/// "file:line:column" of a location, or "file" alone; empty when it names no
/// file.
std::string describeLocation(mlir::Location location);

/// Collects every diagnostic of a context for as long as it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// The errors with their notes, "file:line:column: error: text" each on its
  /// own line, or `otherwise` when a pass failed without a word.
  Status toStatus(const std::string &otherwise) const;
  /// Warnings, and the remarks of passes about their decisions, one a line.
  const std::string &remarks() const { return remarkText; }

private:
  std::string errorText, remarkText;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace dgemm::jit

#endif // DGEMM_LIB_JIT_DIAGNOSTICS_H
