// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which operand bytes each wave of tiles reads from DRAM, given the order in
// which tiles are walked and an L2 cache that keeps what was used last.

#ifndef DGEMM_LIB_COSTMODEL_RASTERWALK_H
#define DGEMM_LIB_COSTMODEL_RASTERWALK_H

#include <compare>
#include <cstdint>
#include <vector>

namespace dgemm {

/// One walk over the tiles of D.
struct RasterWalk {
  int64_t tilesM = 1, tilesN = 1;
  /// CTAs per wave.
  int64_t grid = 1;
  /// Tiles of the walked dimension per group.
  int64_t group = 1;
  bool alongM = true;
  /// Bytes of A under one row of tiles, and of B under one column.
  double panelA = 0, panelB = 0;
  double cacheBytes = 0;

  auto operator<=>(const RasterWalk &) const = default;
};

/// Some waves of a walk that stand for all of them.
struct WaveMisses {
  double bytes = 0;
  /// How many waves have these misses.
  double count = 1;
};

/// Waves walked one by one: patterns repeat after a few groups, and a walk of
/// this length takes some ten microseconds.
inline constexpr int64_t kWalkedWaves = 64;

/// Misses wave by wave; beyond kWalkedWaves the later ones are represented by
/// the mean of the last half of those walked, so that the time this takes is
/// bounded.
std::vector<WaveMisses> walkTiles(const RasterWalk &walk);

/// A bound from below for what is convex in the misses of a wave, without the
/// walk: each panel is read at least once, each wave reads at least what no
/// cache of this size can have kept for it, and all waves that count alike read
/// the mean.
std::vector<WaveMisses> leastMisses(const RasterWalk &walk);

} // namespace dgemm

#endif // DGEMM_LIB_COSTMODEL_RASTERWALK_H
