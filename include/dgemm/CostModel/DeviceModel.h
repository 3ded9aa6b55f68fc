// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cost model knows about a GPU: published properties, and the
// coefficients of the two time formulas with their units and meaning. The
// devices themselves are the files devices/*.txt, which are compiled in. What
// the members below begin with was fitted to measured kernels of one H200 that
// the cost model was made from (benchmarks/data/measured-variants-h200.csv).

#ifndef DGEMM_COSTMODEL_DEVICEMODEL_H
#define DGEMM_COSTMODEL_DEVICEMODEL_H

#include "dgemm/CostModel/Schedule.h"
#include "dgemm/Support/Status.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dgemm {

/// Coefficients of the formula for large problems (CostModel.h, largeCost).
/// "cyc" are SM cycles. Standard errors of the fit are in docs/cost-model.md.
struct LargeCoefficients {
  /// Launch, first fill of the ring and last store. us
  double fixed = 3.6113;
  /// Clock at full tensor utilisation under the power limit, times the
  /// efficiency of the WGMMA stream. GHz
  double clock16 = 1.6616, clock8 = 1.6092;
  /// Exponent of clock against tensor utilisation (a cubic power law of the
  /// dynamic power alone would give 1/3).
  double powerExponent = 0.1647;
  /// Promotion of FP8 partial sums per 128 elements: one FFMA per lane. cyc
  double promotion = 0.8797;
  /// Wait for a finished WGMMA chain and start of the next. cyc
  double chainSync = 79.9855;
  /// Each n-block beyond two when promotion is overlapped. cyc per K block
  double extraBlock = 170.078;
  /// Promotion that slows the tensor core although other warpgroups multiply,
  /// per 128 elements, when n-blocks are not overlapped. cyc
  double promotionContention = 0.2468;
  /// What a step of n-blocks that are not overlapped takes longer once the
  /// warpgroups, which start apart, promote at the same time; half of it after
  /// 64 K blocks. cyc
  double fallInStep = 0;
  /// Each further B scale that a tile's columns need, and the A scales of an
  /// m64 block when they are read from memory rather than from the ring. cyc
  /// per K block
  double scaleGroup = 10, scaleLoad = 80;
  /// TMA round trip that a ring of stages has to cover; of which for each row
  /// of at most 128 bytes of a stage. The reference kernels do not tell the
  /// latter, nor what those up to l2Sharers are. cyc
  double loadLatency = 1393.5189, latencyRow = 0;
  /// In addition for each row of the operand that neighbours in the raster do
  /// not have in common (A's, along M). cyc
  double latencyRowApart = 0;
  /// What the round trip of a row takes longer when it comes out of DRAM, and
  /// the share of missed rows at which half of this shows: whoever shares a
  /// missed row waits for it too, so few misses make all wait. cyc, share
  double missLatency = 0, missShare = 0;
  /// A ring step, and each row of it that comes out of L2, while all SMs load:
  /// what the L2 as a whole delivers. cyc
  double loadStep = 0, l2Row = 0;
  /// SMs with neighbouring tiles whose loads of the same rows the L2 answers at
  /// once.
  double l2Sharers = 0;
  /// What a row that neighbours do not have in common takes longer when the
  /// panels of a wave fill the cache, in proportion where they fill part of it:
  /// so many of these rows come out of the L2's other half. cyc
  double l2Far = 0;
  /// CTAs whose tiles are apart in the raster fall out of step, the more the
  /// deeper their rings, and then read what they have in common again where it
  /// does not stay in the cache: share per ring slot and tile between them.
  double drift = 0;
  /// Ring slots that are not free for the next load because a consumer has not
  /// given them back: with promotion, and where WGMMAs queue up.
  double heldPromoted = 1, heldQueued = 1;
  /// Of the cycles in which a K block is multiplied, what its slot is not free
  /// for after the load: with promotion, and where WGMMAs queue up.
  double slotUsePromoted = 0, slotUseQueued = 0;
  /// Bandwidth of DRAM reads and of D's writes. TB/s
  double hbmRead = 2.5218, hbmWrite = 3.4588;
  /// One row of at most 128 bytes of a TMA request, load or store. cyc
  double tmaRow = 1.5385;
  /// Epilogue: constant, per column and m64 block, per round after the first.
  /// cyc
  double epilogueBase = 477.2975, epilogueColumn = 3.5471,
         epilogueRound = 185.0389;
  /// What the epilogue waits for in addition: a row of a box of D that TMA
  /// stores; eight elements of a row, which four lanes store from registers.
  /// cyc
  double storeRow = 0, storeFragment = 0;
  /// Each wave of CTAs after the first where CTAs are not persistent: end of
  /// one, start of the next, first fill of its ring. us
  double wave = 0;
  /// Remote barrier arrival in a cluster, any type; in addition for FP8. cyc
  /// per K block
  double cluster = 32.3386, cluster8 = 18.6857;
  /// Partial sums that a CTA puts into the workspace or reads there, where K
  /// steps are dealt out. GB/s
  double partialBandwidth = 25;
  /// Capacity the operand panels compete for: half of the L2, for each half
  /// keeps a copy of what its SMs read. bytes
  double l2Panels = 32e6;
  /// Share of so many bytes, read again and again, that the L2 does not keep.
  double beyondL2(double bytes) const {
    return std::max(0.0, 1 - l2Panels / bytes);
  }
  /// Exponents of the soft maxima: inside a K block, K block against a
  /// consumer's chain, a tile against its TMA requests, compute against memory.
  double softKBlock = 5, softChain = 3.5, softTma = 4, softBody = 4;
};

