// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of large problems: cycles per K block from the tensor core, shared
// memory, load latency and a consumer's own serial work; tiles and waves; the
// clock that the power limit leaves; DRAM traffic wave by wave.

#include "LargeModel.h"

#include "SoftMax.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace dgemm {

namespace {
/// Cycles of one K block of one CTA, and of one tile.
struct TileCycles {
  double tensor = 0, sharedMemory = 0, latency = 0, load = 0;
  double chain = 0, promotion = 0;
  double kBlock = 0;
  double epilogue = 0, tma = 0;
  double tile = 0;
};
} // namespace

/// Serial cycles of one consumer per K block; `alone` is its share of the
/// tensor core's work.
static double consumerChain(const CostInputs &in, const LargeCoefficients &c,
                            double alone, double promotion) {
  // Without promotion WGMMAs queue up behind one another: a consumer is never
  // the limit.
  if (!in.promoted)
    return 0;
  double chains = double(in.mBlocks) * in.nBlocks;
  double scales = c.scaleGroup * in.furtherScalesB +
                  (in.scaleAFromMemory ? c.scaleLoad * in.mBlocks : 0);
  if (in.overlapPromotion && !in.pingPong) {
    // Only the last block's promotion has nothing left to hide behind.
    int lastColumns = in.tileN - (in.nBlocks - 1) * in.blockColumns;
    double share = double(lastColumns) / in.tileN;
    return alone + scales + c.chainSync + promotion * share / in.mBlocks +
           c.extraBlock * std::max(0.0, chains - 2);
  }
  return alone + scales + chains * c.chainSync + promotion;
}

/// Shares of a tile's rows of A and of B that the L2 has to deliver to its SM
/// alone. CTAs that are neighbours in the raster ask for the panel they have in
/// common at about the same time, and the L2 answers `l2Sharers` of them at
/// once; that a panel is also wanted farther away saves nothing.
static std::pair<double, double> l2Shares(const CostInputs &in,
                                          const LargeCoefficients &c) {
  bool alongM = in.rasterOrder == RasterOrder::AlongM;
  double tiles =
      double(alongM ? ceilDiv(in.m, in.tileM) : ceilDiv(in.n, in.tileN));
  double group = std::min<double>(in.rasterGroup, tiles);
  double sharers = std::max(c.l2Sharers, 1.0);
  double walked = std::min(group / sharers, 1.0);
  double across = std::max(1 / group, 1 / sharers);
  return alongM ? std::pair(walked, across) : std::pair(across, walked);
}

namespace {
/// How the tiles of D are dealt out.
struct Deal {
  explicit Deal(const CostInputs &in, const DeviceModel &device)
      : tilesM(ceilDiv(in.m, in.tileM)), tilesN(ceilDiv(in.n, in.tileN)),
        parts(in.splitKind == SplitKind::StreamK ? 1 : in.splitK),
        work(double(tilesM) * tilesN * parts),
        // Ping-pong hands every warpgroup its own tile, but the tensor core
        // takes them one after the other, so a CTA still does one at a time.
        grid(std::min(double(tilesM) * tilesN * in.splitK,
                      residentCtas(device, in.clusterSize(), in.ctasPerSM))),
        rounds(std::ceil(work / grid)), waves(rounds) {
    if (in.splitKind != SplitKind::StreamK)
      return;
    double whole = std::floor(work / grid);
    rest = work - whole * grid;
    if (rest > 0)
      waves = whole + std::max(rest / grid, 1.0 / in.splitK);
  }

  int64_t tilesM, tilesN;
  double parts;    ///< of each tile's K that are work of their own
  double work;     ///< tiles times those
  double grid;     ///< CTAs at a time
  double rounds;   ///< of them
  double waves;    ///< the same, counting a last round of dealt out K steps by
                   ///< how much of a tile each CTA has there
  double rest = 0; ///< tiles whose K steps are dealt out
};

/// Tiles of D and the operands' panels as the raster has them, `inner` along
/// the direction in which groups are walked.
struct RasterSides {
  RasterSides(const CostInputs &in, const Deal &deal) {
    bool alongM = in.rasterOrder == RasterOrder::AlongM;
    innerTiles = double(alongM ? deal.tilesM : deal.tilesN);
    outerTiles = double(alongM ? deal.tilesN : deal.tilesM);
    double rowBytes = double(in.k) * in.operandBytes;
    innerBytes = rowBytes * (alongM ? in.tileM : in.tileN);
    outerBytes = rowBytes * (alongM ? in.tileN : in.tileM);
  }
  /// Of so many panels of either operand.
  double bytes(double inner, double outer) const {
    return inner * innerBytes + outer * outerBytes;
  }

