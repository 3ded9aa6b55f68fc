// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Plants one synchronisation or addressing fault in a kernel at the machine
// level. Test only: it measures what the emulator finds.

#ifndef DGEMM_TEST_UNIT_EMULATOR_MUTATIONS_H
#define DGEMM_TEST_UNIT_EMULATOR_MUTATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dgemm::test {

/// A place where one kind of fault can be planted.
struct Mutation {
  std::string kind;  ///< "drop-arrive", "flip-parity", ...
  std::string place; ///< the op and its number
};

/// All faults this module can take, in the order of its ops. Left out are edits
/// that are known to leave a right kernel: those of a CTA barrier right in
/// front of a cluster barrier and, where each CTA has `oneTile`, of the release
/// behind the loop over K, since nothing fills that slot again.
std::vector<Mutation> listMutations(mlir::ModuleOp l3, bool oneTile);

/// Plants fault `index` of listMutations; the module still verifies.
void applyMutation(mlir::ModuleOp l3, bool oneTile, size_t index);

} // namespace dgemm::test

#endif // DGEMM_TEST_UNIT_EMULATOR_MUTATIONS_H
