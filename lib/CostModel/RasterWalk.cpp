// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk itself: plain counters over groups of tiles, and a cache of panels
// in the order of their last use.

#include "RasterWalk.h"

#include <algorithm>

namespace dgemm {

namespace {
/// Panels in the order of their last use.
class PanelCache {
public:
  PanelCache(int64_t panelsA, int64_t panelsB, const RasterWalk &walk)
      : lastUse{std::vector<int32_t>(panelsA, 0),
                std::vector<int32_t>(panelsB, 0)},
        bytes{walk.panelA, walk.panelB}, capacity(walk.cacheBytes) {}

  /// Uses panel `index` of A (operand 0) or B (1); returns the bytes read from
  /// DRAM.
  double use(int operand, int64_t index) {
    int32_t &last = lastUse[operand][index];
    bool miss = last == 0;
    last = ++clock;
    uses.push_back({operand, static_cast<int32_t>(index), clock});
    if (!miss)
      return 0;
    held += bytes[operand];
    return bytes[operand];
  }

  /// Drops what was used longest ago. Done between waves only: the CTAs of a
  /// wave walk K together, so that within a wave every panel is read once
  /// however large it is.
  void trim() {
    for (; held > capacity && oldest < uses.size(); ++oldest) {
      const Use &use = uses[oldest];
      int32_t &last = lastUse[use.operand][use.index];
      if (last != use.time)
        continue; // used again since
      last = 0;
      held -= bytes[use.operand];
    }
  }

private:
  struct Use {
    int32_t operand, index, time;
  };
  std::vector<int32_t> lastUse[2]; ///< 0: not in the cache
  double bytes[2], capacity, held = 0;
  std::vector<Use> uses;
  size_t oldest = 0;
  int32_t clock = 0;
};
} // namespace

std::vector<WaveMisses> walkTiles(const RasterWalk &walk) {
  int64_t inner = walk.alongM ? walk.tilesM : walk.tilesN;
  int64_t outer = walk.alongM ? walk.tilesN : walk.tilesM;
  int64_t group = std::clamp<int64_t>(walk.group, 1, inner);
  int64_t waves = (inner * outer + walk.grid - 1) / walk.grid;
  int64_t walked = std::min(waves, kWalkedWaves);

  // No more panels than tiles are touched, however many there are.
  int64_t touched = walked * walk.grid + 1;
  int64_t first = 0, width = group, i = 0, o = 0;
  int64_t innerSize = std::min(inner, 2 * touched);
  int64_t outerSize = std::min(outer, 2 * touched);
  PanelCache cache(walk.alongM ? innerSize : outerSize,
                   walk.alongM ? outerSize : innerSize, walk);
  int innerOperand = walk.alongM ? 0 : 1;
  std::vector<WaveMisses> out;
  out.reserve(walked + 1);
  for (int64_t wave = 0; wave < walked; ++wave) {
    double misses = 0;
    for (int64_t cta = 0; cta < walk.grid && first < inner; ++cta) {
      misses += cache.use(innerOperand, first + i);
      misses += cache.use(1 - innerOperand, o);
      if (++i < width)
        continue;
      i = 0;
      if (++o < outer)
        continue;
      o = 0;
      first += group;
      width = std::min(group, inner - first);
    }
    cache.trim();
    out.push_back({misses, 1});
  }
  if (walked == waves)
    return out;
  double sum = 0;
  for (int64_t wave = walked / 2; wave < walked; ++wave)
    sum += out[wave].bytes;
  out.push_back({sum / (walked - walked / 2), double(waves - walked)});
  return out;
}

} // namespace dgemm