  double innerTiles, outerTiles; ///< of D
  double innerBytes, outerBytes; ///< of one panel
};

/// What the CTAs of a wave have in common.
struct WavePanels : RasterSides {
  WavePanels(const CostInputs &in, const Deal &deal) : RasterSides(in, deal) {
    tiles = std::min(deal.grid / deal.parts, innerTiles * outerTiles);
    group = std::min({double(in.rasterGroup), innerTiles, tiles});
    outer = std::min(outerTiles, tiles / group);
    inner = tiles / outer;
  }
  /// Of all panels that the wave reads.
  double bytes() const { return RasterSides::bytes(inner, outer); }

  double tiles;        ///< of the wave
  double group;        ///< of these, neighbours along `inner`
  double inner, outer; ///< panels of either operand
};
} // namespace

/// K blocks after which half of LargeCoefficients::fallInStep is paid. From
/// 128x256 tiles in two n-blocks: as predicted without the term up to K = 2048,
/// 4 % slower at 7168, 8 % at 28672.
static constexpr double kFallInSteps = 64;

/// `missed` is the share of its rows that come out of DRAM, `filled` that of
/// the cache that the panels of a wave take.
static TileCycles tileCycles(const CostInputs &in, const DeviceModel &device,
                             double kBlocks, double missed, double filled) {
  const LargeCoefficients &c = device.large;
  TileCycles out;
  double m64 = in.tileM / 64.0;
  // One K block is four WGMMAs deep (32 bytes of K each); partial K blocks of
  // narrower swizzles scale down.
  double depth = 4 * in.tileKBytes / 128.0;
  int lastColumns = in.tileN - (in.nBlocks - 1) * in.blockColumns;
  double columns = double(in.blockColumns) * (in.nBlocks - 1) + lastColumns;
  out.tensor = depth * m64 * columns / 2 * device.tensorCycleFactor;
  out.sharedMemory = depth * m64 * (16.0 * in.nBlocks + columns / 4);
  double rowsA = double(in.tileM) / in.clusterN;
  double rowsB = double(in.tileN) / in.clusterM;
  bool alongM = in.rasterOrder == RasterOrder::AlongM;
  double rowsApart = alongM ? rowsA : rowsB;
  double late = missed > 0 ? missed / (missed + c.missShare) : 0;
  out.latency =
      ((c.loadLatency + c.missLatency * late) / in.kBlocksPerStage +
       c.latencyRow * (rowsA + rowsB) + c.latencyRowApart * rowsApart +
       (in.promoted ? c.slotUsePromoted : c.slotUseQueued) *
           std::max(out.tensor, out.sharedMemory)) /
      in.freeSlots(c.heldPromoted, c.heldQueued);
  auto [shareA, shareB] = l2Shares(in, c);
  out.load = c.loadStep / in.kBlocksPerStage +
             c.l2Row * (rowsA * shareA + rowsB * shareB) +
             c.l2Far * filled * rowsApart * (alongM ? shareA : shareB);
  double sharing = in.pingPong ? 1 : in.consumers;
  double elements = double(in.tileM) * in.tileN / 128;
  out.promotion = in.promoted ? c.promotion * elements / sharing : 0;
  out.chain = consumerChain(
      in, c, std::max(out.tensor, out.sharedMemory) / sharing, out.promotion);
  out.kBlock =
      softMax(c.softChain, {softMax(c.softKBlock, {out.tensor, out.sharedMemory,
                                                   out.latency, out.load}),
                            out.chain});
  if (in.promoted && !in.overlapPromotion && !in.pingPong)
    out.kBlock += c.promotionContention * elements +
                  (in.nBlocks > 1 && !in.inTurn
                       ? c.fallInStep * kBlocks / (kBlocks + kFallInSteps)
                       : 0);
  if (in.clusterM * in.clusterN > 1)
    out.kBlock += c.cluster + (in.fp8 ? c.cluster8 : 0);

  // D goes by TMA, in rows of boxes, or from registers, eight elements at once.
  bool boxes = in.storeBoxColumns > 0;
  double storeRows =
      boxes ? in.tileM * std::ceil(double(in.tileN) / in.storeBoxColumns) : 0;
  double fragments = boxes ? 0 : double(in.tileM) * in.tileN / 8;
  out.epilogue = c.epilogueBase + c.epilogueColumn * in.tileN * in.mBlocks +
                 c.epilogueRound * std::max(in.storeChunks - 1, 0) +
                 c.storeRow * storeRows + c.storeFragment * fragments;
  out.tma = c.tmaRow * (kBlocks * (rowsA + rowsB) + storeRows);
  double main = kBlocks * out.kBlock;
  out.tile =
      softMax(c.softTma, {in.pingPong ? main : main + out.epilogue, out.tma});
  return out;
}

