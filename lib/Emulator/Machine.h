// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of the emulated device: threads, warps, warpgroups, CTAs and the
// group of clusters that one host thread runs at a time, with the queues of
// asynchronous work. Plain C++; what the instructions do is in the files named
// after them.

#ifndef DGEMM_EMULATOR_MACHINE_H
#define DGEMM_EMULATOR_MACHINE_H

#include "Clocks.h"
#include "Fiber.h"
#include "GlobalMemory.h"
#include "Math.h"
#include "SharedMemory.h"
#include "Timeline.h"
#include "dgemm/Emulator/Emulator.h"

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace dgemm::emu {

struct Cta;
struct Cluster;
struct Mbarrier;
struct Warp;
struct Machine;
struct Thread;

/// A place in the IR that calls the runtime.
struct Site {
  std::string op;       ///< "nvvm.mbarrier.init"
  std::string location; ///< "gemm.mlir:12:5", or empty
  std::string function;
  int ordinal = 0; ///< position among the ops of the function
};
using SiteId = uint32_t;

/// What kernel arguments of type !llvm.ptr (byval) point to: the emulator's
/// own encoding of a tensor map, 128 bytes as the hardware's.
struct alignas(64) EncodedTensorMap {
  static constexpr uint64_t kMagic = 0x70616d2d616d7464ull;
  uint64_t magic = kMagic;
  const TensorMapValues *values = nullptr;
  int64_t elementBytes = 0;
  /// Bytes the tensor covers when no buffer of the launch holds them, else 0.
  uint64_t bytesOutside = 0;
  uint64_t padding[12] = {};
};
static_assert(sizeof(EncodedTensorMap) == 128);

enum class Wait : uint8_t {
  None,
  Mbarrier,
  NamedBarrier,
  Warp,
  Wgmma,
  Bulk,
  AsyncCopy,
  Cluster,
  Yield,
  Exited
};

/// Words [offset, offset + bytes) of a CTA's shared memory that a thread wrote
/// by ordinary stores and has not fenced for the async proxy.
struct UnfencedWrite {
  Cta *target;
  uint32_t offset;
  uint32_t bytes;
  Channel channel; ///< the writer's warp, or its asynchronous copies
  Time time;
};

/// A cp.async that has not landed, or the arrival that follows those before.
struct AsyncCopy {
  SiteId site = 0;
  unsigned char *to = nullptr;
  const unsigned char *from = nullptr;
  uint32_t bytes = 0, valid = 0; ///< the rest becomes zero
  Time time = 0;                 ///< of the warp's channel of copies
  Mbarrier *bar = nullptr;       ///< of an arrival
};

struct Thread {
  Context context;
  char *stackTop = nullptr;
  Cta *cta = nullptr;
  Warp *warp = nullptr;
  uint16_t tid = 0;
  uint8_t lane = 0;
  Wait wait = Wait::None;
  SiteId site = 0;      ///< of the op it waits in, or ran last
  uint64_t waitKey = 0; ///< barrier address, barrier id, group or mask
  uint32_t waitPhase = 0;
  uint64_t steps = 0;

  size_t elections = 0; ///< it has taken part in

  /// The mbarrier it tested last and the phase that it was in.
  uint64_t testedBarrier = 0;
  uint64_t testedPhase = 0;

  /// Position in the warpgroup's stream of WGMMA ops.
  uint64_t wgmmaOps = 0;
  uint32_t wgmmaCommitted = 0;
  bool fencedSinceResolve = false;

  /// Bulk groups of copies from shared to global memory.
  uint32_t bulkCommitted = 0, bulkReadWaited = 0, bulkWaited = 0;
  uint32_t bulkOpen = 0;       ///< copies issued since the last commit
  std::vector<Time> bulkTimes; ///< time of each committed group
  /// Asynchronous copies on their way; the time of each committed group, of
  /// the last one closed, the last one issued and the last one waited for.
  std::vector<AsyncCopy> asyncCopies;
  std::vector<Time> asyncTimes;
  Time asyncTime = 0, asyncLast = 0, asyncCovered = 0;
  /// Barriers initialised and not yet fenced.
  std::vector<uint32_t> unfencedBarriers;
  std::vector<UnfencedWrite> unfencedWrites;
  uint32_t clusterPhase = 0, clusterWaited = 0;

  /// What the last releasing fence handed over, to whom, and what was read
  /// from atomics since the last acquiring one.
  MessageRef released;
  Scope releasedTo = Scope::Device;
  std::vector<Heard> heard;
};

/// Lanes that must meet before any goes on (.sync.aligned and masks).
struct Rendezvous {
  uint32_t mask = 0, arrived = 0;
  uint64_t generation = 0;
  SiteId site = 0;
  /// What each lane hands in, by parity of the generation: a lane can be at
  /// most one meeting ahead of the slowest.
  struct Lane {
    uint64_t value;
    uint32_t registers[4];
  };
  std::array<std::array<Lane, 32>, 2> lanes;
  /// Operands of a multiplication in registers, decoded: 16 rows of A, then 8
  /// columns of B, each K long; by the same parity.
  std::array<std::vector<float>, 2> operands;
};

/// One shared-memory access of a warp, gathered lane by lane.
struct WarpAccess {
  uint32_t lanes = 0, bytes = 0;
  std::array<uint32_t, 32> offsets{};
};
/// All accesses of a warp by one op: the n-th of each lane belong together.
struct SiteAccesses {
  uint32_t first = 0; ///< turn of open.front()
  std::array<uint32_t, 32> turns{};
  std::deque<WarpAccess> open;
};

struct Warp {
  Cta *cta = nullptr;
  unsigned index = 0;      ///< in the CTA
  unsigned global = 0;     ///< in the machine
  uint32_t ready = 0;      ///< lanes that can run
  uint32_t alive = 0;      ///< lanes that have not exited
  uint32_t gridWaited = 0; ///< lanes behind a griddepcontrol.wait
  unsigned elected = 0;    ///< what elect.sync picks while that lane is alive
  std::vector<uint8_t> winners; ///< lane that won each election so far
  Channel channel = 0, storeChannel = 0, copyChannel = 0;
  VectorClock clock;
  uint64_t version = 1; ///< changes whenever `clock` does
  /// The last moment of the warp, and of its TMA stores, in global memory.
  struct GlobalMoment {
    uint32_t id = 0;
    Time time = 0;
  };
  std::array<GlobalMoment, 2> moments;
  uint32_t bulkGroups = 0;
  Time copyTime = 0;               ///< latest of the threads' asyncTime
  std::deque<Rendezvous> meetings; ///< one per mask; never moved
  std::unordered_map<SiteId, SiteAccesses> accesses; ///< statistics only

  Time now() const { return clock[channel]; }
  /// After a release: later actions are not covered by it.
  void tick() {
    ++clock[channel];
    ++version;
  }
};

struct Mbarrier {
  Cta *cta = nullptr;
  uint32_t offset = 0; ///< in the window
  bool initialized = false;
  bool fenced = false; ///< initialisation visible to the async proxy
  uint32_t count = 0;
  int64_t pending = 0, tx = 0;
  uint32_t phase = 0; ///< completed phases
  int channel = -1;   ///< -1: not tracked by the clocks
  uint64_t arrivalsSeen = 0;
  Time phaseTime = 0; ///< of `channel`, advanced at each completion
  VectorClock current, completed;
  std::vector<Thread *> waiters;
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
  uint64_t generation = 0;
  SiteId site = 0;
  VectorClock current;
  std::vector<Thread *> waiters;
};

/// Accumulators of one warpgroup: 64 rows of n floats.
struct AccumulatorSlot {
  bool used = false;
  uint64_t handle = 0; ///< the newest name of the value
  unsigned n = 0;
  bool undefined = true; ///< nothing written yet
  bool fromUndef = false;
  uint32_t lastGroup = 0; ///< commit group of the last WGMMA on it; 0: none
  bool lastCommitted = true;
  unsigned resolved = 0; ///< threads that took the value back
  std::vector<float> values;
};

struct WgmmaShape {
  uint16_t n = 0, k = 0;
  uint8_t typeA = 0, typeB = 0; ///< DType
  bool zero = false, transA = false, transB = false;
  bool operator==(const WgmmaShape &) const = default;
};

/// One entry of a warpgroup's stream.
struct WgmmaOp {
  enum class Kind : uint8_t { Undef, Registers, Multiply, Commit } kind;
  SiteId site = 0;
  uint16_t arrived = 0;
  uint16_t slot = 0;
  uint64_t handle = 0, input = 0;
  uint64_t descriptorA = 0, descriptorB = 0;
  WgmmaShape shape;
  std::vector<float> rows; ///< of A (64 x K) when it came in registers
  uint32_t group = 0;
  uint64_t warpsJoined = 0;
  VectorClock clock; ///< what all four warps have seen at issue
};

struct Warpgroup {
  Cta *cta = nullptr;
  unsigned index = 0;
  uint64_t firstOp = 0; ///< stream position of ops.front()
  std::deque<WgmmaOp> ops;
  uint64_t nextHandle = 1;
  uint64_t nextExecute = 0; ///< stream position of the next op to execute
  uint32_t groupsCreated = 0, groupsComplete = 0;
  std::vector<AccumulatorSlot> slots;
  std::vector<Thread *> waiters;
  unsigned threads = 128;
};

/// A copy under way.
struct TmaOp {
  bool load = true;
  SiteId site = 0;
  Thread *thread = nullptr;
  const EncodedTensorMap *map = nullptr; ///< null: one-dimensional copy
  uint64_t globalAddress = 0;
  std::array<int32_t, 5> coordinates{};
  Cta *cta = nullptr;     ///< source, or first destination
  uint16_t multicast = 0; ///< CTA mask of a load
  uint32_t offset = 0;    ///< in the window of each CTA
  uint32_t bytes = 0;
  uint32_t barrierOffset = 0;
  uint32_t group = 0; ///< bulk group of a store
  int reduction = -1; ///< NVVM's reduction kind; -1: plain store
  uint64_t id = 0;
};

struct Cta {
  Cluster *cluster = nullptr;
  unsigned rank = 0; ///< in the cluster
  int64_t index = 0; ///< in the grid
  SharedWindow shared;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::vector<std::unique_ptr<Mbarrier>> barriers;
  std::vector<Mbarrier *> barrierAt; ///< by offset / 8
  /// Where the time of each barrier channel goes on in the next CTA.
  std::array<Time, ChannelLayout::kBarriers> barrierTimes{};
  std::array<NamedBarrier, 16> named;
  std::vector<TmaOp> copies; ///< issued and not done
  unsigned alive = 0;
};

struct Cluster {
  int64_t index = 0;
  std::vector<Cta *> ctas;
  unsigned alive = 0, arrived = 0;
  uint32_t phase = 0;
  VectorClock current;
  std::vector<Thread *> waiters;
  std::vector<Acquired> acquired; ///< from other CTAs, through global memory
  /// When each warp that ran griddepcontrol.wait did so first.
  std::vector<std::pair<Channel, Time>> gridWaits;
  ChannelLayout channels;
  size_t channelCount = 0;
};

/// What a launch asks of a machine.
struct LaunchShape {
  int threads = 0;
  int clusterSize = 1;
  int64_t grid = 0;
  int64_t sharedBytes = 0;
  void (*entry)(void **) = nullptr;
  void **arguments = nullptr;
  const std::vector<Site> *sites = nullptr;
  GlobalMemory *global = nullptr; ///< null: not tracked
  bool asyncCopies = false;       ///< the kernel holds cp.async
  /// The kernel in front may still run when this one starts.
  bool overlapsPrevious = false;
};

/// A small fast generator; every decision of a run comes from one of these.
struct Random {
  uint64_t state = 1;
  void seed(uint64_t s);
  uint32_t next();
  uint32_t below(uint32_t n) {
    return static_cast<uint32_t>((uint64_t(next()) * n) >> 32);
  }
};

/// Runs groups of clusters on one host thread.
struct Machine {
  const EmulatorOptions *options = nullptr;
  LaunchShape launch;
  Random random;
  StackPool stacks;
  SharedArena arena;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Warp *> warps;
  std::vector<uint64_t> readyWarps; ///< bit set by Warp::global
  unsigned activeClusters = 0, activeCtas = 0;

  Context scheduler;
  Thread *current = nullptr;
  unsigned live = 0;
  std::vector<Thread *> yielded;
  std::vector<Thread *> copyThreads; ///< with asynchronous copies on their way
  uint64_t steps = 0, progress = 0, nextCopy = 1;
  size_t pendingCopies = 0;
  unsigned pendingWgmmas = 0;
  bool stopped = false;
  int policy = 0;
  std::vector<uint32_t> priority;
  unsigned nextWarp = 0;

  /// First WGMMA read of a row of A that nothing has written; site 0: none.
  /// Rows of a product are independent, so it is a fault only if what came of
  /// it is stored.
  struct {
    SiteId site = 0;
    std::string text;
  } unwrittenRead;
  std::vector<Finding> findings;
  std::unordered_map<std::string, size_t> findingIndex;
  EmulatorStatistics statistics;
  Timeline timeline;
  /// Operands of the running WGMMA.
  std::vector<float> scratchA, scratchB, scratchRows;

  // Scheduler.cpp
  Status prepare(const EmulatorOptions &opts, const LaunchShape &shape,
                 unsigned clustersAtOnce);
  /// Runs clusters [first, first + count) together to their end.
  void runClusters(int64_t first, unsigned count);
  void setupCluster(Cluster &cluster, int64_t index, unsigned firstCta);
  void schedule();
  Warp *pickWarp();
  bool runOneAsync();
  void block(Thread &thread, Wait wait, SiteId site, uint64_t key,
             uint32_t phase = 0);
  void wake(Thread &thread);
  void step(SiteId site);
  void yield(SiteId site);
  [[noreturn]] void exitThread(Thread &thread);
  void switchOut();
  void meet(Thread &thread, uint32_t mask, SiteId site);
  Rendezvous &meeting(Warp &warp, uint32_t mask);
  void finishCta(Cta &cta);
  void reportDeadlock(const char *headline, FindingKind kind);

  // Report.cpp
  void report(FindingKind kind, SiteId site, std::string message,
              bool fatal = false);
  std::string siteText(SiteId site) const;

  // Statistics.cpp
  void countShared(Thread &thread, uint64_t address, uint32_t bytes, bool write,
                   SiteId site);
  void finishStatistics();

  // Mbarrier.cpp
  Mbarrier *barrier(uint64_t address, SiteId site, bool needInit = true);
  Cta *ctaOf(uint64_t address);
  void barrierInit(uint64_t address, uint32_t count, SiteId site);
  void barrierArrive(Mbarrier &bar, const VectorClock *clock, uint32_t count,
                     SiteId site);
  void barrierTx(Mbarrier &bar, int64_t delta, SiteId site);
  void barrierCheckPhase(Mbarrier &bar);
  Mbarrier *barrierAsked(uint64_t address, SiteId site);
  void barrierWait(uint64_t address, uint32_t parity, SiteId site);
  /// Whether the phase is complete, for a thread that does not wait. With lazy
  /// effects the first answer is no, unless the thread already knows better:
  /// the last copy may come right behind it.
  bool barrierTest(uint64_t address, uint32_t parity, SiteId site);
  void acquire(Warp &warp, const Mbarrier &bar);
  void namedBarrier(uint32_t id, uint32_t count, bool wait, SiteId site);
  /// `relaxed`: orders nothing.
  void clusterArrive(bool relaxed, SiteId site);
  void clusterWait(SiteId site);
  void gridWait();
  /// Reports an access to global memory that no griddepcontrol.wait precedes.
  void checkGridWait(SiteId site);

  // Tma.cpp
  /// `coordinates`: how many the op has (tensor copies).
  void issueCopy(TmaOp op, int coordinates);
  /// False (and the run stops) when the range is in no allocation.
  bool checkGlobal(uint64_t address, uint64_t bytes, bool write, SiteId site);
  /// The global memory a copy reads or writes, when it is tracked.
  void touchBox(const TmaOp &op);
  void runCopy(TmaOp &op);
  void bulkCommit(SiteId site);
  void bulkWait(uint32_t pending, bool readOnly, SiteId site);

  // AsyncCopy.cpp
  /// `valid` of the bytes come from memory, the rest is zero.
  void asyncCopy(uint64_t to, uint64_t from, uint32_t bytes, uint32_t valid,
                 SiteId site);
  void asyncCommit(SiteId site);
  void asyncWait(uint32_t pending, SiteId site);
  /// `noIncrement`: the arrival is one that the barrier counts on already.
  void asyncArrive(uint64_t address, bool noIncrement, SiteId site);
  void runAsyncCopy(Thread &thread, size_t index);

  // WarpMma.cpp
  /// One lane's part of D(16x8) = A(16xK) B(Kx8) + C (dgemm.mma_sync).
  void warpMultiply(const uint32_t *a, const uint32_t *b, const float *c,
                    float *d, unsigned k, DType typeA, DType typeB,
                    SiteId site);

  // Wgmma.cpp
  uint64_t wgmmaUndef(uint32_t n, SiteId site);
  uint64_t wgmmaHand(const float *values, uint32_t n, SiteId site);
  /// A from `registersA`, the thread's four, when given; else by descriptor.
  uint64_t wgmmaMultiply(uint64_t a, uint64_t b, uint64_t input,
                         const WgmmaShape &shape, SiteId site,
                         const uint32_t *registersA = nullptr);
  void wgmmaCommit(SiteId site);
  void wgmmaWait(uint32_t pending, SiteId site);
  void wgmmaResolve(uint64_t handle, float *values, uint32_t n,
                    uint32_t pending, SiteId site);
  bool runWgmma(Warpgroup &group);
  WgmmaOp *wgmmaOp(Thread &thread, WgmmaOp::Kind kind, SiteId site,
                   bool &first);
  void wgmmaArrived(Warpgroup &group, WgmmaOp &op);
};

/// The machine of the running host thread.
extern thread_local Machine *machine;

std::string plural(int64_t n, const char *what);

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_MACHINE_H
