// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface between a kernel and its launcher, worked out from problem and
// schedule alone: parameters, tensor maps, grid. The compiler takes the block
// arguments of dgemm.kernel from it and writes it out as launch metadata, so
// the two cannot disagree.

#ifndef DGEMM_RUNTIME_KERNELINTERFACE_H
#define DGEMM_RUNTIME_KERNELINTERFACE_H

#include "dgemm/Runtime/LaunchMetadata.h"

namespace dgemm {

/// How the scales of A reach the consumers.
enum class RowScalePath {
  None,   ///< A has no scales, or they wait for the epilogue
  Ring,   ///< M-major: TMA copies a column of them into each ring slot
  Global, ///< K-major: each thread reads its two rows from global memory
};
RowScalePath rowScalePath(const Problem &problem, const Schedule &schedule);

/// True when the last column tile may end inside a 16-byte granule of D, where
/// a TMA store could touch bytes beyond D: N is dynamic or N * sizeof(D) is
/// not a multiple of 16.
bool mayHaveRaggedColumns(const Problem &problem);

/// Whether the last tile along the rows of `operand` (A or B) may have fewer
/// rows than the tile, and is then copied through a tensor map of its own whose
/// box is those rows: TMA takes several cycles for a row that lies outside.
/// Copies that CTAs share, and those that `load_rows` shortens, keep one map.
bool copiesLastRows(const Problem &problem, const Schedule &schedule,
                    Operand operand);

/// Counters at the start of the workspace of a kernel that splits K through it:
/// one of 32 bits for each place and consumer warpgroup. Behind them lie the
/// places, each with one part of a tile's sum; those of a tile are neighbours,
/// and the counter of the first counts them.
inline constexpr int64_t kWorkspaceCounters = 16384;
/// Bytes that one warpgroup's part of a tile takes there: 128 threads side by
/// side, four values of each after another.
int64_t workspacePartBytes(const Schedule &schedule);

/// Everything of the metadata of one kernel that follows from problem and
/// schedule.
KernelMetadata describeKernel(const std::string &entry, const Problem &problem,
                              const Schedule &schedule,
                              const std::string &source);

} // namespace dgemm

#endif // DGEMM_RUNTIME_KERNELINTERFACE_H