RasterWalk rasterWalk(const CostInputs &in, const DeviceModel &device) {
  Deal deal(in, device);
  RasterWalk walk;
  walk.tilesM = deal.tilesM;
  walk.tilesN = deal.tilesN;
  walk.grid =
      std::max<int64_t>(static_cast<int64_t>(deal.grid / deal.parts), 1);
  walk.group = in.rasterGroup;
  walk.alongM = in.rasterOrder == RasterOrder::AlongM;
  walk.panelA = double(in.tileM) * in.k * in.operandBytes;
  walk.panelB = double(in.tileN) * in.k * in.operandBytes;
  walk.cacheBytes = device.large.l2Panels;
  return walk;
}

std::vector<WaveMisses> tileWaves(const RasterWalk &walk) {
  std::vector<WaveMisses> waves = walkTiles(walk);
  std::sort(waves.begin(), waves.end(),
            [](const WaveMisses &a, const WaveMisses &b) {
              return a.bytes < b.bytes;
            });
  size_t kinds = 0;
  for (const WaveMisses &wave : waves)
    if (kinds > 0 && waves[kinds - 1].bytes == wave.bytes)
      waves[kinds - 1].count += wave.count;
    else
      waves[kinds++] = wave;
  waves.resize(kinds);
  return waves;
}

CostBreakdown largeCost(const CostInputs &in, const DeviceModel &device,
                        bool withMemory) {
  RasterWalk walk = rasterWalk(in, device);
  // A soft maximum is convex, so even waves with the least of misses bound the
  // walk from below.
  return largeCostOfWaves(in, device,
                          withMemory ? tileWaves(walk) : leastMisses(walk));
}

struct Predictor::Walks {
  std::map<RasterWalk, std::vector<WaveMisses>> waves;
};

Predictor::Predictor(const DeviceModel &device)
    : device(device), walks(std::make_unique<Walks>()) {}
Predictor::~Predictor() = default;

CostBreakdown Predictor::predict(const CostInputs &in) {
  if (in.m <= kDecodeMaxM)
    return decodeCost(in, device);
  auto [entry, added] = walks->waves.try_emplace(rasterWalk(in, device));
  if (added)
    entry->second = tileWaves(entry->first);
  return largeCostOfWaves(in, device, entry->second);
}

/// DRAM reads of the tiles whose K steps are dealt out. Their CTAs are at
/// different places along K, so what two of them share is read twice unless all
/// of the panels stay in the cache.
static double dealtReads(const CostInputs &in, const DeviceModel &device,
                         const Deal &deal) {
  RasterSides sides(in, deal);
  double group = std::min<double>(in.rasterGroup, sides.innerTiles);
  double groups = std::ceil(deal.rest / (group * sides.outerTiles));
  double inner = std::min({group * groups, sides.innerTiles, deal.rest});
  double outer = std::min(std::ceil(deal.rest / group), sides.outerTiles);
  double panels = sides.bytes(inner, outer);
  double asked = sides.bytes(deal.rest, deal.rest);
  double missed = device.large.beyondL2(panels);
  return panels + std::max(0.0, asked - panels) * missed;
}

/// Time of a CTA that adds up a tile which others have parts of: it puts its
/// own parts into the workspace and reads those of the tile.
static double dealtReduction(const CostInputs &in, const DeviceModel &device,
                             const Deal &deal) {
  if (deal.rest == 0)
    return 0;
  double perTile = std::min<double>(deal.grid / deal.rest, in.splitK) + 1;
  double bytes = double(in.tileM) * in.tileN * 4 * (2 + perTile);
  return device.decode.reduceWorkspace +
         bytes / (device.large.partialBandwidth * 1e3);
}

/// DRAM reads that a wave adds because its CTAs do not keep step. Neighbours
/// do, for whoever is ahead waits for DRAM while the other's rows come out of
/// the cache; CTAs farther apart that have a panel in common read it twice
/// unless the wave's panels stay in the cache.
static double driftReads(const CostInputs &in, const LargeCoefficients &c,
                         const WavePanels &wave) {
  // In groups of one the neighbours are those along the other dimension.
  bool single = wave.group < 2;
  double distance = single ? wave.outer : wave.group;
  double asked = single ? (wave.tiles - wave.outer) * wave.outerBytes
                        : (wave.tiles - wave.inner) * wave.innerBytes;
  return std::min(1.0, c.drift * in.stages * distance) *
         c.beyondL2(wave.bytes()) * std::max(0.0, asked);
}

