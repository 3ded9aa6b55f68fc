// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How a GEMM is computed: the one definition of a schedule. The attribute
// #dgemm.schedule wraps exactly this struct; the cost model ranks it; the
// passes realise it. Derived quantities are functions, so that no two fields
// can disagree.
//
// Text form (toString, parseSchedule and the attribute's assembly): clauses
// separated by commas. `tile` stands first; the others may come in any order
// when read, are written in this order, and are left out at their defaults.
//
//   schedule ::= tile (`,` clause)*
//   tile     ::= `tile` `=` int `x` int `x` int                 rows, cols, K
//   clause   ::= `consumers` `=` int (`cooperative` | `pingpong`)
//              | `n_blocks` `=` int [`overlapped`]
//              | `stages` `=` int
//              | `kblocks_per_stage` `=` int
//              | `swizzle` `=` `[` int `,` int `,` int `]`   A, B, D in bytes
//              | `cluster` `=` int `x` int [`multicast` (`a` | `b`)]     M, N
//              | `promote` `=` int                               K elements
//              | `regs` `=` `[` int `,` int `]`          producer, consumer
//              | `raster` `=` (`along_m` | `along_n`) `group` int
//              | `split_k` `=` int (`cluster` | `workspace` | `stream_k`)
//              | `form` `=` (`plain` | `swap_ab` | `register`)
//              | `store` `=` (`tma` | `vector`)
//              | `persistent` `=` (`true` | `false`)
//              | `ctas_per_sm` `=` int
//              | `stream_b` `=` (`true` | `false`)
//              | `load_rows` `=` int
//              | `tiles` `=` (`static` | `dynamic`)
//
// `1x1` needs no multicast word and `split_k = 1` no kind.

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
  Plain,  ///< rows of A are WGMMA rows
  SwapAB, ///< rows of B are WGMMA rows (D is computed transposed); small M
  /// ld.global + mma.sync, no shared-memory pipeline; smallest M. Rows of B
  /// are the mma's rows; every warp multiplies all of the CTA's tile over its
  /// share of K (docs/decisions/0009-register-form.md).
  Register
};
/// How several consumer warpgroups share tiles.
enum class ConsumerMode {
  Cooperative, ///< all work on one tile, each on its own rows
  PingPong     ///< each has its own tile; one multiplies while one stores
};
enum class StoreKind {
  Tma,    ///< registers -> shared memory -> TMA store
  Vector, ///< registers -> global, vectors, rows and columns predicated
};
enum class RasterOrder { AlongM, AlongN };
enum class SplitKind {
  None,
  Cluster,   ///< partial sums meet in distributed shared memory
  Workspace, ///< partial sums meet in a global workspace
  /// Persistent CTAs deal the K steps of the tiles that do not fill a whole
  /// wave out evenly; splitK bounds how finely. Partial sums meet in the
  /// workspace (docs/decisions/0012-stream-k.md).
  StreamK
};
enum class Multicast { None, A, B };
/// How the CTAs of a persistent kernel come by their tiles.
enum class TileSource {
  Static, ///< CTA c of n takes tiles c, c + n, c + 2 n, ...
  Dynamic ///< each takes the next one from a counter in the workspace: pays
          ///< when other kernels hold some of the SMs for a while
};

/// One complete set of decisions. Defaults are those of the attribute's text:
/// a field that equals its default is not printed.
struct Schedule {
  Form form = Form::Plain;
  /// CTA tile in elements: rows of D, columns of D, depth of one K block.
  /// In swap-AB form tileM still counts rows of D (tokens) and tileN columns.
  /// In register form tileK is what one warp loads of each row at a time.
  int tileM = 128, tileN = 128, tileK = 64;
  /// Consumer warpgroups (128 threads each); one more warpgroup produces. In
  /// register form warps, which load for themselves.
  int consumers = 2;
  ConsumerMode mode = ConsumerMode::Cooperative;
  /// Cooperative consumers hand the tensor core on inside a K block: each
  /// starts a WGMMA chain when the one before it is half way through its own,
  /// so that they never come to promote at once.
  bool inTurn = false;
  /// Pieces the warpgroup tile's N is split into; each is one WGMMA chain.
  int nBlocks = 1;
  /// Promote one WGMMA chain while the following ones multiply (needs at least
  /// two chains in a ring step).
  bool overlapPromotion = false;
  /// Ring slots, and K blocks per slot. In register form there is no ring:
  /// `stages` K blocks are loaded before the first of them is multiplied.
  int stages = 4, kBlocksPerStage = 1;
  /// Shared-memory swizzle span in bytes: 0, 32, 64 or 128.
  int swizzleA = 128, swizzleB = 128, swizzleD = 128;
  int clusterM = 1, clusterN = 1;
  Multicast multicast = Multicast::None;
  /// K elements between promotions of FP8 partial sums to FP32; 0: none.
  int promotion = 0;
  /// setmaxnreg of the producer and of a consumer; 0 and 0: setmaxnreg is not
  /// used and every thread keeps its even share (one consumer warpgroup needs
  /// no redistribution: 256 threads may have 255 registers each).
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
  /// Hint L2 that B is read once (evict_first): pays when one row of tiles
  /// covers all of M, so that no other tile reads B again.
  bool streamB = false;
  /// Rows of A that a copy brings, a multiple of 8 that holds all of M; 0: the
  /// whole tile. Rows of the tile beyond them are multiplied as they lie in
  /// shared memory, and not stored.
  int loadRows = 0;
  TileSource tiles = TileSource::Static;

