// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that lowered kernels call, by name.

#ifndef DGEMM_EMULATOR_ENTRYPOINTS_H
#define DGEMM_EMULATOR_ENTRYPOINTS_H

#include <cstdint>
#include <vector>

namespace dgemm::emu {

struct EntryPoint {
  const char *name;
  void *address;
};
const std::vector<EntryPoint> &entryPoints();

/// Special registers, the first argument of emu_sreg.
enum class SpecialRegister : int32_t {
  TidX,
  TidY,
  TidZ,
  NTidX,
  NTidY,
  NTidZ,
  CtaIdX,
  CtaIdY,
  CtaIdZ,
  NCtaIdX,
  NCtaIdY,
  NCtaIdZ,
  LaneId,
  WarpId,
  WarpSize,
  ClusterIdX,
  NClusterIdX,
  ClusterCtaRank,
  ClusterNCtaRank,
  ClusterCtaIdX,
  ClusterCtaIdYZ,
  ClusterNCtaIdX,
  ClusterNCtaIdYZ,
  SmId
};

/// Kinds of shuffle, as NVVM numbers them.
enum class ShuffleKind : int32_t { Butterfly, Up, Down, Index };

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_ENTRYPOINTS_H
