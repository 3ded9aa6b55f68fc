// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Shadow records of global memory, and release and acquire between CTAs.

#include "GlobalMemory.h"

#include "Machine.h"

#include <cstdlib>

using namespace dgemm;
using namespace dgemm::emu;

GlobalMemory::GlobalMemory(const std::vector<DeviceAllocation> &allocations,
                           bool shared)
    : concurrent(shared) {
  moments.emplace_back(); // 0: nobody
  for (const DeviceAllocation &allocation : allocations) {
    auto region = std::make_unique<Region>();
    region->address = allocation.address;
    region->bytes = allocation.bytes;
    region->name = allocation.name;
    const size_t granules = allocation.bytes / kGranule + 1;
    // Zeroed pages that cost nothing until they are touched.
    for (Words *words : {&region->writer, &region->reader, &region->site})
      words->reset(static_cast<uint32_t *>(std::calloc(granules, 4)));
    if (region->writer && region->reader && region->site)
      regions.push_back(std::move(region));
  }
}

GlobalMemory::Region *GlobalMemory::find(uint64_t address) const {
  // The first of two entries for the same memory (C and D in place) stands
  // for both.
  for (const std::unique_ptr<Region> &region : regions)
    if (address >= region->address && address < region->address + region->bytes)
      return region.get();
  return nullptr;
}

