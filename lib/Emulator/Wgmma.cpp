// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// WGMMA. The 128 threads of a warpgroup go through one stream of operations,
// each at its own pace; an operation is issued when the last of them reached
// it, and executed in stream order when the scheduler says so. An accumulator
// in flight is a handle that names a 64xN slot and is renewed by every WGMMA.

#include "Machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dgemm;
using namespace dgemm::emu;

static Warpgroup &groupOf(Thread &thread) {
  return thread.cta->warpgroups[thread.tid / 128];
}

static unsigned padded(unsigned n) { return (n + 15) / 16 * 16; }

static std::string groupName(const Warpgroup &group) {
  return "warpgroup " + std::to_string(group.index) + " of CTA " +
         std::to_string(group.cta->index);
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

WgmmaOp *Machine::wgmmaOp(Thread &thread, WgmmaOp::Kind kind, SiteId site,
                          bool &first) {
  Warpgroup &group = groupOf(thread);
  const uint64_t position = thread.wgmmaOps++;
  first = position == group.firstOp + group.ops.size();
  if (first) {
    WgmmaOp op{};
    op.kind = kind;
    op.site = site;
    group.ops.push_back(std::move(op));
  }
  WgmmaOp &op = group.ops[position - group.firstOp];
  if (op.kind != kind || op.site != site) {
    report(FindingKind::Divergence, site,
           "the threads of " + groupName(group) +
               " do not go through the same WGMMA operations: thread " +
               std::to_string(thread.tid) + " is here where others were at " +
               siteText(op.site),
           true);
    return nullptr;
  }
  return &op;
}

/// Passes over everything at the head that needs no execution.
static void advance(Machine &m, Warpgroup &group) {
  bool woke = false;
  while (group.nextExecute < group.firstOp + group.ops.size()) {
    WgmmaOp &op = group.ops[group.nextExecute - group.firstOp];
    if (op.arrived < group.threads || op.kind == WgmmaOp::Kind::Multiply)
      break;
    if (op.kind == WgmmaOp::Kind::Commit) {
      group.groupsComplete = op.group;
      woke = true;
      ++m.progress;
    }
    ++group.nextExecute;
  }
  // Entries before the next to execute have been seen by all threads.
  while (group.firstOp < group.nextExecute) {
    group.ops.pop_front();
    ++group.firstOp;
  }
  if (!woke)
    return;
  std::vector<Thread *> waiters;
  waiters.swap(group.waiters);
  for (Thread *thread : waiters)
    m.wake(*thread);
}

void Machine::wgmmaArrived(Warpgroup &group, WgmmaOp &op) {
  if (++op.arrived < group.threads)
    return;
  if (op.kind == WgmmaOp::Kind::Multiply) {
    ++pendingWgmmas;
    if (options->order == AsyncOrder::Eager)
      runWgmma(group);
    return;
  }
  advance(*this, group);
}

/// A slot for a fresh value; slots whose value died unseen are reused.
static uint16_t takeSlot(Warpgroup &group, unsigned n) {
  constexpr size_t kManySlots = 48;
  size_t index = group.slots.size();
  for (size_t i = 0; i < group.slots.size(); ++i)
    if (!group.slots[i].used) {
      index = i;
      break;
    }
  if (index == group.slots.size() && index >= kManySlots) {
    for (size_t i = 0; i < group.slots.size(); ++i)
      if (group.slots[i].lastGroup <= group.groupsComplete &&
          (index == group.slots.size() ||
           group.slots[i].handle < group.slots[index].handle))
        index = i;
  }
  if (index == group.slots.size())
    group.slots.emplace_back();
  AccumulatorSlot &slot = group.slots[index];
  slot.used = true;
  slot.handle = group.nextHandle++;
  slot.n = n;
  slot.undefined = true;
  slot.fromUndef = false;
  slot.lastGroup = 0;
  slot.resolved = 0;
  slot.values.resize(64 * padded(n));
  return uint16_t(index);
}

static AccumulatorSlot *findSlot(Warpgroup &group, uint64_t handle) {
  for (AccumulatorSlot &slot : group.slots)
    if (slot.used && slot.handle == handle)
      return &slot;
  return nullptr;
}

/// Calls f(index in the slot, index in the thread's registers): which values
/// of a 64xN accumulator a thread holds.
template <typename F>
static void forEachRegister(const Thread &thread, unsigned n, F f) {
  const unsigned warp = thread.tid % 128 / 32, lane = thread.lane;
  const unsigned stride = padded(n);
  const unsigned low = (16 * warp + lane / 4) * stride + 2 * (lane % 4);
  const unsigned high = low + 8 * stride;
  for (unsigned g = 0; g < n / 8; ++g) {
    f(low + 8 * g, 4 * g);
    f(low + 8 * g + 1, 4 * g + 1);
    f(high + 8 * g, 4 * g + 2);
    f(high + 8 * g + 1, 4 * g + 3);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

uint64_t Machine::wgmmaUndef(uint32_t n, SiteId site) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  bool first;
  WgmmaOp *op = wgmmaOp(thread, WgmmaOp::Kind::Undef, site, first);
  if (!op)
    return 0;
  if (first) {
    op->slot = takeSlot(group, n);
    group.slots[op->slot].fromUndef = true;
    op->handle = group.slots[op->slot].handle;
  }
  const uint64_t handle = op->handle;
  wgmmaArrived(group, *op);
  return handle;
}

uint64_t Machine::wgmmaHand(const float *values, uint32_t n, SiteId site) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  bool first;
  WgmmaOp *op = wgmmaOp(thread, WgmmaOp::Kind::Registers, site, first);
  if (!op)
    return 0;
  if (first) {
    op->slot = takeSlot(group, n);
    group.slots[op->slot].undefined = false;
    op->handle = group.slots[op->slot].handle;
  }
  float *slot = group.slots[op->slot].values.data();
  forEachRegister(thread, n,
                  [&](unsigned s, unsigned r) { slot[s] = values[r]; });
  const uint64_t handle = op->handle;
  wgmmaArrived(group, *op);
  return handle;
}

/// Chunks of 16 bytes of one operand, in the order of its rows.
struct OperandWalk {
  uint64_t descriptor;
  uint32_t start, leading, stride;
  int swizzle;

  explicit OperandWalk(uint64_t d) : descriptor(d) {
    start = uint32_t(d & 0x3FFF) << 4;
    leading = uint32_t(d >> 16 & 0x3FFF) << 4;
    stride = uint32_t(d >> 32 & 0x3FFF) << 4;
    constexpr int kSpans[4] = {0, 128, 64, 32};
    swizzle = kSpans[d >> 62];
  }
  uint32_t permute(uint32_t at) const {
    switch (swizzle) {
    case 128:
      return at ^ ((at >> 7 & 7) << 4);
    case 64:
      return at ^ ((at >> 7 & 3) << 4);
    case 32:
      return at ^ ((at >> 7 & 1) << 4);
    default:
      return at;
    }
  }
  /// K-major: chunk c (of two) of row r.
  uint32_t kMajor(unsigned r, unsigned c) const {
    if (swizzle == 0)
      return start + r / 8 * stride + r % 8 * 16 + c * leading;
    return permute(start + r / 8 * stride + r % 8 * uint32_t(swizzle) + c * 16);
  }
  /// M- or N-major, 16-bit elements: chunk c of eight rows, at depth k.
  uint32_t mnMajor(unsigned c, unsigned k) const {
    if (swizzle == 0)
      return start + c * stride + k % 8 * 16 + k / 8 * leading;
    const unsigned perSpan = unsigned(swizzle) / 16;
    return permute(start + c / perSpan * leading + c % perSpan * 16 +
                   k % 8 * uint32_t(swizzle) + k / 8 * stride);
  }
};

template <typename F>
static void forEachChunk(const OperandWalk &walk, bool mnMajor, unsigned rows,
                         unsigned k, F f) {
  if (mnMajor) {
    for (unsigned i = 0; i < k; ++i)
      for (unsigned c = 0; c < rows / 8; ++c)
        f(walk.mnMajor(c, i));
    return;
  }
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < 2; ++c)
      f(walk.kMajor(r, c));
}

