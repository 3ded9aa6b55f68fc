// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared memory of one CTA, seen twice: the generic proxy (ordinary loads and
// stores) and the async proxy (TMA, WGMMA). Shadow records say who touched
// each byte last, so that unordered and unfenced accesses are found whatever
// order the scheduler chose.

#ifndef DGEMM_EMULATOR_SHAREDMEMORY_H
#define DGEMM_EMULATOR_SHAREDMEMORY_H

#include "Clocks.h"
#include "dgemm/Support/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dgemm::emu {

struct Cta;
struct Machine;
struct Thread;

/// Windows are aligned to their size, so the low 18 bits of an address are the
/// offset that a matrix descriptor holds.
inline constexpr uint64_t kWindowBytes = 256 * 1024;
/// Dynamic shared memory does not start at offset 0, as on the device.
inline constexpr uint32_t kSharedBase = 1024;

/// What touched one 16-byte chunk asynchronously.
struct Chunk {
  Time writeTime = 0; ///< of writeChannel; 0: no TMA write
  uint32_t writeSite = 0;
  Time storeTime = 0; ///< of storeChannel; 0: no TMA store read it
  Channel writeChannel = 0, storeChannel = 0;
  bool generic = false; ///< some word of it has an ordinary access on record
};
/// What touched one 4-byte word by ordinary accesses.
struct Word {
  Time time = 0; ///< of the last write; 0: none
  uint32_t site = 0;
  Channel writer = 0;
  uint8_t mask = 0;     ///< bytes of that write
  uint8_t unfenced = 0; ///< bytes not yet visible to the async proxy
  Time remoteReadTime = 0;
  Channel remoteReader = 0;
};

struct SharedWindow {
  unsigned char *generic = nullptr; ///< start of the window
  unsigned char *async = nullptr;   ///< the same bytes as the async proxy sees
  uint32_t bytes = 0;               ///< dynamic shared memory of the kernel
  unsigned warps = 0, warpgroups = 0;
  std::vector<Chunk> chunks;     ///< by offset / 16
  std::vector<Word> words;       ///< by offset / 4
  std::vector<Time> tensorReads; ///< [chunk][warpgroup]
  std::vector<Time> wordReads;   ///< [word][warp of this CTA]
  std::vector<uint8_t> written;  ///< [word]: mask of initialised bytes
  std::vector<unsigned char> asyncStorage;

  void setup(unsigned char *window, uint32_t sharedBytes, unsigned warpCount,
             unsigned warpgroupCount);
  /// Fills both views with 0xFF (NaN in every float type) for a new CTA.
  void reset();
  uint64_t address() const { return reinterpret_cast<uint64_t>(generic); }
  bool inside(uint64_t offset, uint64_t size) const {
    return offset >= kSharedBase && size <= bytes &&
           offset + size <= kSharedBase + uint64_t(bytes);
  }
};

/// Windows below 4 GiB, so that a shared pointer fits 32 bits.
class SharedArena {
public:
  SharedArena() = default;
  SharedArena(const SharedArena &) = delete;
  SharedArena &operator=(const SharedArena &) = delete;
  ~SharedArena();
  Status reserve(size_t windows);
  unsigned char *window(size_t index) const {
    return first + index * kWindowBytes;
  }
  /// Index of the window an address lies in, or -1.
  int64_t indexOf(uint64_t address) const;

private:
  void *mapping = nullptr;
  size_t mappedBytes = 0;
  unsigned char *first = nullptr;
  size_t count = 0;
};

/// An ordinary load or store of the running thread, or the store that its
/// asynchronous copy makes; reports and records.
void genericAccess(Machine &m, Thread &thread, uint64_t address, uint32_t bytes,
                   bool write, uint32_t site, bool copy = false);
/// A TMA write of [offset, offset + bytes) issued with `seen` known and
/// complete at `time` of `channel`.
void asyncWrite(Machine &m, Cta &cta, uint32_t offset, uint32_t bytes,
                const VectorClock &seen, Channel channel, Time time,
                uint32_t site);
/// A TMA store that reads [offset, offset + bytes).
void asyncStoreRead(Machine &m, Cta &cta, uint32_t offset, uint32_t bytes,
                    const VectorClock &seen, Channel channel, Time time,
                    uint32_t site);
/// A WGMMA of `group` that reads one chunk. Where it lies in one row of an
/// operand (`oneRow`) that nothing has written, one row or column of the
/// product is unknown, which is a fault only if that is stored; a chunk across
/// several rows is reported at once.
void asyncTensorRead(Machine &m, Cta &cta, uint32_t offset, unsigned group,
                     const VectorClock &seen, Time time, uint32_t site,
                     bool oneRow);
/// fence.proxy.async: ordinary writes before it become visible to the async
/// proxy.
void proxyFence(Thread &thread);

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_SHAREDMEMORY_H
