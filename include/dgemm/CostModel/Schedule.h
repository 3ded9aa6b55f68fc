// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How a GEMM is computed: the one definition of a schedule. The attribute
// #dgemm.schedule wraps exactly this struct; the cost model ranks it; the
// passes realise it. Derived quantities are functions, so that no two fields
// can disagree.

#ifndef DGEMM_COSTMODEL_SCHEDULE_H
#define DGEMM_COSTMODEL_SCHEDULE_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dgemm {

/// Who computes which part of the output.
enum class Form {
  Plain,   ///< rows of A are WGMMA rows
  SwapAB,  ///< rows of B are WGMMA rows (D is computed transposed); small M
  Register ///< ld.global + mma.sync, no shared-memory pipeline; smallest M
};
/// How several consumer warpgroups share tiles.
enum class ConsumerMode {
  Cooperative, ///< all work on one tile, each on its own rows
  PingPong     ///< each has its own tile; one multiplies while one stores
};
enum class StoreKind {
  Tma,       ///< registers -> shared memory -> TMA store
  Vector,    ///< registers -> global, vectors, rows and columns predicated
};
enum class RasterOrder { AlongM, AlongN };
enum class SplitKind {
  None,
  Cluster,   ///< partial sums meet in distributed shared memory
  Workspace, ///< partial sums meet in a global workspace
  StreamK    ///< K blocks dealt evenly over CTAs, fix-up through the workspace
};
enum class Multicast { None, A, B };

/// One complete set of decisions. Defaults are those of the attribute's text:
/// a field that equals its default is not printed.
struct Schedule {
  Form form = Form::Plain;
  /// CTA tile in elements: rows of D, columns of D, depth of one K block.
  /// In swap-AB form tileM still counts rows of D (tokens) and tileN columns.
  int tileM = 128, tileN = 128, tileK = 64;
  /// Consumer warpgroups (128 threads each); one more warpgroup produces.
  int consumers = 2;
  ConsumerMode mode = ConsumerMode::Cooperative;
  /// Pieces the warpgroup tile's N is split into; each is one WGMMA chain.
  int nBlocks = 1;
  /// Promote one n-block while the next one multiplies (needs nBlocks > 1).
  bool overlapPromotion = false;
  /// Ring slots, and K blocks per slot.
  int stages = 4, kBlocksPerStage = 1;
  /// Shared-memory swizzle span in bytes: 0, 32, 64 or 128.
  int swizzleA = 128, swizzleB = 128, swizzleD = 128;
  int clusterM = 1, clusterN = 1;
  Multicast multicast = Multicast::None;
  /// K elements between promotions of FP8 partial sums to FP32; 0: none.
  int promotion = 0;
  /// setmaxnreg of the producer and of a consumer.
  int regsProducer = 40, regsConsumer = 232;
  RasterOrder rasterOrder = RasterOrder::AlongM;
  /// Default of the run-time raster group: tiles walked along rasterOrder
  /// before stepping the other way.
  int rasterGroup = 8;
  int splitK = 1;
  SplitKind splitKind = SplitKind::None;
  StoreKind store = StoreKind::Tma;
  bool persistent = true;
  int ctasPerSM = 1;

  bool operator==(const Schedule &) const = default;

  /// Rows of the tile one consumer warpgroup multiplies, and its m64 blocks.
  int rowsPerConsumer() const {
    return mode == ConsumerMode::PingPong ? tileM : tileM / consumers;
  }
  int mBlocks() const { return rowsPerConsumer() / 64; }
  int nPerBlock() const { return tileN / nBlocks; }
  int threads() const { return 128 * (consumers + 1); }
};

/// Canonical text: what stands between the angle brackets of
/// #dgemm.schedule<...>. Fields at their default are left out, tile always
/// stands first.
std::string toString(const Schedule &schedule);

/// Who chose a schedule; a lower source never overwrites a higher one.
enum class ScheduleSource { Model, Tuned, User };
const char *toString(ScheduleSource source);

/// The limits of a chip that schedules are checked against.
struct TargetLimits {
  std::string chip = "sm_90a";
  int64_t sharedMemoryPerBlock = 232448; ///< bytes, opt-in maximum
  int64_t sharedMemoryPerSM = 233472;    ///< bytes
  int registersPerSM = 65536;            ///< 32-bit registers
  int maxRegistersPerThread = 255;
  int maxThreadsPerBlock = 1024;
  int maxClusterSize = 8; ///< portable
  int maxBoxElements = 256; ///< TMA box, each dimension
  bool operator==(const TargetLimits &) const = default;
};

/// Where everything lies in dynamic shared memory, bytes from its 1024-aligned
/// start. Pure arithmetic; the pass plan-smem writes it into the IR.
struct SmemPlan {
  int64_t offsetA = 0, slotBytesA = 0; ///< stages x slotBytesA
  int64_t offsetB = 0, slotBytesB = 0;
  int64_t offsetScaleA = 0, slotBytesScaleA = 0; ///< 0 bytes: not staged
  int64_t offsetStore = 0, storeBytes = 0;       ///< epilogue staging
  int64_t offsetBarriers = 0, barrierBytes = 0;
  int64_t total = 0;
};
SmemPlan planSharedMemory(const Problem &problem, const Schedule &schedule);

/// Size of the 32-bit registers a consumer thread needs for accumulators and
/// FP8 temporaries (a lower bound that the verifier checks against
/// regsConsumer).
int accumulatorRegisters(const Problem &problem, const Schedule &schedule);

/// One broken rule, in words with numbers, and the nearest legal value.
struct ScheduleViolation {
  std::string message; ///< "shared memory: 245760 bytes used, 232448 available"
  std::string hint;    ///< "stages = 3 fits"; may be empty
};
/// Every rule the schedule breaks for this problem and chip; empty when legal.
std::vector<ScheduleViolation> verifySchedule(const Problem &problem,
                                              const Schedule &schedule,
                                              const TargetLimits &limits);
/// Rules that need no problem (used by the attribute's own verifier).
std::vector<ScheduleViolation> verifyScheduleAlone(const Schedule &schedule,
                                                   const TargetLimits &limits);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_SCHEDULE_H