bool GlobalMemory::written(uint64_t address) const {
  const Region *region = find(address);
  return region && region->written.load(std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

uint32_t GlobalMemory::momentOf(Warp &warp, bool store, Time time) {
  Warp::GlobalMoment &last = warp.moments[store];
  if (last.id && last.time == time)
    return last.id;
  std::lock_guard<std::mutex> lock(mutex);
  last.id = uint32_t(moments.size());
  last.time = time;
  moments.push_back({warp.cta->cluster->index, warp.cta->index,
                     store ? warp.storeChannel : warp.channel, time});
  return last.id;
}

GlobalMemory::Moment GlobalMemory::moment(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  return moments[id & ~kAtomic];
}

/// What of the cluster's acquisitions the warp knows of.
template <typename F> static bool anyKnown(const Warp &warp, F f) {
  for (const Acquired &acquired : warp.cta->cluster->acquired)
    if ((acquired.channel == warp.channel ||
         warp.clock[acquired.channel] >= acquired.time) &&
        f(acquired.heard))
      return true;
  return false;
}

bool GlobalMemory::ordered(Warp &warp, uint32_t id, uint64_t word) {
  const Moment other = moment(id);
  if (other.cluster == warp.cta->cluster->index)
    return other.channel == warp.channel ||
           warp.clock[other.channel] >= other.time;
  return anyKnown(warp, [&](const Heard &heard) {
    if (heard.message) {
      auto known = heard.message->find(other.cluster);
      if (known != heard.message->end() &&
          known->second[other.channel] >= other.time)
        return true;
    }
    // An atomic is before whoever acquired what it left in its word.
    return (id & kAtomic) && heard.word == word &&
           heard.sequence == locations[word].sequence;
  });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void GlobalMemory::race(Machine &m, const Region &region, uint64_t address,
                        uint64_t bytes, bool write, uint32_t site,
                        uint32_t other, uint32_t otherSite) {
  const uint64_t first = address - region.address;
  std::string text = std::string(write ? "store to" : "load of") + " bytes " +
                     std::to_string(first) + ".." +
                     std::to_string(first + bytes - 1) + " of '" + region.name +
                     "' is not ordered after an access by CTA " +
                     std::to_string(moment(other).cta);
  if (otherSite)
    text += " (" + m.siteText(otherSite) + ")";
  m.report(FindingKind::Race, site, std::move(text));
}

void GlobalMemory::touch(Machine &m, uint64_t address, uint64_t bytes,
                         bool write, bool atomic, uint32_t site, Time time) {
  Region *region = find(address);
  if (!region || (!write && !region->written.load(std::memory_order_relaxed)))
    return;
  if (write)
    region->written.store(true, std::memory_order_relaxed);
  Warp &warp = *m.current->warp;
  const uint32_t own = momentOf(warp, time != 0, time ? time : warp.now());
  const uint32_t mark = atomic ? own | kAtomic : own;
  const uint64_t first = (address - region->address + kGranule - 1) / kGranule;
  const uint64_t last = (address - region->address + bytes) / kGranule;
  uint32_t *writer = region->writer.get(), *reader = region->reader.get();
  uint32_t settled = 0; ///< known to be ordered
  bool found = false;
  const auto check = [&](uint32_t other, uint64_t granule, bool byWriter) {
    if (!other || found || (other & ~kAtomic) == own || other == settled ||
        (atomic && (other & kAtomic)))
      return;
    if (ordered(warp, other, address)) {
      settled = other;
      return;
    }
    found = true;
    race(m, *region, address, bytes, write, site, other,
         byWriter ? region->site.get()[granule] : 0);
  };
  for (uint64_t g = first; g < last; ++g) {
    if (!write) {
      std::atomic_ref<uint32_t>(reader[g]).store(mark,
                                                 std::memory_order_relaxed);
      check(
          std::atomic_ref<uint32_t>(writer[g]).load(std::memory_order_relaxed),
          g, true);
      continue;
    }
    uint32_t before;
    if (concurrent) {
      // Of two clusters that write at once, one sees the other.
      before = std::atomic_ref<uint32_t>(writer[g]).exchange(mark);
    } else {
      before = writer[g];
      writer[g] = mark;
    }
    check(before, g, true);
    check(std::atomic_ref<uint32_t>(reader[g]).load(std::memory_order_relaxed),
          g, false);
    std::atomic_ref<uint32_t>(region->site.get()[g])
        .store(site, std::memory_order_relaxed);
  }
}

//===----------------------------------------------------------------------===//
// Release and acquire
//===----------------------------------------------------------------------===//

static void merge(Message &to, const Message &from) {
  for (const auto &[cluster, clock] : from) {
    auto [known, fresh] = to.try_emplace(cluster, clock);
    if (!fresh)
      known->second.join(clock);
  }
}

static MessageRef merged(const MessageRef &one, const MessageRef &other) {
  if (!one || !other || one == other)
    return one ? one : other;
  auto both = std::make_shared<Message>(*one);
  merge(*both, *other);
  return both;
}

MessageRef GlobalMemory::release(Warp &warp) const {
  auto message = std::make_shared<Message>();
  anyKnown(warp, [&](const Heard &heard) {
    if (heard.message)
      merge(*message, *heard.message);
    return false;
  });
  merge(*message, {{warp.cta->cluster->index, warp.clock}});
  warp.tick(); // what comes later is not covered
  return message;
}

void GlobalMemory::acquire(Warp &warp, const Heard &heard) {
  Cluster &cluster = *warp.cta->cluster;
  if (heard.message) {
    auto own = heard.message->find(cluster.index);
    if (own != heard.message->end()) {
      warp.clock.join(own->second);
      ++warp.version;
    }
  }
  // A poll that hears the same again adds nothing.
  for (const Acquired &acquired : cluster.acquired)
    if (acquired.channel == warp.channel && acquired.heard.word == heard.word &&
        acquired.heard.sequence == heard.sequence)
      return;
  cluster.acquired.push_back({warp.channel, warp.now(), heard});
}

void GlobalMemory::fence(Machine &m, int32_t order, Scope scope) {
  if (scope == Scope::Cta)
    return; // orders nothing that another CTA sees
  Thread &thread = *m.current;
  Warp &warp = *thread.warp;
  if (order & kAcquires) {
    std::vector<Heard> later;
    for (Heard &heard : thread.heard)
      if (scope == Scope::Device || heard.scope == Scope::Cluster)
        acquire(warp, heard);
      else
        later.push_back(std::move(heard));
    thread.heard = std::move(later);
  }
  if (order & kReleases) {
    thread.released = release(warp);
    thread.releasedTo = scope;
  }
}

void GlobalMemory::atomic(Machine &m, uint64_t address, uint32_t bytes,
                          AtomicKind kind, int32_t order, Scope scope,
                          uint32_t site) {
  Thread &thread = *m.current;
  Warp &warp = *thread.warp;
  const int64_t cluster = warp.cta->cluster->index;
  const bool write = kind != AtomicKind::Load;
  touch(m, address, bytes, write, true, site);
  if (scope == Scope::Cta)
    return;
  Location &location = locations[address];
  MessageRef heardMessage;
  if (kind != AtomicKind::Store)
    for (int64_t audience : {int64_t(-1), cluster})
      if (auto found = location.released.find(audience);
          found != location.released.end())
        heardMessage = merged(heardMessage, found->second);
  if (write) {
    // A plain value ends what earlier writers released; an update carries it
    // on.
    if (kind == AtomicKind::Store)
      location.released.clear();
    const bool toAll = scope == Scope::Device;
    const auto publish = [&](const MessageRef &message, bool all) {
      MessageRef &there = location.released[all ? -1 : cluster];
      there = merged(there, message);
    };
    if (thread.released)
      publish(thread.released, toAll && thread.releasedTo == Scope::Device);
    if (order & kReleases)
      publish(release(warp), toAll);
    ++location.sequence;
  }
  if (kind == AtomicKind::Store)
    return;
  Heard heard{address, location.sequence, scope, std::move(heardMessage)};
  if (order & kAcquires) {
    acquire(warp, heard);
    return;
  }
  for (Heard &earlier : thread.heard)
    if (earlier.word == address) {
      earlier = std::move(heard);
      return;
    }
  thread.heard.push_back(std::move(heard));
}