/// Checks one operand of a WGMMA that all warps have issued.
static bool checkOperand(Machine &m, Warpgroup &group, const WgmmaOp &op,
                         char name, uint64_t descriptor, bool mnMajor,
                         unsigned rows, Time time) {
  const OperandWalk walk(descriptor);
  Cta &cta = *group.cta;
  const std::string who = std::string("WGMMA operand ") + name + ": ";
  const uint32_t span = walk.swizzle ? uint32_t(walk.swizzle) : 16;
  const uint32_t pattern = 8 * span;
  const uint32_t inSpan = walk.start % span;
  if ((descriptor >> 49 & 7) != 0 || (walk.start - inSpan) % pattern != 0) {
    m.report(FindingKind::BadDescriptor, op.site,
             who + "the matrix descriptor starts at shared memory byte " +
                 std::to_string(int64_t(walk.start) - kSharedBase) +
                 " (base offset " + std::to_string(descriptor >> 49 & 7) +
                 "); with " +
                 (walk.swizzle ? std::to_string(walk.swizzle) + "-byte swizzle"
                               : std::string("no swizzle")) +
                 " its rows must start at a multiple of " +
                 std::to_string(pattern) + " and the base offset be 0",
             true);
    return false;
  }
  bool inside = true;
  forEachChunk(walk, mnMajor, rows, op.shape.k, [&](uint32_t at) {
    if (!inside)
      return;
    if (!cta.shared.inside(at, 16)) {
      inside = false;
      m.report(FindingKind::OutOfBounds, op.site,
               who + "reads shared memory byte " +
                   std::to_string(int64_t(at) - kSharedBase) +
                   ": the kernel has " + std::to_string(m.launch.sharedBytes) +
                   " bytes of shared memory",
               true);
      return;
    }
    asyncTensorRead(m, cta, at, group.index, op.clock, time, op.site,
                    /*oneRow=*/!mnMajor);
  });
  return inside;
}

