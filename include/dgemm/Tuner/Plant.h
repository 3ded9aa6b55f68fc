// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults planted on purpose into a candidate, to see that tuning survives them:
// for tests alone.

#ifndef DGEMM_TUNER_PLANT_H
#define DGEMM_TUNER_PLANT_H

#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <map>
#include <string>

namespace dgemm::tuner {

enum class Plant {
  None,
  Slow,         ///< right numbers, far too late
  Wrong,        ///< wrong numbers
  Hang,         ///< never ends
  Fault,        ///< the device reports an error
  CompileError, ///< no kernel is made
  Spill         ///< the assembler's warnings say that registers are spilled
};
const char *toString(Plant plant);
Result<Plant> parsePlant(const std::string &text);

/// "hang@1,wrong@4": which fault the n-th candidate of every problem gets, the
/// model's own choice being number 0.
Result<std::map<int, Plant>> parsePlants(const std::string &text);

/// Puts the fault into a kernel: PTX that loops, traps or idles at its start,
/// launch metadata that loads B without the swizzle the kernel reads it with.
void plantInto(Plant plant, std::string &ptx, LaunchMetadata &metadata);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_PLANT_H
