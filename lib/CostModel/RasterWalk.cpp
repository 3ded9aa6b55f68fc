// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk itself: plain counters over groups of tiles, and a cache of panels
// in the order of their last use.

#include "RasterWalk.h"

#include <algorithm>
#include <cmath>

namespace dgemm {

namespace {
/// The walk without A and B: `inner` runs fastest, within a group.
struct Order {
  explicit Order(const RasterWalk &walk)
      : inner(walk.alongM ? walk.tilesM : walk.tilesN),
        outer(walk.alongM ? walk.tilesN : walk.tilesM),
        innerBytes(walk.alongM ? walk.panelA : walk.panelB),
        outerBytes(walk.alongM ? walk.panelB : walk.panelA), grid(walk.grid),
        group(std::clamp<int64_t>(walk.group, 1, inner)),
        waves((inner * outer + grid - 1) / grid),
        walked(std::min(waves, kWalkedWaves)) {}

  int64_t inner, outer;
  double innerBytes, outerBytes;
  int64_t grid, group;
  int64_t waves, walked;

  /// Panels of either kind that the first `tiles` tiles touch.
  std::pair<int64_t, int64_t> touched(int64_t tiles) const {
    if (tiles >= inner * outer)
      return {inner, outer};
    int64_t whole = tiles / (group * outer), rest = tiles % (group * outer);
    int64_t first = whole * group, width = std::min(group, inner - first);
    return {first + std::min(rest, width),
            whole > 0 ? outer : (rest + width - 1) / width};
  }
};

/// Panels that are in the cache, in the order of their last use.
class PanelCache {
public:
  PanelCache(const Order &order, double capacity)
      : bytes{order.innerBytes, order.outerBytes}, capacity(capacity) {
    auto [inner, outer] = order.touched(order.walked * order.grid);
    begins[1] = static_cast<int32_t>(inner);
    end = static_cast<int32_t>(inner + outer);
    links.resize(end + 1);
    links[end] = {end, end};
  }

  /// Panels [begin, end) of the inner (0) or outer (1) kind, in this order;
  /// returns the bytes read from DRAM.
  double use(int kind, int64_t begin, int64_t end) {
    double misses = 0;
    for (int64_t index = begin; index < end; ++index) {
      int32_t panel = begins[kind] + static_cast<int32_t>(index);
      if (links[panel].next < 0)
        misses += bytes[kind];
      else
        unlink(panel);
      append(panel);
    }
    held += misses;
    return misses;
  }

  /// Drops what was used longest ago. Done between waves only: the CTAs of a
  /// wave walk K together, so that within a wave every panel is read once
  /// however large it is.
  void trim() {
    while (held > capacity && links[end].next != end) {
      int32_t oldest = links[end].next;
      unlink(oldest);
      links[oldest].next = -1;
      held -= bytes[oldest >= begins[1]];
    }
  }

private:
  /// A panel's neighbours in the list; a negative `next`: not in the cache.
  struct Link {
    int32_t previous = -1, next = -1;
  };

  void unlink(int32_t panel) {
    auto [previous, next] = links[panel];
    links[previous].next = next;
    links[next].previous = previous;
  }
  void append(int32_t panel) {
    int32_t newest = links[end].previous;
    links[panel] = {newest, end};
    links[newest].next = links[end].previous = panel;
  }

  double bytes[2], capacity, held = 0;
  int32_t begins[2] = {0, 0}; ///< of the panels of each kind
  int32_t end;                ///< stands before the first and after the last
  std::vector<Link> links;
};
} // namespace

/// Uses what the tiles from (i, o) to (i + i', o') of one group touch, every
/// panel once, in the order in which the last tile that needs it comes. `first`
/// is the group's first inner panel and `width` their number; both ends count.
static double useRun(PanelCache &cache, int64_t first, int64_t width,
                     int64_t beginI, int64_t beginO, int64_t endI,
                     int64_t endO) {
  if (beginO == endO)
    return cache.use(0, first + beginI, first + endI + 1) +
           cache.use(1, endO, endO + 1);
  // Of the last two columns, the one before the last is where inner panels
  // beyond the end are used last, as far as the run reaches back to them.
  int64_t reached = beginO == endO - 1 ? std::max(beginI, endI + 1) : endI + 1;
  return cache.use(1, beginO, endO - 1) +
         cache.use(0, first + reached, first + width) +
         cache.use(1, endO - 1, endO) + cache.use(0, first, first + endI + 1) +
         cache.use(1, endO, endO + 1);
}

std::vector<WaveMisses> walkTiles(const RasterWalk &walk) {
  Order order(walk);
  PanelCache cache(order, walk.cacheBytes);
  std::vector<WaveMisses> out;
  out.reserve(order.walked + 1);
  int64_t first = 0, width = order.group; // the group
  int64_t position = 0;                   // within it
  for (int64_t wave = 0; wave < order.walked; ++wave) {
    double misses = 0;
    for (int64_t left = order.grid; left > 0 && first < order.inner;) {
      int64_t run = std::min(left, width * order.outer - position);
      int64_t last = position + run - 1;
      misses += useRun(cache, first, width, position % width, position / width,
                       last % width, last / width);
      left -= run;
      position += run;
      if (position < width * order.outer)
        continue;
      position = 0;
      first += order.group;
      width = std::min(order.group, order.inner - first);
    }
    cache.trim();
    out.push_back({misses, 1});
  }
  if (order.walked == order.waves)
    return out;
  double sum = 0;
  for (int64_t wave = order.walked / 2; wave < order.walked; ++wave)
    sum += out[wave].bytes;
  out.push_back({sum / double(order.walked - order.walked / 2),
                 double(order.waves - order.walked)});
  return out;
}

std::vector<WaveMisses> leastMisses(const RasterWalk &walk) {
  Order order(walk);
  auto first = [&](int64_t waves) {
    auto [inner, outer] = order.touched(waves * order.grid);
    return double(inner) * order.innerBytes + double(outer) * order.outerBytes;
  };
  // What a wave needs at least, of which the one before cannot have left more
  // than the cache holds. Its tiles lie in rows and columns whose product is at
  // least their number; in groups of full width they lie in as many rows as
  // fit, and in half the columns when there are two of these groups.
  double rows = double(std::min(order.grid, order.group));
  double columns =
      std::min(std::ceil(double(order.grid) / double(2 * order.group)),
               double(order.outer));
  double needed =
      std::max(2 * std::sqrt(double(order.grid) * walk.panelA * walk.panelB),
               rows * order.innerBytes + columns * order.outerBytes);
  double again = std::max(needed - walk.cacheBytes, 0.0);
  // Of a group that is larger than the cache, whatever the place of the waves,
  // no row is still there when its turn comes again.
  if (double(order.group - 2 * order.grid) * order.innerBytes > walk.cacheBytes)
    again = std::max(again, rows * order.innerBytes);
  int64_t inFullGroups =
      order.inner / order.group * order.group * order.outer / order.grid;
  double full = double(std::min(inFullGroups, order.walked));
  double walked = double(order.walked);
  double all = first(order.walked);
  std::vector<WaveMisses> out = {
      {std::max(all, again * full) / walked, walked}};
  if (order.walked < order.waves) {
    int64_t half = order.walked / 2;
    double later = (all - first(half)) / double(order.walked - half);
    out.push_back({full == walked ? std::max(later, again) : later,
                   double(order.waves - order.walked)});
  }
  return out;
}

} // namespace dgemm
