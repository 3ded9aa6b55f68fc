// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes of the problem and schedule levels (L0, L1).

#ifndef DGEMM_DIALECT_DGEMM_TRANSFORMS_PASSES_H
#define DGEMM_DIALECT_DGEMM_TRANSFORMS_PASSES_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace dgemm {
class TuningDatabase;
} // namespace dgemm

namespace mlir::dgemm {

#define GEN_PASS_DECL
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h.inc"

/// The pass with a database that has been opened already (null: the option
/// `db` names it).
std::unique_ptr<Pass> createDgemmApplyTuningPass(
    const DgemmApplyTuningPassOptions &options,
    std::shared_ptr<const ::dgemm::TuningDatabase> database);

#define GEN_PASS_REGISTRATION
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h.inc"

} // namespace mlir::dgemm

#endif // DGEMM_DIALECT_DGEMM_TRANSFORMS_PASSES_H