/// Share of the rows that all tiles load which come out of DRAM; each wave
/// reads `drift` bytes more than its misses.
static double missedShare(const CostInputs &in, const Deal &deal,
                          const std::vector<WaveMisses> &waveMisses,
                          double drift) {
  double missed = 0;
  for (const WaveMisses &wave : waveMisses)
    missed += wave.count * (wave.bytes + drift);
  double rows = double(in.tileM) / in.clusterN + double(in.tileN) / in.clusterM;
  return missed / (double(deal.tilesM) * double(deal.tilesN) * rows *
                   double(in.k) * in.operandBytes);
}

CostBreakdown largeCostOfWaves(const CostInputs &in, const DeviceModel &device,
                               const std::vector<WaveMisses> &waveMisses) {
  const LargeCoefficients &c = device.large;
  double kBlocks = ceilDiv(in.k * in.operandBytes, in.tileKBytes);
  Deal deal(in, device);
  double kBlocksPerCta = std::ceil(kBlocks / deal.parts);
  WavePanels panels(in, deal);
  double drift = driftReads(in, c, panels);
  TileCycles cycles = tileCycles(in, device, kBlocksPerCta,
                                 missedShare(in, deal, waveMisses, drift),
                                 std::min(1.0, panels.bytes() / c.l2Panels));
  double work = deal.work, grid = deal.grid, waves = deal.waves;
  double resident = std::min<double>(in.ctasPerSM, work / device.smCount);
  // CTAs that share an SM share its tensor cores.
  double tile = cycles.tile * std::max(resident, 1.0);

  CostBreakdown out;
  out.waves = static_cast<int64_t>(deal.rounds);
  double busy = cycles.tensor * kBlocksPerCta * work;
  out.utilisation = std::min(1.0, busy / (device.smCount * tile * waves));
  double reference = in.fp8 ? c.clock8 : c.clock16;
  out.clock = std::min(
      device.maxClock,
      reference * std::pow(std::max(out.utilisation, 1e-3), -c.powerExponent));
  auto us = [&](double cyc) { return cyc / out.clock / 1000; };

  double resultBytes = double(in.m) * in.n * in.resultBytes;
  double writePerWave = resultBytes / deal.rounds / (c.hbmWrite * 1e6);
  double body = 0;
  for (const WaveMisses &wave : waveMisses) {
    double memory = (wave.bytes + drift) / (c.hbmRead * 1e6) + writePerWave;
    out.memory += wave.count * memory;
    body += wave.count * softMax(c.softBody, {us(tile), memory});
  }
  if (deal.rest > 0) {
    double whole = std::floor(waves), share = waves - whole;
    double memory = dealtReads(in, device, deal) / (c.hbmRead * 1e6);
    out.memory += memory - out.memory / deal.rounds;
    body = body * whole / deal.rounds +
           softMax(c.softBody, {us(tile) * share, memory});
  }

  double exposed = in.pingPong ? us(cycles.epilogue) : 0;
  if (in.splitKind == SplitKind::Cluster)
    out.reduction = device.decode.reduceCluster;
  else if (in.splitKind == SplitKind::StreamK)
    out.reduction = dealtReduction(in, device, deal);
  else if (in.splitKind != SplitKind::None)
    out.reduction = device.decode.reduceWorkspace +
                    in.splitK * double(in.m) * in.n * 4 / (c.hbmWrite * 1e6);
  out.fixed = c.fixed + (in.persistent ? 0 : c.wave * (deal.rounds - 1));
  out.microseconds = out.fixed + body + exposed + out.reduction;

  double blocks = kBlocksPerCta * waves * std::max(resident, 1.0);
  out.tensor = us(cycles.tensor * blocks);
  out.sharedMemory = us(cycles.sharedMemory * blocks);
  out.chain = us(cycles.chain * blocks);
  out.promotion = us(cycles.promotion * blocks);
  out.latency = us(cycles.latency * blocks);
  out.load = us(cycles.load * blocks);
  out.tma = us(cycles.tma * waves * std::max(resident, 1.0));
  out.epilogue = in.pingPong ? exposed : us(cycles.epilogue * waves);
  out.quantisation = us(tile) * (waves - work / grid);
  const std::pair<const char *, double> candidates[] = {
      {"tensor", out.tensor}, {"shared memory", out.sharedMemory},
      {"chain", out.chain},   {"load latency", out.latency},
      {"L2", out.load},       {"tma", out.tma},
      {"memory", out.memory}};
  out.bound = std::max_element(std::begin(candidates), std::end(candidates),
                               [](const auto &a, const auto &b) {
                                 return a.second < b.second;
                               })
                  ->first;
  return out;
}

} // namespace dgemm
