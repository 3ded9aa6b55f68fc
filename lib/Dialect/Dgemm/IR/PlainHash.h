// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Hashes of the plain structs that attributes wrap, found by argument-dependent
// lookup. They go by the canonical text, so that a field added to a struct
// cannot be forgotten here.

#ifndef DGEMM_LIB_DIALECT_DGEMM_IR_PLAINHASH_H
#define DGEMM_LIB_DIALECT_DGEMM_IR_PLAINHASH_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

namespace dgemm {

inline llvm::hash_code hash_value(const Schedule &schedule) {
  return llvm::hash_value(llvm::StringRef(toString(schedule)));
}

inline llvm::hash_code hash_value(const Problem &problem) {
  return llvm::hash_value(llvm::StringRef(toString(problem)));
}

inline llvm::hash_code hash_value(const ScaleSpec &scale) {
  return llvm::hash_combine(scale.type, scale.rows, scale.cols, scale.major);
}

} // namespace dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_IR_PLAINHASH_H
