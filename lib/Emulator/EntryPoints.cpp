// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The C interface between lowered kernels and the machine: one function per
// kind of instruction, each with the site of the op as its last argument.

#include "EntryPoints.h"

#include "Machine.h"

#include <cmath>
#include <cstring>

using namespace dgemm;
using namespace dgemm::emu;

static Thread &self() { return *machine->current; }

//===----------------------------------------------------------------------===//
// Registers and addresses
//===----------------------------------------------------------------------===//

extern "C" {

static uint64_t emuShared() {
  return self().cta->shared.address() + kSharedBase;
}

static int32_t emuSreg(int32_t which) {
  const Thread &thread = self();
  const Cta &cta = *thread.cta;
  const LaunchShape &launch = machine->launch;
  switch (SpecialRegister(which)) {
  case SpecialRegister::TidX:
    return thread.tid;
  case SpecialRegister::NTidX:
    return launch.threads;
  case SpecialRegister::CtaIdX:
    return int32_t(cta.index);
  case SpecialRegister::NCtaIdX:
    return int32_t(launch.grid);
  case SpecialRegister::LaneId:
    return thread.lane;
  case SpecialRegister::WarpId:
    return int32_t(thread.warp->index);
  case SpecialRegister::WarpSize:
    return 32;
  case SpecialRegister::ClusterIdX:
    return int32_t(cta.cluster->index);
  case SpecialRegister::NClusterIdX:
    return int32_t(launch.grid / launch.clusterSize);
  case SpecialRegister::ClusterCtaRank:
  case SpecialRegister::ClusterCtaIdX:
    return int32_t(cta.rank);
  case SpecialRegister::ClusterNCtaRank:
  case SpecialRegister::ClusterNCtaIdX:
    return launch.clusterSize;
  case SpecialRegister::SmId:
    return int32_t(cta.index % machine->options->smCount);
  case SpecialRegister::NTidY:
  case SpecialRegister::NTidZ:
  case SpecialRegister::NCtaIdY:
  case SpecialRegister::NCtaIdZ:
  case SpecialRegister::ClusterNCtaIdYZ:
    return 1;
  case SpecialRegister::TidY:
  case SpecialRegister::TidZ:
  case SpecialRegister::CtaIdY:
  case SpecialRegister::CtaIdZ:
  case SpecialRegister::ClusterCtaIdYZ:
    return 0;
  }
  return 0;
}

static uint64_t emuMapa(uint64_t address, int32_t rank, int32_t site) {
  const Cta &cta = *self().cta;
  if (uint32_t(rank) >= cta.cluster->ctas.size()) {
    machine->report(FindingKind::OutOfBounds, SiteId(site),
                    "address in CTA rank " + std::to_string(rank) +
                        " of a cluster of " +
                        std::to_string(cta.cluster->ctas.size()),
                    true);
    return address;
  }
  return cta.cluster->ctas[size_t(rank)]->shared.address() +
         address % kWindowBytes;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void emuSharedAccess(uint64_t address, int32_t bytes, int32_t write,
                            int32_t site) {
  Machine &m = *machine;
  Thread &thread = self();
  genericAccess(m, thread, address, uint32_t(bytes), write, SiteId(site));
  if (m.options->statistics)
    m.countShared(thread, address, uint32_t(bytes), write, SiteId(site));
}

/// Bounds, alignment, order after the kernel in front, and traffic of a global
/// access.
static void checkGlobalAccess(Machine &m, uint64_t address, int32_t bytes,
                              bool write, int32_t alignment, int32_t site) {
  self().site = SiteId(site); // should the access itself fault
  m.checkGridWait(SiteId(site));
  if (m.options->checks.bounds && address % uint64_t(alignment) != 0)
    m.report(FindingKind::Misaligned, SiteId(site),
             std::string(write ? "store of " : "load of ") +
                 std::to_string(bytes) +
                 " bytes at a global address that is not a multiple of " +
                 std::to_string(alignment),
             true);
  if (!m.options->allocations.empty())
    m.checkGlobal(address, uint64_t(bytes), write, SiteId(site));
  (write ? m.statistics.globalStoreBytes : m.statistics.globalLoadBytes) +=
      uint64_t(bytes);
}

static void emuGlobalAccess(uint64_t address, int32_t bytes, int32_t write,
                            int32_t alignment, int32_t site) {
  Machine &m = *machine;
  checkGlobalAccess(m, address, bytes, write, alignment, site);
  if (m.launch.global)
    m.launch.global->touch(m, address, uint64_t(bytes), write, false,
                           SiteId(site));
}

/// Zero words when the predicate is false.
static void emuGlobalLoad(uint64_t address, int32_t bytes, int32_t predicate,
                          void *out, int32_t site) {
  if (!predicate) {
    std::memset(out, 0, size_t(bytes));
    return;
  }
  emuGlobalAccess(address, bytes, 0, bytes, site);
  std::memcpy(out, reinterpret_cast<const void *>(address), size_t(bytes));
}

static void emuGlobalAtomic(uint64_t address, int32_t bytes, int32_t kind,
                            int32_t order, int32_t scope, int32_t site) {
  Machine &m = *machine;
  const bool write = AtomicKind(kind) != AtomicKind::Load;
  checkGlobalAccess(m, address, bytes, write, bytes, site);
  if (m.launch.global)
    m.launch.global->atomic(m, address, uint32_t(bytes), AtomicKind(kind),
                            order, Scope(scope), SiteId(site));
}

static void emuFence(int32_t order, int32_t scope) {
  Machine &m = *machine;
  if (m.launch.global)
    m.launch.global->fence(m, order, Scope(scope));
}

static void emuStep(int32_t site) { machine->step(SiteId(site)); }
static void emuYield(int32_t site) { machine->yield(SiteId(site)); }
static void emuProgress() { ++machine->progress; }

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

static void emuMbarInit(uint64_t address, int32_t count, int32_t site) {
  machine->barrierInit(address, uint32_t(count), SiteId(site));
}

static void emuMbarInval(uint64_t address, int32_t site) {
  if (Mbarrier *bar = machine->barrier(address, SiteId(site)))
    bar->initialized = false;
}

static int64_t emuMbarArrive(uint64_t address, int32_t count, int32_t site) {
  Machine &m = *machine;
  Mbarrier *bar = m.barrier(address, SiteId(site));
  if (!bar)
    return 0;
  const int64_t state = bar->phase;
  Warp &warp = *self().warp;
  m.barrierArrive(*bar, &warp.clock, uint32_t(count), SiteId(site));
  warp.tick();
  return state;
}

static void emuMbarExpect(uint64_t address, int32_t bytes, int32_t site) {
  if (Mbarrier *bar = machine->barrier(address, SiteId(site)))
    machine->barrierTx(*bar, bytes, SiteId(site));
}

static int64_t emuMbarArriveExpect(uint64_t address, int32_t bytes,
                                   int32_t site) {
  emuMbarExpect(address, bytes, site);
  return emuMbarArrive(address, 1, site);
}

static void emuMbarWait(uint64_t address, int32_t parity, int32_t site) {
  Machine &m = *machine;
  m.barrierWait(address, uint32_t(parity), SiteId(site));
  Thread &thread = self();
  m.timeline.waited(thread.cta->index,
                    uint32_t(address - thread.cta->shared.address()),
                    thread.warp->index);
}

/// try_wait waits as long as it takes, which PTX allows; test_wait gives the
/// others a turn and answers.
static int32_t emuMbarTest(uint64_t address, int64_t state, int32_t mayWait,
                           int32_t site) {
  Machine &m = *machine;
  if (mayWait) {
    m.barrierWait(address, uint32_t(state & 1), SiteId(site));
    return 1;
  }
  return m.barrierTest(address, uint32_t(state & 1), SiteId(site));
}

static void fenceBarriers(Thread &thread) {
  for (uint32_t offset : thread.unfencedBarriers)
    if (Mbarrier *bar = thread.cta->barrierAt[offset / 8])
      bar->fenced = true;
  thread.unfencedBarriers.clear();
}

static void emuFenceMbarInit() { fenceBarriers(self()); }

static void emuFenceProxy() {
  fenceBarriers(self());
  proxyFence(self());
}

static void emuBarrier(int32_t id, int32_t count, int32_t wait, int32_t site) {
  machine->namedBarrier(uint32_t(id), uint32_t(count), wait, SiteId(site));
}

static void emuClusterArrive(int32_t relaxed, int32_t site) {
  machine->clusterArrive(relaxed, SiteId(site));
}
static void emuClusterWait(int32_t site) { machine->clusterWait(SiteId(site)); }
static void emuGridWait() { machine->gridWait(); }

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Offset of a shared address in the window of its CTA, which `cta` becomes.
static bool locate(uint64_t address, Cta *&cta, uint32_t &offset,
                   int32_t site) {
  self().site = SiteId(site);
  cta = machine->ctaOf(address);
  if (!cta || address % kWindowBytes < kSharedBase) {
    machine->report(FindingKind::OutOfBounds, SiteId(site),
                    "copy at an address outside shared memory", true);
    return false;
  }
  offset = uint32_t(address - cta->shared.address());
  return true;
}

static void emuTmaLoad(uint64_t to, const EncodedTensorMap *map,
                       uint64_t barrier, int32_t c0, int32_t c1, int32_t c2,
                       int32_t c3, int32_t c4, int32_t rank, int32_t mask,
                       int32_t site) {
  TmaOp op;
  op.site = SiteId(site);
  op.map = map;
  op.coordinates = {c0, c1, c2, c3, c4};
  op.multicast = uint16_t(mask);
  Cta *barrierCta;
  if (!locate(to, op.cta, op.offset, site) ||
      !locate(barrier, barrierCta, op.barrierOffset, site))
    return;
  machine->issueCopy(op, rank);
}

static void emuTmaStore(uint64_t from, const EncodedTensorMap *map, int32_t c0,
                        int32_t c1, int32_t c2, int32_t c3, int32_t c4,
                        int32_t rank, int32_t reduction, int32_t site) {
  TmaOp op;
  op.load = false;
  op.site = SiteId(site);
  op.map = map;
  op.coordinates = {c0, c1, c2, c3, c4};
  op.reduction = reduction;
  if (locate(from, op.cta, op.offset, site))
    machine->issueCopy(op, rank);
}

static void emuBulkLoad(uint64_t to, uint64_t from, uint64_t barrier,
                        int32_t bytes, int32_t mask, int32_t site) {
  TmaOp op;
  op.site = SiteId(site);
  op.globalAddress = from;
  op.bytes = uint32_t(bytes);
  op.multicast = uint16_t(mask);
  Cta *barrierCta;
  if (!locate(to, op.cta, op.offset, site) ||
      !locate(barrier, barrierCta, op.barrierOffset, site))
    return;
  machine->issueCopy(op, 0);
}

static void emuBulkStore(uint64_t to, uint64_t from, int32_t bytes,
                         int32_t site) {
  TmaOp op;
  op.load = false;
  op.site = SiteId(site);
  op.globalAddress = to;
  op.bytes = uint32_t(bytes);
  if (locate(from, op.cta, op.offset, site))
    machine->issueCopy(op, 0);
}

static void emuBulkCommit(int32_t site) { machine->bulkCommit(SiteId(site)); }
static void emuBulkWait(int32_t pending, int32_t readOnly, int32_t site) {
  machine->bulkWait(uint32_t(pending), readOnly, SiteId(site));
}

static void emuAsyncCopy(uint64_t to, uint64_t from, int32_t bytes,
                         int32_t valid, int32_t site) {
  machine->asyncCopy(to, from, uint32_t(bytes), uint32_t(valid), SiteId(site));
}
static void emuAsyncCommit(int32_t site) { machine->asyncCommit(SiteId(site)); }
static void emuAsyncWait(int32_t pending, int32_t site) {
  machine->asyncWait(uint32_t(pending), SiteId(site));
}
static void emuAsyncArrive(uint64_t address, int32_t noIncrement,
                           int32_t site) {
  machine->asyncArrive(address, noIncrement, SiteId(site));
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

static int32_t emuElect() {
  Thread &thread = self();
  Warp &warp = *thread.warp;
  // The lanes of a warp take part in an election together, but get here one
  // after the other: the first fixes the winner, who may have exited when the
  // last one comes.
  size_t election = thread.elections++;
  if (election == warp.winners.size()) {
    if (!(warp.alive >> warp.elected & 1))
      warp.elected = unsigned(__builtin_ctz(warp.alive));
    warp.winners.push_back(uint8_t(warp.elected));
  }
  return warp.winners[election] == thread.lane;
}

static void emuSyncWarp(int32_t mask, int32_t site) {
  machine->meet(self(), uint32_t(mask), SiteId(site));
}

/// Low half: the value; bit 32: whether the source lane was in range.
static int64_t emuShuffle(int32_t mask, int32_t value, int32_t offset,
                          int32_t clampAndMask, int32_t kind, int32_t site) {
  Thread &thread = self();
  Rendezvous &r = machine->meeting(*thread.warp, uint32_t(mask));
  const unsigned parity = r.generation & 1;
  r.lanes[parity][thread.lane].value = uint32_t(value);
  machine->meet(thread, uint32_t(mask), SiteId(site));
  const int lane = thread.lane;
  const int clamp = clampAndMask & 31, segment = clampAndMask >> 8 & 31;
  const int highest = (lane & segment) | (clamp & ~segment);
  const int lowest = lane & segment;
  const int amount = offset & 31;
  int source = lane;
  bool valid = false;
  switch (ShuffleKind(kind)) {
  case ShuffleKind::Up:
    source = lane - amount;
    valid = source >= highest;
    break;
  case ShuffleKind::Down:
    source = lane + amount;
    valid = source <= highest;
    break;
  case ShuffleKind::Butterfly:
    source = lane ^ amount;
    valid = source <= highest;
    break;
  case ShuffleKind::Index:
    source = lowest | (amount & ~segment);
    valid = source <= highest;
    break;
  }
  if (!valid)
    source = lane;
  const uint32_t result = uint32_t(r.lanes[parity][size_t(source)].value);
  return int64_t(result) | int64_t(valid) << 32;
}

static void emuStmatrix(uint64_t address, int32_t r0, int32_t r1, int32_t r2,
                        int32_t r3, int32_t count, int32_t transposed,
                        int32_t site) {
  Machine &m = *machine;
  Thread &thread = self();
  Rendezvous &r = m.meeting(*thread.warp, ~0u);
  const unsigned parity = r.generation & 1;
  Rendezvous::Lane &mine = r.lanes[parity][thread.lane];
  mine.value = address;
  mine.registers[0] = uint32_t(r0);
  mine.registers[1] = uint32_t(r1);
  mine.registers[2] = uint32_t(r2);
  mine.registers[3] = uint32_t(r3);
  m.meet(thread, ~0u, SiteId(site));
  // Lane i gives the address of row i % 8 of matrix i / 8 and writes it.
  const unsigned matrix = thread.lane / 8, row = thread.lane % 8;
  if (matrix >= unsigned(count))
    return;
  if (address % 16) {
    m.report(FindingKind::Misaligned, SiteId(site),
             "stmatrix row at an address that is not a multiple of 16", true);
    return;
  }
  emuSharedAccess(address, 16, 1, site);
  uint16_t values[8];
  for (unsigned column = 0; column < 8; ++column) {
    const unsigned holder =
        transposed ? column * 4 + row / 2 : row * 4 + column / 2;
    const unsigned half = (transposed ? row : column) % 2;
    values[column] =
        uint16_t(r.lanes[parity][holder].registers[matrix] >> (16 * half));
  }
  std::memcpy(reinterpret_cast<void *>(address), values, 16);
}

static void emuLdmatrix(uint64_t address, int32_t count, int32_t transposed,
                        uint32_t *out, int32_t site) {
  Machine &m = *machine;
  Thread &thread = self();
  Rendezvous &r = m.meeting(*thread.warp, ~0u);
  const unsigned parity = r.generation & 1;
  r.lanes[parity][thread.lane].value = address;
  if (int(thread.lane) < 8 * count)
    emuSharedAccess(address, 16, 0, site);
  m.meet(thread, ~0u, SiteId(site));
  for (unsigned matrix = 0; matrix < unsigned(count); ++matrix) {
    uint16_t pair[2];
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned first = thread.lane / 4,
                     second = thread.lane % 4 * 2 + half;
      const unsigned row = transposed ? second : first;
      const unsigned column = transposed ? first : second;
      std::memcpy(&pair[half],
                  reinterpret_cast<void *>(
                      r.lanes[parity][matrix * 8 + row].value + 2 * column),
                  2);
    }
    out[matrix] = uint32_t(pair[0]) | uint32_t(pair[1]) << 16;
  }
}

static void emuMma(const uint32_t *a, const uint32_t *b, const float *c,
                   float *d, int32_t k, int32_t typeA, int32_t typeB,
                   int32_t site) {
  machine->warpMultiply(a, b, c, d, unsigned(k), DType(typeA), DType(typeB),
                        SiteId(site));
}

//===----------------------------------------------------------------------===//
// WGMMA
//===----------------------------------------------------------------------===//

static int64_t emuWgmmaUndef(int32_t n, int32_t site) {
  return int64_t(machine->wgmmaUndef(uint32_t(n), SiteId(site)));
}
static int64_t emuWgmmaHand(const float *values, int32_t n, int32_t site) {
  return int64_t(machine->wgmmaHand(values, uint32_t(n), SiteId(site)));
}
static void emuWgmmaFence() { self().fencedSinceResolve = true; }
static WgmmaShape wgmmaShape(int32_t n, int32_t k, int32_t typeA, int32_t typeB,
                             int32_t flags) {
  WgmmaShape shape;
  shape.n = uint16_t(n);
  shape.k = uint16_t(k);
  shape.typeA = uint8_t(typeA);
  shape.typeB = uint8_t(typeB);
  shape.zero = flags & 1;
  shape.transA = flags & 2;
  shape.transB = flags & 4;
  return shape;
}
static int64_t emuWgmma(int64_t a, int64_t b, int64_t input, int32_t n,
                        int32_t k, int32_t typeA, int32_t typeB, int32_t flags,
                        int32_t site) {
  return int64_t(machine->wgmmaMultiply(
      uint64_t(a), uint64_t(b), uint64_t(input),
      wgmmaShape(n, k, typeA, typeB, flags), SiteId(site)));
}
static int64_t emuWgmmaRegisters(const uint32_t *a, int64_t b, int64_t input,
                                 int32_t n, int32_t k, int32_t typeA,
                                 int32_t typeB, int32_t flags, int32_t fenced,
                                 int32_t site) {
  if (!fenced && machine->options->checks.accumulators)
    machine->report(FindingKind::Accumulator, SiteId(site),
                    "A comes in registers that no wgmma.fence has pinned since "
                    "they were written");
  return int64_t(machine->wgmmaMultiply(0, uint64_t(b), uint64_t(input),
                                        wgmmaShape(n, k, typeA, typeB, flags),
                                        SiteId(site), a));
}
static void emuWgmmaCommit(int32_t site) { machine->wgmmaCommit(SiteId(site)); }
static void emuWgmmaWait(int32_t pending, int32_t site) {
  machine->wgmmaWait(uint32_t(pending), SiteId(site));
}
static void emuWgmmaResolve(int64_t handle, float *values, int32_t n,
                            int32_t pending, int32_t site) {
  machine->wgmmaResolve(uint64_t(handle), values, uint32_t(n),
                        uint32_t(pending), SiteId(site));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static float relued(float value, int32_t relu) {
  return relu && !(value > 0) && !std::isnan(value) ? 0.0f : value;
}
static int32_t emuBF16x2(float high, float low, int32_t relu) {
  return int32_t(uint32_t(encodeBF16(relued(high, relu))) << 16 |
                 encodeBF16(relued(low, relu)));
}
static int32_t emuF16x2(float high, float low, int32_t relu) {
  return int32_t(uint32_t(encodeF16(relued(high, relu))) << 16 |
                 encodeF16(relued(low, relu)));
}
static int32_t emuF8x2(float high, float low, int32_t type, int32_t relu) {
  // PTX has the saturating form only.
  return int32_t(uint32_t(encodeF8(relued(high, relu), DType(type), true))
                     << 8 |
                 encodeF8(relued(low, relu), DType(type), true));
}
static int32_t emuBF16(float value) { return encodeBF16(value); }
static int32_t emuF16(float value) { return encodeF16(value); }
static float emuRcp(float value) { return approximateReciprocal(value); }

} // extern "C"

template <typename F> static void *address(F *function) {
  return reinterpret_cast<void *>(function);
}

const std::vector<EntryPoint> &emu::entryPoints() {
  static const std::vector<EntryPoint> table = {
      {"emu_shared", address(emuShared)},
      {"emu_sreg", address(emuSreg)},
      {"emu_mapa", address(emuMapa)},
      {"emu_shared_access", address(emuSharedAccess)},
      {"emu_global_access", address(emuGlobalAccess)},
      {"emu_global_load", address(emuGlobalLoad)},
      {"emu_global_atomic", address(emuGlobalAtomic)},
      {"emu_fence", address(emuFence)},
      {"emu_step", address(emuStep)},
      {"emu_yield", address(emuYield)},
      {"emu_progress", address(emuProgress)},
      {"emu_mbar_init", address(emuMbarInit)},
      {"emu_mbar_inval", address(emuMbarInval)},
      {"emu_mbar_arrive", address(emuMbarArrive)},
      {"emu_mbar_expect", address(emuMbarExpect)},
      {"emu_mbar_arrive_expect", address(emuMbarArriveExpect)},
      {"emu_mbar_wait", address(emuMbarWait)},
      {"emu_mbar_test", address(emuMbarTest)},
      {"emu_fence_mbar_init", address(emuFenceMbarInit)},
      {"emu_fence_proxy", address(emuFenceProxy)},
      {"emu_barrier", address(emuBarrier)},
      {"emu_cluster_arrive", address(emuClusterArrive)},
      {"emu_cluster_wait", address(emuClusterWait)},
      {"emu_grid_wait", address(emuGridWait)},
      {"emu_tma_load", address(emuTmaLoad)},
      {"emu_tma_store", address(emuTmaStore)},
      {"emu_bulk_load", address(emuBulkLoad)},
      {"emu_bulk_store", address(emuBulkStore)},
      {"emu_bulk_commit", address(emuBulkCommit)},
      {"emu_bulk_wait", address(emuBulkWait)},
      {"emu_async_copy", address(emuAsyncCopy)},
      {"emu_async_commit", address(emuAsyncCommit)},
      {"emu_async_wait", address(emuAsyncWait)},
      {"emu_async_arrive", address(emuAsyncArrive)},
      {"emu_elect", address(emuElect)},
      {"emu_syncwarp", address(emuSyncWarp)},
      {"emu_shuffle", address(emuShuffle)},
      {"emu_stmatrix", address(emuStmatrix)},
      {"emu_ldmatrix", address(emuLdmatrix)},
      {"emu_mma", address(emuMma)},
      {"emu_wgmma_undef", address(emuWgmmaUndef)},
      {"emu_wgmma_hand", address(emuWgmmaHand)},
      {"emu_wgmma_fence", address(emuWgmmaFence)},
      {"emu_wgmma", address(emuWgmma)},
      {"emu_wgmma_registers", address(emuWgmmaRegisters)},
      {"emu_wgmma_commit", address(emuWgmmaCommit)},
      {"emu_wgmma_wait", address(emuWgmmaWait)},
      {"emu_wgmma_resolve", address(emuWgmmaResolve)},
      {"emu_bf16x2", address(emuBF16x2)},
      {"emu_f16x2", address(emuF16x2)},
      {"emu_f8x2", address(emuF8x2)},
      {"emu_bf16", address(emuBF16)},
      {"emu_f16", address(emuF16)},
      {"emu_rcp", address(emuRcp)},
  };
  return table;
}