/// Rows of A that a thread holds, into `rows` (64 x K): the layout of
/// dgemm.mma_sync, warp after warp.
static void handRows(const Thread &thread, const uint32_t *registers,
                     const WgmmaShape &shape, std::vector<float> &rows) {
  rows.resize(64u * shape.k);
  const DType type = DType(shape.typeA);
  const unsigned bytes = unsigned(sizeOf(type)), perRegister = 4 / bytes;
  const unsigned row = thread.tid % 128 / 32 * 16 + thread.lane / 4;
  for (unsigned r = 0; r < 4; ++r) {
    float *to = &rows[(row + r % 2 * 8) * shape.k + r / 2 * 4 * perRegister +
                      thread.lane % 4 * perRegister];
    for (unsigned e = 0; e < perRegister; ++e)
      to[e] = decodeElement(
          reinterpret_cast<const unsigned char *>(registers + r) + e * bytes,
          type);
  }
}

uint64_t Machine::wgmmaMultiply(uint64_t a, uint64_t b, uint64_t input,
                                const WgmmaShape &shape, SiteId site,
                                const uint32_t *registersA) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  bool first;
  WgmmaOp *op = wgmmaOp(thread, WgmmaOp::Kind::Multiply, site, first);
  if (!op)
    return 0;
  if (first) {
    AccumulatorSlot *slot = findSlot(group, input);
    if (!slot || slot->n != shape.n || group.threads != 128) {
      report(FindingKind::Accumulator, site,
             !slot ? "WGMMA accumulates onto a value that has been handed on "
                     "or taken back already"
                   : "WGMMA of " + std::to_string(shape.n) + " columns by " +
                         groupName(group) + " onto accumulators of " +
                         std::to_string(slot->n) + " columns",
             true);
      return 0;
    }
    if (slot->undefined && !shape.zero && options->checks.accumulators)
      report(FindingKind::Accumulator, site,
             "WGMMA with scale_d = one onto accumulators that hold no value");
    if (slot->undefined && !shape.zero)
      std::fill(slot->values.begin(), slot->values.end(), NAN);
    op->slot = uint16_t(slot - group.slots.data());
    op->input = input;
    op->descriptorA = a;
    op->descriptorB = b;
    op->shape = shape;
    op->group = group.groupsCreated + 1;
    op->handle = slot->handle = group.nextHandle++;
    op->clock = thread.warp->clock;
    slot->undefined = false;
    slot->lastGroup = op->group;
  } else if (op->descriptorA != a || op->descriptorB != b ||
             op->input != input) {
    report(FindingKind::Divergence, site,
           "the threads of " + groupName(group) +
               " give different operands to one WGMMA: thread " +
               std::to_string(thread.tid) + " has descriptors " +
               std::to_string(a) + ", " + std::to_string(b) + ", others have " +
               std::to_string(op->descriptorA) + ", " +
               std::to_string(op->descriptorB),
           true);
    return 0;
  }
  if (options->checks.accumulators && !thread.fencedSinceResolve &&
      group.slots[op->slot].fromUndef)
    report(FindingKind::Accumulator, site,
           "WGMMA with no wgmma.fence since accumulators were last used as "
           "registers");
  if (registersA)
    handRows(thread, registersA, shape, op->rows);
  // All four warps read the operands, so all must know them to be there.
  const uint64_t warpBit = 1ull << (thread.warp->index % 4);
  if (!(op->warpsJoined & warpBit)) {
    op->warpsJoined |= warpBit;
    op->clock.meet(thread.warp->clock);
  }
  const uint64_t handle = op->handle;
  if (op->arrived + 1u == group.threads) {
    // Own actions are known to the warp itself only; what one of the four
    // warps wrote and fenced counts when the others have synchronised with it.
    const Time time = op->group;
    if ((!registersA &&
         !checkOperand(*this, group, *op, 'A', a, shape.transA, 64, time)) ||
        !checkOperand(*this, group, *op, 'B', b, shape.transB, shape.n, time))
      return 0;
    ++statistics.wgmmas;
    statistics.multiplyAdds += 64ull * shape.n * shape.k;
    timeline.multiply(group.cta->index, OperandWalk(registersA ? b : a).start,
                      OperandWalk(b).start, group.index);
  }
  wgmmaArrived(group, *op);
  return handle;
}

