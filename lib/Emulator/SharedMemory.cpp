// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The two views of shared memory and the checks over their shadow records.

#include "Machine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace dgemm;
using namespace dgemm::emu;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

SharedArena::~SharedArena() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

static void *mapLow(size_t bytes) {
#if defined(MAP_32BIT) && defined(__x86_64__)
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  if (memory != MAP_FAILED)
    return memory;
#endif
#ifdef MAP_FIXED_NOREPLACE
  for (uint64_t hint = 0x10000000; hint + bytes < 0xF0000000;
       hint += 0x01000000) {
    void *at =
        mmap(reinterpret_cast<void *>(hint), bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    if (at != MAP_FAILED && reinterpret_cast<uint64_t>(at) == hint)
      return at;
    if (at != MAP_FAILED)
      munmap(at, bytes);
  }
#endif
  return nullptr;
}

Status SharedArena::reserve(size_t windows) {
  if (windows <= count)
    return Status::success();
  if (mapping)
    munmap(mapping, mappedBytes);
  mapping = nullptr;
  count = 0;
  mappedBytes = (windows + 1) * kWindowBytes;
  mapping = mapLow(mappedBytes);
  if (!mapping)
    return Status::error("emulator: cannot reserve " +
                         std::to_string(mappedBytes >> 20) +
                         " MiB of address space below 4 GiB for the shared "
                         "memory of " +
                         std::to_string(windows) + " CTAs");
  const uint64_t start = reinterpret_cast<uint64_t>(mapping);
  first = reinterpret_cast<unsigned char *>((start + kWindowBytes - 1) &
                                            ~(kWindowBytes - 1));
  count = windows;
  return Status::success();
}

int64_t SharedArena::indexOf(uint64_t address) const {
  const uint64_t start = reinterpret_cast<uint64_t>(first);
  if (!first || address < start || address >= start + count * kWindowBytes)
    return -1;
  return static_cast<int64_t>((address - start) / kWindowBytes);
}

void SharedWindow::setup(unsigned char *window, uint32_t sharedBytes,
                         unsigned warpCount, unsigned warpgroupCount) {
  generic = window;
  bytes = sharedBytes;
  warps = warpCount;
  warpgroups = warpgroupCount;
  // Whole chunks, one more than needed so that a chunk's words always exist.
  const size_t chunkCount = (kSharedBase + bytes) / 16 + 2;
  chunks.assign(chunkCount, Chunk());
  words.assign(chunkCount * 4, Word());
  tensorReads.assign(chunkCount * warpgroups, 0);
  wordReads.assign(chunkCount * 4 * warps, 0);
  written.assign(chunkCount * 4, 0);
  asyncStorage.assign(chunkCount * 16, 0xFF);
  async = asyncStorage.data();
}

void SharedWindow::reset() {
  std::memset(generic + kSharedBase, 0xFF, bytes);
  std::memset(async, 0xFF, asyncStorage.size());
  std::fill(written.begin(), written.end(), 0);
}

//===----------------------------------------------------------------------===//
// Words for reports
//===----------------------------------------------------------------------===//

static std::string where(const Cta &cta, uint64_t offset, uint64_t bytes) {
  return "shared memory bytes " + std::to_string(offset - kSharedBase) + ".." +
         std::to_string(offset - kSharedBase + bytes - 1) + " of CTA " +
         std::to_string(cta.index);
}

static std::string actor(const Cta &cta, Channel channel) {
  const ChannelLayout &layout = cta.cluster->channels;
  unsigned rest = channel % layout.perCta();
  const Cta &owner = *cta.cluster->ctas[channel / layout.perCta()];
  std::string suffix =
      &owner == &cta ? "" : " of CTA " + std::to_string(owner.index);
  if (rest < layout.warps)
    return "warp " + std::to_string(rest) + suffix;
  rest -= layout.warps;
  if (rest < layout.warps)
    return "a TMA store of warp " + std::to_string(rest) + suffix;
  rest -= layout.warps;
  constexpr unsigned kQuarters = ChannelLayout::kQuarters;
  if (rest < kQuarters * layout.warpgroups)
    return "a WGMMA of warpgroup " + std::to_string(rest / kQuarters) +
           ", by its warp " + std::to_string(rest % kQuarters) + suffix;
  rest -= kQuarters * layout.warpgroups;
  if (rest >= ChannelLayout::kBarriers)
    return "an asynchronous copy of warp " +
           std::to_string(rest - ChannelLayout::kBarriers) + suffix;
  for (const std::unique_ptr<Mbarrier> &bar : owner.barriers)
    if (bar->channel == int(channel))
      return "a TMA write that completes on the mbarrier at byte " +
             std::to_string(bar->offset - kSharedBase) + suffix;
  return "a TMA write" + suffix;
}

static void race(Machine &m, Cta &cta, uint32_t offset, uint32_t bytes,
                 uint32_t site, const char *what, Channel channel,
                 uint32_t otherSite, const char *otherWhat) {
  std::string text = std::string(what) + " " + where(cta, offset, bytes) +
                     " is not ordered after the " + otherWhat + " by " +
                     actor(cta, channel);
  if (otherSite)
    text += " (" + m.siteText(otherSite) + ")";
  m.report(FindingKind::Race, site, std::move(text));
}

/// Of what WGMMAs of a warpgroup read for each of its warps, the channel of
/// which least is known to be over.
static Channel leastSeen(const Cta &cta, unsigned group,
                         const VectorClock &seen) {
  const ChannelLayout &channels = cta.cluster->channels;
  Channel last = channels.tensor(cta.rank, group, 0);
  for (unsigned q = 1; q < ChannelLayout::kQuarters; ++q)
    if (const Channel other = channels.tensor(cta.rank, group, q);
        seen[other] < seen[last])
      last = other;
  return last;
}

//===----------------------------------------------------------------------===//
// Ordinary accesses
//===----------------------------------------------------------------------===//

void emu::genericAccess(Machine &m, Thread &thread, uint64_t address,
                        uint32_t bytes, bool write, uint32_t site, bool copy) {
  const char *verb = copy    ? "asynchronous copy to"
                     : write ? "store to"
                             : "load of";
  Cta *target = m.ctaOf(address);
  const uint64_t offset = target ? address - target->shared.address() : 0;
  if (!target || !target->shared.inside(offset, bytes)) {
    m.report(FindingKind::OutOfBounds, site,
             std::string(write ? "store of " : "load of ") +
                 std::to_string(bytes) + " bytes at shared offset " +
                 std::to_string(int64_t(address) -
                                int64_t(thread.cta->shared.address()) -
                                kSharedBase) +
                 ": the kernel has " + std::to_string(m.launch.sharedBytes) +
                 " bytes of shared memory",
             true);
    return;
  }
  Cta &cta = *target;
  SharedWindow &shared = cta.shared;
  if (cta.alive == 0 && &cta != thread.cta)
    m.report(FindingKind::ClusterExit, site,
             std::string(verb) + " " + where(cta, offset, bytes) +
                 ", which has already exited");
  const EmulatorChecks &checks = m.options->checks;
  Warp &warp = *thread.warp;
  const VectorClock &seen = warp.clock;
  const bool local = &cta == thread.cta;
  const bool whole = bytes >= 4;
  const Channel channel = copy ? warp.copyChannel : warp.channel;
  const Time time = copy ? thread.asyncTime + 1 : warp.now();
  if (write && (checks.proxy || checks.races))
    thread.unfencedWrites.push_back(
        {&cta, uint32_t(offset), bytes, channel, time});

  for (uint64_t at = offset & ~3ull; at < offset + bytes; at += 4) {
    uint8_t mask = 0xF;
    if (at < offset)
      mask &= uint8_t(0xF << (offset - at));
    if (at + 4 > offset + bytes)
      mask &= uint8_t(0xF >> (at + 4 - offset - bytes));
    Word &word = shared.words[at / 4];
    Chunk &chunk = shared.chunks[at / 16];
    if (!write && checks.initialized && (shared.written[at / 4] & mask) != mask)
      m.report(FindingKind::Uninitialized, site,
               "load of " + where(cta, offset, bytes) +
                   " that nothing has written");
    if (checks.races) {
      if (chunk.writeTime > seen[chunk.writeChannel])
        race(m, cta, offset, bytes, site, verb, chunk.writeChannel,
             chunk.writeSite, "write");
      if (word.time && word.writer != warp.channel && (word.mask & mask) &&
          word.time > seen[word.writer])
        race(m, cta, offset, bytes, site, verb, word.writer, word.site,
             "store");
      Time *reads = &shared.wordReads[(at / 4) * shared.warps];
      if (write) {
        if (chunk.storeTime > seen[chunk.storeChannel])
          race(m, cta, offset, bytes, site, verb, chunk.storeChannel, 0,
               "read");
        for (unsigned g = 0; g < shared.warpgroups; ++g) {
          const Channel last = leastSeen(cta, g, seen);
          if (shared.tensorReads[(at / 16) * shared.warpgroups + g] >
              seen[last])
            race(m, cta, offset, bytes, site, verb, last, 0, "read");
        }
        if (whole) {
          for (unsigned w = 0; w < shared.warps; ++w) {
            const Channel channel = cta.cluster->channels.warp(cta.rank, w);
            if (reads[w] > seen[channel] && channel != warp.channel)
              race(m, cta, offset, bytes, site, verb, channel, 0, "load");
          }
          if (word.remoteReadTime > seen[word.remoteReader] &&
              word.remoteReader != warp.channel)
            race(m, cta, offset, bytes, site, verb, word.remoteReader, 0,
                 "load");
        }
      } else if (whole) {
        if (local)
          reads[warp.index] = warp.now();
        else {
          word.remoteReader = warp.channel;
          word.remoteReadTime = warp.now();
        }
      }
    }
    chunk.generic = true;
    if (write) {
      word.writer = channel;
      word.time = time;
      word.mask = mask;
      word.site = site;
      word.unfenced |= mask;
      shared.written[at / 4] |= mask;
    }
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous accesses
//===----------------------------------------------------------------------===//

/// Ordinary accesses on record in one chunk against an asynchronous one.
static void checkWords(Machine &m, Cta &cta, uint32_t offset, bool write,
                       const VectorClock &seen, uint32_t site,
                       const char *what) {
  SharedWindow &shared = cta.shared;
  const EmulatorChecks &checks = m.options->checks;
  for (uint32_t at = offset; at < offset + 16; at += 4) {
    const Word &word = shared.words[at / 4];
    if (checks.proxy && word.unfenced)
      m.report(FindingKind::ProxyFence, site,
               std::string(what) + " " + where(cta, at, 4) +
                   " follows an ordinary store with no fence.proxy.async in "
                   "between (" +
                   m.siteText(word.site) + ")");
    if (!checks.races)
      continue;
    if (word.time > seen[word.writer])
      race(m, cta, at, 4, site, what, word.writer, word.site, "store");
    if (!write)
      continue;
    const Time *reads = &shared.wordReads[(at / 4) * shared.warps];
    for (unsigned w = 0; w < shared.warps; ++w) {
      const Channel channel = cta.cluster->channels.warp(cta.rank, w);
      if (reads[w] > seen[channel])
        race(m, cta, at, 4, site, what, channel, 0, "load");
    }
    if (word.remoteReadTime > seen[word.remoteReader])
      race(m, cta, at, 4, site, what, word.remoteReader, 0, "load");
  }
}

void emu::asyncWrite(Machine &m, Cta &cta, uint32_t offset, uint32_t bytes,
                     const VectorClock &seen, Channel channel, Time time,
                     uint32_t site) {
  SharedWindow &shared = cta.shared;
  const bool races = m.options->checks.races;
  const char *what = "TMA write to";
  constexpr unsigned kMaxWarpgroups = 8;
  std::array<Channel, kMaxWarpgroups> last{};
  for (unsigned g = 0; g < shared.warpgroups; ++g)
    last[g] = leastSeen(cta, g, seen);
  for (uint32_t at = offset & ~15u; at < offset + bytes; at += 16) {
    Chunk &chunk = shared.chunks[at / 16];
    if (races) {
      // Two copies into different parts of a chunk are not seen as a race: TMA
      // writes whole chunks.
      if (chunk.writeTime > seen[chunk.writeChannel])
        race(m, cta, at, 16, site, what, chunk.writeChannel, chunk.writeSite,
             "write");
      if (chunk.storeTime > seen[chunk.storeChannel])
        race(m, cta, at, 16, site, what, chunk.storeChannel, 0, "read");
      const Time *reads = &shared.tensorReads[(at / 16) * shared.warpgroups];
      for (unsigned g = 0; g < shared.warpgroups; ++g)
        if (reads[g] > seen[last[g]])
          race(m, cta, at, 16, site, what, last[g], 0, "read");
    }
    if (chunk.generic) {
      checkWords(m, cta, at, true, seen, site, what);
      // Later accesses are compared with this write, which is after them.
      chunk.generic = false;
      for (unsigned w = 0; w < 4; ++w)
        shared.words[at / 4 + w].unfenced = 0;
    }
    chunk.writeChannel = channel;
    chunk.writeTime = time;
    chunk.writeSite = site;
    std::memset(&shared.written[at / 4], 0xF, 4);
  }
}

static void checkAsyncRead(Machine &m, Cta &cta, uint32_t at,
                           const VectorClock &seen, uint32_t site,
                           const char *what, bool mayBeUnused = false) {
  SharedWindow &shared = cta.shared;
  const EmulatorChecks &checks = m.options->checks;
  const Chunk &chunk = shared.chunks[at / 16];
  if (checks.races && chunk.writeTime > seen[chunk.writeChannel])
    race(m, cta, at, 16, site, what, chunk.writeChannel, chunk.writeSite,
         "write");
  if (chunk.generic)
    checkWords(m, cta, at, false, seen, site, what);
  uint32_t mask;
  std::memcpy(&mask, &shared.written[at / 4], 4);
  if (!checks.initialized || mask == 0x0F0F0F0F)
    return;
  if (mayBeUnused && m.unwrittenRead.site)
    return;
  std::string text = std::string(what) + " " + where(cta, at, 16) +
                     " that nothing has written";
  if (mayBeUnused)
    m.unwrittenRead = {site, std::move(text)};
  else
    m.report(FindingKind::Uninitialized, site, std::move(text));
}

void emu::asyncStoreRead(Machine &m, Cta &cta, uint32_t offset, uint32_t bytes,
                         const VectorClock &seen, Channel channel, Time time,
                         uint32_t site) {
  for (uint32_t at = offset & ~15u; at < offset + bytes; at += 16) {
    checkAsyncRead(m, cta, at, seen, site, "TMA store of");
    Chunk &chunk = cta.shared.chunks[at / 16];
    chunk.storeChannel = channel;
    chunk.storeTime = time;
  }
}

void emu::asyncTensorRead(Machine &m, Cta &cta, uint32_t offset, unsigned group,
                          const VectorClock &seen, Time time, uint32_t site,
                          bool oneRow) {
  const uint32_t at = offset & ~15u;
  checkAsyncRead(m, cta, at, seen, site, "WGMMA read of", oneRow);
  cta.shared.tensorReads[(at / 16) * cta.shared.warpgroups + group] = time;
}

//===----------------------------------------------------------------------===//
// Proxy fence
//===----------------------------------------------------------------------===//

/// Copies the entries that `covers` accepts to the async view.
template <typename Covers> static void flush(Thread &writer, Covers covers) {
  size_t kept = 0;
  for (const UnfencedWrite &entry : writer.unfencedWrites) {
    if (!covers(entry)) {
      writer.unfencedWrites[kept++] = entry;
      continue;
    }
    SharedWindow &shared = entry.target->shared;
    std::memcpy(shared.async + entry.offset, shared.generic + entry.offset,
                entry.bytes);
    for (uint32_t at = entry.offset & ~3u; at < entry.offset + entry.bytes;
         at += 4) {
      uint8_t mask = 0xF;
      if (at < entry.offset)
        mask &= uint8_t(0xF << (entry.offset - at));
      if (at + 4 > entry.offset + entry.bytes)
        mask &= uint8_t(0xF >> (at + 4 - entry.offset - entry.bytes));
      shared.words[at / 4].unfenced &= uint8_t(~mask);
    }
  }
  writer.unfencedWrites.resize(kept);
}

void emu::proxyFence(Thread &thread) {
  // The fence also covers what other threads wrote before it in causality
  // order: the usual case is one thread that fences after a barrier.
  const VectorClock &seen = thread.warp->clock;
  const bool copies = thread.cta->cluster->channels.copies != 0;
  for (Cta *cta : thread.cta->cluster->ctas)
    for (Thread &other : cta->threads) {
      if (other.unfencedWrites.empty())
        continue;
      const auto covers = [&](const UnfencedWrite &entry) {
        // The lanes of a warp share a channel: one may have waited for its
        // copies and another not.
        if (entry.channel == other.warp->copyChannel && copies &&
            std::any_of(other.asyncCopies.begin(), other.asyncCopies.end(),
                        [&](const AsyncCopy &copy) {
                          return !copy.bar && copy.time <= entry.time;
                        }))
          return false;
        if (entry.channel != other.warp->channel || other.warp != thread.warp)
          return entry.time <= seen[entry.channel];
        return &other == &thread || entry.time < thread.warp->now();
      };
      // Stores come in the order of their times, copies among them do not.
      if (copies || covers(other.unfencedWrites.front()))
        flush(other, covers);
    }
}