/// Coefficients of the formula for M <= 128 (CostModel.h, decodeCost).
struct DecodeCoefficients {
  /// us: launch; time until all SMs stream; write-back of dirty lines
  double launch = 1.0075, skew = 1.5993, dirty = 1.2076;
  double hbm = 4.5764; ///< TB/s, reads
  /// Share of the weights' bytes that is written back while they stream in
  /// (dirty L2 only), with and without an evict-first hint.
  double writeBackHinted = 0.1292, writeBackUnhinted = 0.337;
  /// Share of the weights' bytes that each further row of tiles reads from DRAM
  /// again, of what the cache does not hold: its CTAs do not keep step with
  /// those of the first.
  double reread = 0.2;
  /// Load latency of each further row of tiles, whose CTAs wait for the same
  /// weights. us
  double latencyRows = 0;
  /// As in LargeCoefficients.
  double heldPromoted = 0, heldQueued = 0;
  /// Load latency with clean and dirty L2; of the register form. us
  double latencyClean = 0.6276, latencyDirty = 0.5316, latencyRegister = 0.3764;
  /// One SM's load bandwidth; of the register form. GB/s
  double smBandwidth = 250, smBandwidthRegister = 127;
  /// Wait, barrier and issue of one ring step. cyc
  double step = 124.3761;
  /// One promotion instruction in a consumer's chain (swap-AB, plain), and
  /// against the whole SM's issue rate. cyc
  double promotionSwap = 1.1425, promotionPlain = 2.52;
  /// Share of the chain's promotion that is left when it overlaps the next
  /// product.
  double promotionOverlapped = 0.5;
  double promotionSMSwap = 3.6505, promotionSMPlain = 4.9139;
  /// One TMA issued by the producer. cyc
  double tmaIssue = 80;
  /// Reduction of a split K: cluster, cluster in register form, workspace. us
  double reduceCluster = 1.1538, reduceClusterRegister = 0.1416,
         reduceWorkspace = 1.2;
  /// Partial sums through distributed shared memory (swap-AB, plain) and
  /// through global atomics. GB/s per CTA
  double clusterBandwidthSwap = 15, clusterBandwidthPlain = 22,
         workspaceBandwidth = 6;
  /// Stores of D from registers (swap-AB, plain), and by TMA. TB/s
  double storeSwap = 3.8058, storePlain = 1.4518, storeTma = 3;
  /// Epilogue of swap-AB per tile element of a thread. cyc
  double epilogueSwap = 9.442;
  double wave = 0.4;            ///< us, each wave of CTAs after the first
  double registerForm = 0.6132; ///< us, constant of the register form
  double clock = 1.98;          ///< GHz; never power-limited
  double softBody = 3.5;        ///< exponent of the soft maximum
};

/// One GPU.
struct DeviceModel {
  std::string name = "H200";
  /// Whether the coefficients were fitted on this device, or scaled from
  /// another by published ratios.
  bool measured = true;
  int smCount = 132;
  double maxClock = 1.98;         ///< GHz
  double hbmBandwidth = 4.8;      ///< TB/s, published
  double hbmGigabytes = 141;      ///< capacity, published
  double l2Megabytes = 50;        ///< published
  double powerWatts = 700;        ///< published limit
  double tensorTeraflops16 = 989; ///< dense BF16, published
  /// Tensor cycles of this device over those of a full Hopper SM.
  double tensorCycleFactor = 1;
  /// CTAs that fit the device at once, one per SM, in clusters of 3 or 4 and
  /// of more: the SMs of a GPC are no multiple of the cluster. Clusters of 2
  /// use every SM.
  double clusterCtas4 = 120, clusterCtas8 = 120;
  TargetLimits limits;
  LargeCoefficients large;
  DecodeCoefficients decode;
  /// Where a field's number comes from, by the field's name in device files.
  std::map<std::string, std::string> sources;
};

/// CTAs of a kernel that run at once, given the size of its clusters.
double residentCtas(const DeviceModel &device, int clusterSize, int ctasPerSM);

/// "H200", "H100", "H800", "H20" in any case, as devices/*.txt had them when
/// this was built; the error lists them.
Result<DeviceModel> findDevice(const std::string &name);
/// Names that findDevice takes.
std::vector<std::string> deviceNames();

} // namespace dgemm

#endif // DGEMM_COSTMODEL_DEVICEMODEL_H
