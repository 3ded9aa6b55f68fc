// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The log of problems that a program compiled, which the tuner reads.

#ifndef DGEMM_LIB_JIT_PROBLEMLOG_H
#define DGEMM_LIB_JIT_PROBLEMLOG_H

#include "dgemm/CostModel/Problem.h"

namespace dgemm::jit {

/// Adds the line {"gemm": "m=..,.."} to the file $DGEMM_RECORD, if that is set;
/// any number of processes may do so at once. A file that cannot be written is
/// ignored: the program is there for something else.
void recordProblem(const Problem &problem);

} // namespace dgemm::jit

#endif // DGEMM_LIB_JIT_PROBLEMLOG_H
