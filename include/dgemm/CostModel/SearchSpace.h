// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedules worth considering for a problem: lazily enumerated, every one
// legal. What is switched on decides how wide the space is; the selector uses
// what compiles today, the tuner may ask for more.

#ifndef DGEMM_COSTMODEL_SEARCHSPACE_H
#define DGEMM_COSTMODEL_SEARCHSPACE_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"

#include <functional>

namespace dgemm {

/// Which kinds of schedule the space holds.
struct SearchOptions {
  bool pingPong = true;        ///< two tiles in turn (16-bit operands)
  bool threeConsumers = false; ///< 192-row tiles
  /// 256-row tiles of more than 128 columns, whose speed nobody has measured.
  bool untriedTiles = false;
  bool clusters = false; ///< 2x1 with B multicast, 1x2 with A multicast
  bool splitK = true;    ///< through clusters, few tiles, M <= 128
  /// Stream-K, M > 128; not by default as long as nobody has measured it.
  bool streamK = false;
  bool swapAB = true;         ///< M <= 128
  bool registerForm = true;   ///< M <= 8 and no more than one tile for an SM
  bool severalKBlocks = true; ///< 2 and 4 K blocks per stage (M <= 128)
  bool severalCtas = true;    ///< 2 to 4 CTAs per SM (M <= 128)
  /// Rows of D may end inside a 16-byte granule, so that the kernel also has
  /// the checked store, which takes more registers. Set by the selector.
  bool raggedColumns = false;
  /// Every legal stage count, not only the one or two deepest pipelines, and
  /// every split of K up to 8.
  bool allStages = false;
  /// Several raster groups, not only the one of the rule.
  bool allRasterGroups = false;
};

/// Raster group by the measured rule: about 2048 rows of D, 1024 for tiles up
/// to 176 wide with K of at least 4096, all of M for K up to 1536; never more
/// than the tiles there are, and even for clusters along M.
int rasterGroup(const Problem &problem, const Schedule &schedule);

/// setmaxnreg values for a schedule whose other fields are set: none for one
/// consumer warpgroup, else the split that gives consumers what they need.
void setRegisters(const Problem &problem, Schedule &schedule);

/// Registers a consumer should have beside accumulators and partial sums so
/// that a compiled kernel does not spill (more than verifySchedule demands).
inline constexpr int kRegisterMargin = 32;

/// Calls `visit` for every schedule until it returns false. Schedules that
/// break a rule are handed to `illegal` (may be empty) with their violations;
/// one stands for all that have the same fault for the same reason.
/// Problem sizes must be concrete.
void enumerateSchedules(
    const Problem &problem, const DeviceModel &device,
    const SearchOptions &options,
    const std::function<bool(const Schedule &)> &visit,
    const std::function<void(const Schedule &,
                             const std::vector<ScheduleViolation> &)> &illegal);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_SEARCHSPACE_H
