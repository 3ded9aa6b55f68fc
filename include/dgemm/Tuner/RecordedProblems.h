// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program wrote to the file $DGEMM_RECORD.

#ifndef DGEMM_TUNER_RECORDEDPROBLEMS_H
#define DGEMM_TUNER_RECORDEDPROBLEMS_H

#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm::tuner {

/// The problems, as --gemm spells them, each once, in the order they first
/// occur. A last line without an end, which a killed program leaves, is
/// ignored. Errors name the line.
Result<std::vector<std::string>> parseRecorded(const std::string &text);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_RECORDEDPROBLEMS_H
