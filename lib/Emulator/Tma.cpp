// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk and tensor copies between global and shared memory. A copy is checked
// when it is issued and takes effect when the scheduler says so.

#include "Machine.h"

#include <algorithm>
#include <cstring>

using namespace dgemm;
using namespace dgemm::emu;

//===----------------------------------------------------------------------===//
// Walking a box
//===----------------------------------------------------------------------===//

/// Where a 16-byte chunk at linear `offset` really lies: TMA permutes the
/// chunks of each swizzle span by the row, counted on the address itself.
static uint32_t swizzled(uint32_t offset, int swizzle) {
  switch (swizzle) {
  case 128:
    return offset ^ ((offset >> 7 & 7) << 4);
  case 64:
    return offset ^ ((offset >> 7 & 3) << 4);
  case 32:
    return offset ^ ((offset >> 7 & 1) << 4);
  default:
    return offset;
  }
}

/// Calls row(sharedOffset, global address or null, first valid element,
/// one past the last) for each row of the box.
template <typename Row> static void forEachRow(const TmaOp &op, Row row) {
  const TensorMapValues &map = *op.map->values;
  const size_t rank = map.dims.size();
  const uint32_t rowBytes = uint32_t(map.box[0] * op.map->elementBytes);
  const int64_t x = op.coordinates[0];
  const int64_t first = std::clamp<int64_t>(-x, 0, map.box[0]);
  const int64_t last =
      std::clamp<int64_t>(int64_t(map.dims[0]) - x, 0, map.box[0]);
  std::array<uint32_t, 5> index{};
  uint32_t offset = op.offset;
  while (true) {
    bool inside = first < last;
    uint64_t address = map.base + uint64_t(x * op.map->elementBytes);
    for (size_t d = 1; d < rank; ++d) {
      const int64_t at = int64_t(op.coordinates[d]) + index[d];
      if (at < 0 || at >= int64_t(map.dims[d]))
        inside = false;
      else
        address += uint64_t(at) * map.stridesBytes[d - 1];
    }
    row(offset, inside ? address : 0, first, last);
    offset += rowBytes;
    size_t d = 1;
    for (; d < rank; ++d) {
      if (++index[d] < map.box[d])
        break;
      index[d] = 0;
    }
    if (d >= rank)
      return;
  }
}

static void writeBoth(SharedWindow &shared, uint32_t offset, const void *data,
                      uint32_t bytes) {
  std::memcpy(shared.generic + offset, data, bytes);
  std::memcpy(shared.async + offset, data, bytes);
}

static void loadBox(const TmaOp &op, Cta &cta) {
  SharedWindow &shared = cta.shared;
  if (!op.map) {
    writeBoth(shared, op.offset, reinterpret_cast<void *>(op.globalAddress),
              op.bytes);
    return;
  }
  const TensorMapValues &map = *op.map->values;
  const int64_t element = op.map->elementBytes;
  const uint32_t rowBytes = uint32_t(map.box[0] * element);
  alignas(16) unsigned char buffer[256 * 8];
  forEachRow(
      op, [&](uint32_t offset, uint64_t global, int64_t first, int64_t last) {
        const unsigned char *data = reinterpret_cast<unsigned char *>(global);
        if (!global || first != 0 || last != int64_t(map.box[0])) {
          std::memset(buffer, 0, rowBytes);
          if (global)
            std::memcpy(buffer + first * element, data + first * element,
                        size_t((last - first) * element));
          data = buffer;
        }
        if (map.swizzle == 0) {
          writeBoth(shared, offset, data, rowBytes);
          return;
        }
        for (uint32_t c = 0; c < rowBytes; c += 16) {
          const uint32_t at = swizzled(offset + c, map.swizzle);
          std::memcpy(shared.generic + at, data + c, 16);
          std::memcpy(shared.async + at, data + c, 16);
        }
      });
}

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

/// NVVM's TMAReduxKind: 0 add, 1 min, 2 max.
template <typename T> static T combine(int kind, T a, T b) {
  return kind == 0 ? T(a + b) : kind == 1 ? std::min(a, b) : std::max(a, b);
}

static void reduceElement(int kind, DType type, unsigned char *to,
                          const unsigned char *from) {
  if (type == DType::I32) {
    int32_t a, b;
    std::memcpy(&a, to, 4);
    std::memcpy(&b, from, 4);
    a = combine(kind, a, b);
    std::memcpy(to, &a, 4);
    return;
  }
  const float value =
      combine(kind, decodeElement(to, type), decodeElement(from, type));
  if (type == DType::F32) {
    std::memcpy(to, &value, 4);
  } else if (type == DType::BF16) {
    const uint16_t bits = encodeBF16(value);
    std::memcpy(to, &bits, 2);
  } else {
    const uint16_t bits = encodeF16(value);
    std::memcpy(to, &bits, 2);
  }
}