void Machine::wgmmaCommit(SiteId site) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  bool first;
  WgmmaOp *op = wgmmaOp(thread, WgmmaOp::Kind::Commit, site, first);
  if (!op)
    return;
  if (first)
    op->group = ++group.groupsCreated;
  thread.wgmmaCommitted = op->group;
  wgmmaArrived(group, *op);
}

void Machine::wgmmaWait(uint32_t pending, SiteId site) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  meet(thread, ~0u, site);
  const uint32_t target =
      thread.wgmmaCommitted > pending ? thread.wgmmaCommitted - pending : 0;
  while (group.groupsComplete < target) {
    group.waiters.push_back(&thread);
    block(thread, Wait::Wgmma, site, target);
  }
  // The wait covers what was read for this warp only.
  Warp &warp = *thread.warp;
  const Channel channel = thread.cta->cluster->channels.tensor(
      thread.cta->rank, group.index, warp.index % ChannelLayout::kQuarters);
  if (warp.clock[channel] < target) {
    warp.clock[channel] = target;
    ++warp.version;
  }
}

void Machine::wgmmaResolve(uint64_t handle, float *values, uint32_t n,
                           uint32_t pending, SiteId site) {
  Thread &thread = *current;
  Warpgroup &group = groupOf(thread);
  thread.fencedSinceResolve = false;
  AccumulatorSlot *slot = findSlot(group, handle);
  const uint32_t target =
      thread.wgmmaCommitted > pending ? thread.wgmmaCommitted - pending : 0;
  const bool early = slot && slot->lastGroup > target;
  if (!slot || early || slot->undefined || slot->n != n) {
    if (options->checks.accumulators)
      report(FindingKind::Accumulator, site,
             !slot ? "accumulators are taken back twice, or before the last "
                     "WGMMA on them"
             : early
                 ? "accumulators are read before the wait that covers them: " +
                       std::string("the last WGMMA on them is in group ") +
                       std::to_string(slot->lastGroup -
                                      (thread.wgmmaCommitted - pending)) +
                       " after those this wait completes"
                 : "accumulators are read that no WGMMA has written");
    std::fill(values, values + n / 2, NAN);
    return;
  }
  const float *from = slot->values.data();
  forEachRegister(thread, n,
                  [&](unsigned s, unsigned r) { values[r] = from[s]; });
  if (++slot->resolved == group.threads)
    slot->used = false;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Reads a 64xK operand as rows of K floats.
static void readRows(const SharedWindow &shared, const OperandWalk &walk,
                     bool mnMajor, unsigned rows, unsigned k, DType type,
                     float *out) {
  const float *table = byteTable(type);
  if (mnMajor) {
    for (unsigned i = 0; i < k; ++i)
      for (unsigned c = 0; c < rows / 8; ++c) {
        const unsigned char *chunk = shared.async + walk.mnMajor(c, i);
        for (unsigned e = 0; e < 8; ++e)
          out[(8 * c + e) * k + i] = decodeElement(chunk + 2 * e, type);
      }
    return;
  }
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < 2; ++c) {
      const unsigned char *chunk = shared.async + walk.kMajor(r, c);
      if (table) {
        for (unsigned e = 0; e < 16; ++e)
          out[r * k + 16 * c + e] = table[chunk[e]];
      } else if (type == DType::BF16) {
        for (unsigned e = 0; e < 8; ++e) {
          const uint32_t bits =
              uint32_t(chunk[2 * e]) << 16 | uint32_t(chunk[2 * e + 1]) << 24;
          std::memcpy(out + r * k + 8 * c + e, &bits, 4);
        }
      } else {
        for (unsigned e = 0; e < 8; ++e)
          out[r * k + 8 * c + e] = decodeElement(chunk + 2 * e, type);
      }
    }
}

