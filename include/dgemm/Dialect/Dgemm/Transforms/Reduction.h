// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What dgemm-reduce may leave out of a dgemm op. Apart from the dialect, so
// that compilers that never reduce do not link MLIR's reducer.

#ifndef DGEMM_DIALECT_DGEMM_TRANSFORMS_REDUCTION_H
#define DGEMM_DIALECT_DGEMM_TRANSFORMS_REDUCTION_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::dgemm {

/// Adds the reduction patterns to the dgemm dialect when it is loaded.
void registerReductionPatterns(DialectRegistry &registry);

} // namespace mlir::dgemm

#endif // DGEMM_DIALECT_DGEMM_TRANSFORMS_REDUCTION_H