static void storeBox(const TmaOp &op) {
  const SharedWindow &shared = op.cta->shared;
  if (!op.map) {
    std::memcpy(reinterpret_cast<void *>(op.globalAddress),
                shared.async + op.offset, op.bytes);
    return;
  }
  const TensorMapValues &map = *op.map->values;
  const int64_t element = op.map->elementBytes;
  const uint32_t rowBytes = uint32_t(map.box[0] * element);
  alignas(16) unsigned char buffer[256 * 8];
  forEachRow(
      op, [&](uint32_t offset, uint64_t global, int64_t first, int64_t last) {
        if (!global)
          return;
        unsigned char *to = reinterpret_cast<unsigned char *>(global);
        for (uint32_t c = 0; c < rowBytes; c += 16)
          std::memcpy(buffer + c,
                      shared.async + swizzled(offset + c, map.swizzle), 16);
        if (op.reduction < 0) {
          std::memcpy(to + first * element, buffer + first * element,
                      size_t((last - first) * element));
          return;
        }
        for (int64_t i = first; i < last; ++i)
          reduceElement(op.reduction, map.type, to + i * element,
                        buffer + i * element);
      });
}

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

static std::string copyName(const TmaOp &op) {
  return op.load ? "TMA load" : op.reduction >= 0 ? "TMA reduce" : "TMA store";
}

bool Machine::checkGlobal(uint64_t address, uint64_t bytes, bool write,
                          SiteId site) {
  const DeviceAllocation *nearest = nullptr;
  for (const DeviceAllocation &a : options->allocations) {
    if (address >= a.address && bytes <= a.bytes &&
        address + bytes <= a.address + a.bytes)
      return true;
    if (address >= a.address && (!nearest || a.address > nearest->address))
      nearest = &a;
  }
  std::string text = std::string(write ? "store of " : "load of ") +
                     std::to_string(bytes) + " bytes of global memory";
  if (nearest)
    text += ", " + std::to_string(address - nearest->address) +
            " bytes from the start of '" + nearest->name + "' (" +
            std::to_string(nearest->bytes) + " bytes long)";
  report(FindingKind::OutOfBounds, site, text + ": outside every buffer", true);
  return false;
}

/// Checks the tensor map and fills op.bytes; false when the run stops.
static bool checkMap(Machine &m, TmaOp &op, int coordinates) {
  if (op.map->magic != EncodedTensorMap::kMagic) {
    m.report(FindingKind::BadDescriptor, op.site,
             copyName(op) + " through an address that holds no tensor map",
             true);
    return false;
  }
  const TensorMapValues &map = *op.map->values;
  if (int(map.dims.size()) != coordinates) {
    m.report(FindingKind::BadDescriptor, op.site,
             copyName(op) + " with " + plural(coordinates, "coordinate") +
                 " through the tensor map of " + toString(map.operand) +
                 ", which has " + plural(int64_t(map.dims.size()), "dimension"),
             true);
    return false;
  }
  if (op.map->bytesOutside) {
    m.report(FindingKind::OutOfBounds, op.site,
             "the tensor map of operand " + std::string(toString(map.operand)) +
                 " covers " + std::to_string(op.map->bytesOutside) +
                 " bytes, which no buffer of the launch holds",
             true);
    return false;
  }
  uint64_t bytes = uint64_t(op.map->elementBytes);
  for (uint32_t extent : map.box)
    bytes *= extent;
  op.bytes = uint32_t(bytes);
  return true;
}

/// The barrier a load completes on in `cta`; null when the run stops.
static Mbarrier *completionBarrier(Machine &m, const TmaOp &op, Cta &cta) {
  Mbarrier *bar = m.barrier(cta.shared.address() + op.barrierOffset, op.site);
  if (bar && !bar->fenced && m.options->checks.proxy)
    m.report(FindingKind::ProxyFence, op.site,
             "TMA load completes on the mbarrier at byte " +
                 std::to_string(op.barrierOffset - kSharedBase) + " of CTA " +
                 std::to_string(cta.index) +
                 ", whose initialisation no fence has made visible to the "
                 "async proxy");
  return bar;
}

void Machine::touchBox(const TmaOp &op) {
  if (!launch.global)
    return;
  const bool write = !op.load;
  const bool atomic = op.reduction >= 0;
  const Time time = write ? current->warp->bulkGroups + 1 : 0;
  if (!op.map) {
    launch.global->touch(*this, op.globalAddress, op.bytes, write, atomic,
                         op.site, time);
    return;
  }
  if (!write && !launch.global->written(op.map->values->base))
    return;
  const int64_t element = op.map->elementBytes;
  forEachRow(op, [&](uint32_t, uint64_t address, int64_t first, int64_t last) {
    if (address)
      launch.global->touch(*this, address + uint64_t(first * element),
                           uint64_t((last - first) * element), write, atomic,
                           op.site, time);
  });
}