bool Machine::runWgmma(Warpgroup &group) {
  advance(*this, group);
  if (group.nextExecute >= group.firstOp + group.ops.size())
    return false;
  WgmmaOp &op = group.ops[group.nextExecute - group.firstOp];
  if (op.kind != WgmmaOp::Kind::Multiply || op.arrived < group.threads)
    return false;
  const WgmmaShape &shape = op.shape;
  const SharedWindow &shared = group.cta->shared;
  AccumulatorSlot &slot = group.slots[op.slot];
  const unsigned stride = padded(shape.n);
  if (shape.zero)
    std::fill(slot.values.begin(), slot.values.end(), 0.0f);
  scratchRows.resize(256 * 64);
  scratchB.resize(64 * 256);
  const float *rows = op.rows.data();
  if (op.rows.empty()) {
    scratchA.resize(64 * 64);
    readRows(shared, OperandWalk(op.descriptorA), shape.transA, 64, shape.k,
             DType(shape.typeA), scratchA.data());
    rows = scratchA.data();
  }
  readRows(shared, OperandWalk(op.descriptorB), shape.transB, shape.n, shape.k,
           DType(shape.typeB), scratchRows.data());
  transpose(scratchRows.data(), int(shape.n), shape.k, scratchB.data(),
            int(stride));
  const bool fp8 = byteTable(DType(shape.typeA)) != nullptr;
  (fp8 && options->reducedFp8Accumulator ? multiplyAccumulateReduced
                                         : multiplyAccumulate)(
      slot.values.data(), rows, scratchB.data(), 64, shape.k, int(stride));
  ++group.nextExecute;
  --pendingWgmmas;
  advance(*this, group);
  return true;
}
