// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicted time of a schedule and what it consists of. Two formulas: one for
// large problems, where the tensor cores and the power limit rule, and one for
// M <= 128, where streaming the weights does. docs/cost-model.md has the
// formulas and how well they fit.

#ifndef DGEMM_COSTMODEL_COSTMODEL_H
#define DGEMM_COSTMODEL_COSTMODEL_H

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dgemm {

/// State of the L2 cache when a kernel for small M starts.
enum class L2State { Clean, Dirty };

/// A kernel as the formulas see it: what the compiler decides beyond the
/// schedule stands next to what the schedule says.
struct CostInputs {
  int64_t m = 1, n = 1, k = 1;
  int64_t operandBytes = 2, resultBytes = 2; ///< per element
  bool fp8 = false;      ///< 8-bit operands (clock and cluster costs)
  bool promoted = false; ///< FP8 partial sums are promoted
  /// A's scales are read from memory instead of coming through the ring.
  bool scaleAFromMemory = false;
  /// B scales that a tile's columns need for a K block beyond the first; a
  /// mean over the tiles of a row.
  double furtherScalesB = 0;
  Form form = Form::Plain;
  int tileM = 128, tileN = 128, tileKBytes = 128;
  int consumers = 2, mBlocks = 1;
  bool pingPong = false;
  /// Columns of each WGMMA chain: all but the last are `blockColumns` wide.
  int nBlocks = 1, blockColumns = 128;
  bool overlapPromotion = false;
  bool inTurn = false; ///< consumers take turns, and never fall in step
  int stages = 4, kBlocksPerStage = 1;
  int clusterM = 1, clusterN = 1;
  int splitK = 1;
  SplitKind splitKind = SplitKind::None;
  int storeBoxColumns = 64, storeChunks = 1;
  bool persistent = true;
  int ctasPerSM = 1;
  int rasterGroup = 8;
  RasterOrder rasterOrder = RasterOrder::AlongM;
  /// Weights are loaded with an evict-first hint (small M).
  bool evictFirst = true;
  L2State l2 = L2State::Clean;

  /// Ring slots that loads can be on their way into, given those held back.
  double freeSlots(double heldPromoted, double heldQueued) const {
    double held = promoted ? heldPromoted : heldQueued;
    return std::max(stages - held, 0.5);
  }
  /// CTAs of one cluster, whether they share operands or a tile's K.
  int clusterSize() const {
    return clusterM * clusterN * (splitKind == SplitKind::Cluster ? splitK : 1);
  }
};

/// What predict works out from a concrete problem and a schedule.
CostInputs costInputs(const Problem &problem, const Schedule &schedule,
                      const DeviceModel &device);

/// Predicted kernel time and its parts. Parts overlap, so they do not add up
/// to the total: each says how long the kernel would take were it alone.
struct CostBreakdown {
  double microseconds = 0;
  /// The part that rules: "tensor", "shared memory", "promotion", ...
  const char *bound = "tensor";
  // us each, per kernel.
  double tensor = 0;       ///< WGMMA cycles
  double sharedMemory = 0; ///< operand reads of WGMMA
  double chain = 0;        ///< serial work of one consumer
  double promotion = 0;    ///< FP8 promotion as far as it is in the chain
  double latency = 0;      ///< ring too short for the load latency
  double load = 0;         ///< operands out of L2 while all SMs load
  double tma = 0;          ///< TMA requests
  double epilogue = 0;     ///< registers to D
  double memory = 0;       ///< HBM, with L2 reuse
  double reduction = 0;    ///< of a split K
  double fixed = 0;        ///< launch, first fill, last store, further waves of
                           ///< CTAs that are not persistent
  double quantisation = 0; ///< SM time lost in the last wave
  // Not times.
  double clock = 0;       ///< GHz
  double utilisation = 0; ///< share of tensor cycles that are busy
  int64_t waves = 0;

  /// Named times for reports, in a fixed order, zeros left out.
  std::vector<std::pair<std::string, double>> parts() const;
};

/// Large problems. `withMemory` = false replaces the walk over tiles, which is
/// what takes time, by the least that has to be read: a lower bound.
CostBreakdown largeCost(const CostInputs &inputs, const DeviceModel &device,
                        bool withMemory = true);
/// M <= 128.
CostBreakdown decodeCost(const CostInputs &inputs, const DeviceModel &device);

/// Largest M that decodeCost is made for.
inline constexpr int64_t kDecodeMaxM = 128;

/// Times of many kernels on one device, by the formula that fits their M.
/// Walking the tiles takes far longer than the rest; kernels that walk them
/// alike share a walk.
class Predictor {
public:
  /// `device` has to outlive the predictor.
  explicit Predictor(const DeviceModel &device);
  ~Predictor();
  CostBreakdown predict(const CostInputs &inputs);

private:
  struct Walks;
  const DeviceModel &device;
  std::unique_ptr<Walks> walks;
};

/// Time of a concrete problem by the formula that fits its M. Sizes below 1
/// count as 1.
CostBreakdown predict(const Problem &problem, const Schedule &schedule,
                      const DeviceModel &device);

/// A limit of a kernel and what lifting it alone would save.
struct Bottleneck {
  std::string limit;  ///< "load latency", "last wave", ...
  std::string remedy; ///< what a better schedule would need
  double gain = 0;    ///< share of the predicted time, 0 to 1
};
/// What holds a schedule back, largest gain first; gains below 0.5 % are left
/// out. Gains overlap and do not add up.
std::vector<Bottleneck> bottlenecks(const Problem &problem,
                                    const Schedule &schedule,
                                    const DeviceModel &device);

/// One line: "123.4 us, bound by tensor (tensor 110.2, memory 40.1, ...)".
std::string toString(const CostBreakdown &cost);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_COSTMODEL_H