void Machine::issueCopy(TmaOp op, int coordinates) {
  Thread &thread = *current;
  Cta &cta = *thread.cta;
  Cluster &cluster = *cta.cluster;
  op.thread = &thread;
  op.id = nextCopy++;
  if (op.map && !checkMap(*this, op, coordinates))
    return;
  const uint32_t alignment = op.map ? 128 : 16;
  const uint32_t position = op.offset - kSharedBase;
  if (position % alignment) {
    report(FindingKind::Misaligned, op.site,
           copyName(op) + " at shared memory byte " + std::to_string(position) +
               ": the address must be a multiple of " +
               std::to_string(alignment),
           true);
    return;
  }
  if (!op.cta->shared.inside(op.offset, op.bytes)) {
    report(FindingKind::OutOfBounds, op.site,
           copyName(op) + " of " + std::to_string(op.bytes) +
               " bytes at shared memory byte " + std::to_string(position) +
               ": the kernel has " + std::to_string(launch.sharedBytes) +
               " bytes of shared memory",
           true);
    return;
  }
  if (!op.map && options->allocations.size() &&
      !checkGlobal(op.globalAddress, op.bytes, !op.load, op.site))
    return;
  Warp &warp = *thread.warp;
  checkGridWait(op.site);
  touchBox(op);

  if (!op.load) {
    op.group = thread.bulkCommitted + 1;
    ++thread.bulkOpen;
    const Time time = warp.bulkGroups + 1;
    asyncStoreRead(*this, cta, op.offset, op.bytes, warp.clock,
                   warp.storeChannel, time, op.site);
    ++statistics.tmaStores;
    statistics.tmaStoreBytes += op.bytes;
    timeline.store(cta.index, op.offset, op.bytes, warp.index);
  } else {
    if (op.multicast >> cluster.ctas.size()) {
      report(FindingKind::BadDescriptor, op.site,
             "multicast mask " + std::to_string(op.multicast) +
                 " names a CTA that the cluster of " +
                 std::to_string(cluster.ctas.size()) + " does not have",
             true);
      return;
    }
    ++statistics.tmaLoads;
    statistics.tmaLoadBytes += op.bytes;
    for (Cta *target : cluster.ctas) {
      if (op.multicast ? !(op.multicast >> target->rank & 1) : target != op.cta)
        continue;
      Mbarrier *bar = completionBarrier(*this, op, *target);
      if (!bar)
        return;
      const bool tracked = bar->channel >= 0;
      asyncWrite(*this, *target, op.offset, op.bytes, warp.clock,
                 tracked ? Channel(bar->channel) : warp.channel,
                 tracked ? bar->phaseTime + 1 : 0, op.site);
      // Whoever reads before the copy completes reads NaN.
      std::memset(target->shared.generic + op.offset, 0xFF, op.bytes);
      std::memset(target->shared.async + op.offset, 0xFF, op.bytes);
      timeline.load(target->index, op.offset, op.bytes, op.barrierOffset,
                    warp.index);
    }
  }
  if (options->order == AsyncOrder::Eager) {
    runCopy(op);
    return;
  }
  op.cta->copies.push_back(op);
  ++pendingCopies;
}

/// All copies of this thread in groups up to `group` are done.
static bool bulkDone(const Thread &thread, uint32_t group) {
  for (const TmaOp &op : thread.cta->copies)
    if (!op.load && op.thread == &thread && op.group <= group)
      return false;
  return true;
}

void Machine::runCopy(TmaOp &op) {
  if (op.load) {
    for (Cta *target : op.cta->cluster->ctas) {
      if (op.multicast ? !(op.multicast >> target->rank & 1) : target != op.cta)
        continue;
      if (target->alive == 0)
        report(FindingKind::ClusterExit, op.site,
               "TMA load completes in CTA " + std::to_string(target->index) +
                   ", whose threads have all exited");
      loadBox(op, *target);
      Mbarrier *bar = target->barrierAt[op.barrierOffset / 8];
      timeline.loadDone(target->index, op.offset);
      if (bar)
        barrierTx(*bar, -int64_t(op.bytes), op.site);
    }
    return;
  }
  storeBox(op);
  Thread &thread = *op.thread;
  if (thread.wait == Wait::Bulk && bulkDone(thread, uint32_t(thread.waitKey)))
    wake(thread);
}

void Machine::bulkCommit(SiteId site) {
  Thread &thread = *current;
  thread.site = site;
  ++thread.bulkCommitted;
  thread.bulkOpen = 0;
  thread.bulkTimes.push_back(++thread.warp->bulkGroups);
}

void Machine::bulkWait(uint32_t pending, bool readOnly, SiteId site) {
  Thread &thread = *current;
  if (thread.bulkCommitted <= pending)
    return;
  const uint32_t group = thread.bulkCommitted - pending;
  if (!bulkDone(thread, group))
    block(thread, Wait::Bulk, site, group);
  thread.bulkReadWaited = std::max(thread.bulkReadWaited, group);
  if (!readOnly)
    thread.bulkWaited = std::max(thread.bulkWaited, group);
  Warp &warp = *thread.warp;
  Time &known = warp.clock[warp.storeChannel];
  known = std::max(known, thread.bulkTimes[group - 1]);
  ++warp.version;
}