  bool operator==(const Schedule &) const = default;

  /// Extent of the tile along the rows and columns of the tensor core's
  /// result: tileM and tileN, exchanged in all forms but plain.
  int mmaRows() const { return form == Form::Plain ? tileM : tileN; }
  int mmaCols() const { return form == Form::Plain ? tileN : tileM; }
  /// Rows of one instruction's result: m64 of WGMMA, m16 of mma.sync.
  int rowsPerBlock() const { return form == Form::Register ? 16 : 64; }
  /// Rows of the tile that one consumer multiplies, and the blocks in them. 0
  /// for a schedule without consumers.
  int rowsPerConsumer() const {
    if (mode == ConsumerMode::PingPong || form == Form::Register)
      return mmaRows();
    return consumers > 0 ? mmaRows() / consumers : 0;
  }
  int mBlocks() const { return rowsPerConsumer() / rowsPerBlock(); }
  /// Rows of A in a ring slot that have a value.
  int rowsLoaded() const { return loadRows != 0 ? loadRows : tileM; }
  /// Columns of one WGMMA chain.
  int nPerBlock() const { return nBlocks > 0 ? mmaCols() / nBlocks : 0; }
  /// WGMMA chains of one consumer warpgroup in one ring step.
  int chainsPerStep() const { return mBlocks() * nBlocks * kBlocksPerStage; }
  /// FP8 chains that multiply or wait for their promotion at a time, each with
  /// partial sums of its own. Narrow chains take more than two to hide their
  /// latency; 64 registers of partial sums were enough in measurements.
  int chainsInFlight() const;
  int threads() const {
    return form == Form::Register ? 32 * consumers : 128 * (consumers + 1);
  }
  /// CTAs of a cluster that share the multicast operand's tile, each copying an
  /// equal part of it to all of them; 1: nothing is multicast.
  int multicastCtas() const {
    return multicast == Multicast::A   ? clusterN
           : multicast == Multicast::B ? clusterM
                                       : 1;
  }
  /// Whether several CTAs can have parts of a tile's sum that meet in global
  /// memory.
  bool meetsInWorkspace() const {
    return splitKind == SplitKind::Workspace || splitKind == SplitKind::StreamK;
  }
  /// Whether registers move from the producer to the consumers.
  bool usesSetMaxRegisters() const {
    return regsConsumer != 0 && form != Form::Register;
  }
};

/// Canonical text: what stands between the angle brackets of
/// #dgemm.schedule<...>. Fields at their default are left out, tile always
/// stands first.
std::string toString(const Schedule &schedule);
/// Reads the text form above. Errors name the clause, what was expected and
/// what was found; no rule of verifySchedule is checked here.
Result<Schedule> parseSchedule(const std::string &text);

const char *toString(Form form);
const char *toString(ConsumerMode mode);
const char *toString(StoreKind kind);
const char *toString(RasterOrder order);
const char *toString(SplitKind kind);
const char *toString(Multicast multicast);
const char *toString(TileSource source);

/// Who chose a schedule; a lower source never overwrites a higher one.
enum class ScheduleSource { Model, Tuned, User };
const char *toString(ScheduleSource source);
Result<ScheduleSource> parseScheduleSource(const std::string &text);

