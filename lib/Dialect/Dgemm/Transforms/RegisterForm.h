// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What create-kernel builds for schedules in register form.

#ifndef DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REGISTERFORM_H
#define DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REGISTERFORM_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

namespace mlir::dgemm {

/// Fills the body of a kernel in register form: strips, their products and
/// promotions, the sums over warps and cluster, and the tile's store.
void buildRegisterBody(KernelOp kernel);

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_REGISTERFORM_H
