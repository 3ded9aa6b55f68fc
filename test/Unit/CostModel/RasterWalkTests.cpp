// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Waves of tiles against a cache of panels: by hand, and against a walk that
// takes one tile after the other.

#include "../../../lib/CostModel/RasterWalk.h"
#include "../../../lib/CostModel/SoftMax.h"

#include <gtest/gtest.h>

#include <random>

using namespace dgemm;

TEST(RasterWalk, EveryPanelIsReadOnceWhenAllFits) {
  RasterWalk walk{8, 4, 4, 8, true, 100, 10, 1e9};
  double total = 0;
  for (const WaveMisses &wave : walkTiles(walk))
    total += wave.bytes * wave.count;
  EXPECT_DOUBLE_EQ(total, 8 * 100 + 4 * 10);
}

TEST(RasterWalk, NothingIsKeptWithoutACache) {
  // Group of 2 rows, 4 CTAs: each wave is a 2 x 2 block of tiles.
  RasterWalk walk{4, 4, 4, 2, true, 100, 10, 0};
  std::vector<WaveMisses> waves = walkTiles(walk);
  ASSERT_EQ(waves.size(), 4u);
  for (const WaveMisses &wave : waves)
    EXPECT_DOUBLE_EQ(wave.bytes, 2 * 100 + 2 * 10);
}

TEST(RasterWalk, LeastRecentlyUsedGoes) {
  // Room for the two panels of A only: B's are read again in every group.
  RasterWalk walk{2, 3, 2, 2, true, 100, 10, 215};
  std::vector<WaveMisses> waves = walkTiles(walk);
  ASSERT_EQ(waves.size(), 3u);
  EXPECT_DOUBLE_EQ(waves[0].bytes, 210);
  EXPECT_DOUBLE_EQ(waves[1].bytes, 10);
  EXPECT_DOUBLE_EQ(waves[2].bytes, 10);
}

TEST(RasterWalk, AlongNIsTheMirrorImage) {
  RasterWalk m{6, 10, 7, 3, true, 100, 10, 300};
  RasterWalk n{10, 6, 7, 3, false, 10, 100, 300};
  std::vector<WaveMisses> a = walkTiles(m), b = walkTiles(n);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_DOUBLE_EQ(a[i].bytes, b[i].bytes);
}

/// The walk as its description has it: tile by tile, CTA by CTA.
static std::vector<double> walkTileByTile(const RasterWalk &walk) {
  int64_t inner = walk.alongM ? walk.tilesM : walk.tilesN;
  int64_t outer = walk.alongM ? walk.tilesN : walk.tilesM;
  double bytes[] = {walk.alongM ? walk.panelA : walk.panelB,
                    walk.alongM ? walk.panelB : walk.panelA};
  std::vector<std::pair<int, int64_t>> tiles; // inner, outer
  for (int64_t first = 0; first < inner; first += walk.group)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = first; i < std::min(first + walk.group, inner); ++i)
        tiles.emplace_back(i, o);
  std::vector<std::pair<int, int64_t>> cache; // oldest first
  double held = 0;
  std::vector<double> misses;
  for (size_t begin = 0; begin < tiles.size(); begin += walk.grid) {
    misses.push_back(0);
    for (size_t tile = begin; tile < std::min(begin + walk.grid, tiles.size());
         ++tile)
      for (std::pair<int, int64_t> panel :
           {std::pair<int, int64_t>(0, tiles[tile].first),
            std::pair<int, int64_t>(1, tiles[tile].second)}) {
        if (std::erase(cache, panel) == 0) {
          misses.back() += bytes[panel.first];
          held += bytes[panel.first];
        }
        cache.push_back(panel);
      }
    while (held > walk.cacheBytes && !cache.empty()) {
      held -= bytes[cache.front().first];
      cache.erase(cache.begin());
    }
  }
  return misses;
}

TEST(RasterWalk, IsWhatWalkingTileByTileGives) {
  std::mt19937 random(1);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    RasterWalk walk{pick(1, 20),        pick(1, 20),        pick(1, 12),
                    pick(1, 24),        pick(0, 1) == 1,    double(pick(1, 9)),
                    double(pick(1, 9)), double(pick(0, 80))};
    std::vector<double> expected = walkTileByTile(walk);
    std::vector<WaveMisses> waves = walkTiles(walk);
    double later = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i < size_t(kWalkedWaves)) {
        ASSERT_DOUBLE_EQ(waves[i].bytes, expected[i])
            << "round " << round << ", wave " << i;
        if (i >= size_t(kWalkedWaves / 2))
          later += expected[i];
      }
    }
    if (expected.size() > size_t(kWalkedWaves)) {
      ASSERT_EQ(waves.size(), size_t(kWalkedWaves + 1));
      EXPECT_DOUBLE_EQ(waves.back().bytes, later / (kWalkedWaves / 2));
    }
  }
}

TEST(RasterWalk, BoundIsNoMoreThanTheWalk) {
  std::mt19937 random(2);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  // Something convex: each wave takes what it computes or what it reads.
  auto time = [](const std::vector<WaveMisses> &waves, double compute) {
    double sum = 0;
    for (const WaveMisses &wave : waves)
      sum += wave.count * softMax(4, {compute, wave.bytes});
    return sum;
  };
  for (int round = 0; round < 2000; ++round) {
    RasterWalk walk{pick(1, 60),        pick(1, 60),         pick(1, 20),
                    pick(1, 64),        pick(0, 1) == 1,     double(pick(1, 9)),
                    double(pick(1, 9)), double(pick(0, 200))};
    double compute = double(pick(1, 100));
    EXPECT_LE(time(leastMisses(walk), compute),
              time(walkTiles(walk), compute) * (1 + 1e-12))
        << "round " << round;
  }
}

TEST(RasterWalk, LongWalksAreExtrapolated) {
  RasterWalk walk{1 << 20, 1 << 20, 132, 16, true, 1, 1, 1000};
  std::vector<WaveMisses> waves = walkTiles(walk);
  EXPECT_LE(waves.size(), 65u);
  double count = 0;
  for (const WaveMisses &wave : waves)
    count += wave.count;
  EXPECT_DOUBLE_EQ(count, double((int64_t(1) << 40) / 132 + 1));
}