/// The limits of a chip that schedules are checked against.
struct TargetLimits {
  std::string chip = "sm_90a";
  int64_t sharedMemoryPerBlock = 232448; ///< bytes, opt-in maximum
  int64_t sharedMemoryPerSM = 233472;    ///< bytes
  int registersPerSM = 65536;            ///< 32-bit registers
  int maxRegistersPerThread = 255;
  int maxThreadsPerBlock = 1024;
  int maxClusterSize = 8; ///< portable
  int maxThreadsPerSM = 2048;
  int maxBoxElements = 256;                ///< TMA box, each dimension
  int reservedSharedMemoryPerBlock = 1024; ///< bytes the system takes per CTA
  bool operator==(const TargetLimits &) const = default;
};

/// Where everything lies in dynamic shared memory, bytes from its 1024-aligned
/// start. Pure arithmetic; the pass plan-smem writes it into the IR.
///
/// A slot holds kBlocksPerStage tiles of one operand one after another. The
/// store staging (TMA stores only) is cut evenly between the consumer
/// warpgroups; a warpgroup's part holds storeBoxesPerChunk boxes of 64 rows x
/// storeBoxColumns columns, and a tile is written in storeChunks rounds. Boxes
/// are numbered m64 block by m64 block, columns within a block ascending; the
/// last box of a block starts at column tileN - storeBoxColumns, overlapping
/// its neighbour when storeBoxColumns does not divide tileN.
struct SmemPlan {
  int64_t offsetA = 0, slotBytesA = 0; ///< stages x slotBytesA
  int64_t offsetB = 0, slotBytesB = 0;
  int64_t offsetScaleA = 0, slotBytesScaleA = 0; ///< 0 bytes: not staged
  /// Epilogue staging; in register form the warps' partial sums, one warp's
  /// after the other's.
  int64_t offsetStore = 0, storeBytes = 0;
  int storeBoxColumns = 0;    ///< elements of D; 0: no TMA store
  int64_t storeBoxBytes = 0;  ///< one box
  int storeBoxes = 0;         ///< boxes of one warpgroup's part of a tile
  int storeBoxesPerChunk = 0; ///< boxes of one warpgroup staged at a time
  int storeChunks = 0;        ///< rounds; 1: the whole tile is staged
  /// full[stages], empty[stages], then order[2] in ping-pong; 8 bytes each.
  /// With dynamic tiles the queue of tile numbers follows: full[2], empty[2],
  /// then the two numbers of 4 bytes.
  int64_t offsetBarriers = 0, barrierBytes = 0;
  int64_t offsetTileQueue = 0;
  /// Split K over a cluster: partial sums that the other CTAs of the cluster
  /// put into the first one's memory, reducePart bytes from each. Split K
  /// through the workspace: for each consumer warpgroup a word of reducePart
  /// bytes in which its threads hear whether they came last.
  int64_t offsetReduce = 0, reducePart = 0;
  int64_t total = 0;

  int64_t fullBarrier(int stage) const { return offsetBarriers + 8 * stage; }
  int64_t emptyBarrier(int stage, int stages) const {
    return offsetBarriers + 8 * (stages + stage);
  }
  int64_t orderBarrier(int consumer, int stages) const {
    return offsetBarriers + 8 * (2 * stages + consumer);
  }
};
/// Lays out shared memory. The whole tile is staged for the store when the
/// limit (shared out over ctasPerSM) allows it, else two boxes per warpgroup,
/// else one; a plan over the limit is returned in its smallest form.
SmemPlan planSharedMemory(const Problem &problem, const Schedule &schedule,
                          const TargetLimits &limits = {});
/// Bytes of dynamic shared memory one CTA may have, with ctasPerSM of them on
/// an SM.
int64_t sharedMemoryBudget(const Schedule &schedule,
                           const TargetLimits &limits);
/// Whether A's scales travel through the ring by TMA: FP8, one scale per row
/// and K block, M contiguous, and there is a ring. Otherwise consumers load
/// them from global memory.
bool stagesScaleA(const Problem &problem, const Schedule &schedule);

/// 32-bit registers a consumer thread needs for accumulators, FP8 temporaries
/// and, in register form, operands: a lower bound, without addresses and loop
/// state.
int accumulatorRegisters(const Problem &problem, const Schedule &schedule);

/// Registers per thread that ptxas gives every thread of the kernel before
/// setmaxnreg moves them: an even share of the register file in units of 8
/// (384 threads: 168; 512: 128; 640: 96; 256: 248). setmaxnreg must decrease
/// to a value below this and increase to one above it.
int registersAtEntry(const Schedule &schedule, const TargetLimits &limits);

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
