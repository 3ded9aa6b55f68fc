// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Happens-before through global memory. Inside a cluster the vector clocks of
// its channels say what is ordered; between clusters only what was released
// and acquired through atomics and fences is.

#ifndef DGEMM_EMULATOR_GLOBALMEMORY_H
#define DGEMM_EMULATOR_GLOBALMEMORY_H

#include "Clocks.h"
#include "dgemm/Emulator/Emulator.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace dgemm::emu {

struct Machine;
struct Thread;
struct Warp;

/// What a release hands over: by cluster, what was known there.
using Message = std::map<int64_t, VectorClock>;
using MessageRef = std::shared_ptr<const Message>;

/// Which CTAs an atomic or a fence is meant for.
enum class Scope : int32_t { Cta, Cluster, Device };
enum class AtomicKind : int32_t { Load, Store, Update };
/// Bits of an ordering.
inline constexpr int32_t kAcquires = 1, kReleases = 2;

/// One value that a thread has read from an atomic and not yet acquired.
struct Heard {
  uint64_t word = 0;
  uint64_t sequence = 0; ///< changes of the word so far
  Scope scope = Scope::Device;
  MessageRef message; ///< null: nothing was released
};

/// What a warp of the cluster acquired, and when.
struct Acquired {
  Channel channel = 0; ///< of the warp
  Time time = 0;
  Heard heard;
};

/// Who touched each two bytes of the buffers of a launch last. Shared by the
/// host threads of a run. Reads of a buffer count from its first write on;
/// accesses of single bytes are not looked at.
class GlobalMemory {
public:
  explicit GlobalMemory(const std::vector<DeviceAllocation> &allocations,
                        bool concurrent);

  /// Whether anything has been written to the buffer at `address`.
  bool written(uint64_t address) const;
  /// An access by the running thread's warp, or by its TMA store when `time`
  /// (of the store channel) is not 0.
  void touch(Machine &m, uint64_t address, uint64_t bytes, bool write,
             bool atomic, uint32_t site, Time time = 0);
  /// The order that an atomic access makes; called before it is executed.
  void atomic(Machine &m, uint64_t address, uint32_t bytes, AtomicKind kind,
              int32_t order, Scope scope, uint32_t site);
  void fence(Machine &m, int32_t order, Scope scope);

private:
  static constexpr unsigned kGranule = 2; ///< bytes
  static constexpr uint32_t kAtomic = 1u << 31;

  struct Moment {
    int64_t cluster = 0, cta = 0;
    Channel channel = 0;
    Time time = 0;
  };
  struct FreeWords {
    void operator()(uint32_t *words) const { std::free(words); }
  };
  using Words = std::unique_ptr<uint32_t, FreeWords>;
  struct Region {
    uint64_t address = 0, bytes = 0;
    std::string name;
    std::atomic<bool> written{false};
    Words writer, reader, site; ///< moments and sites, by granule
  };
  struct Location {
    uint64_t sequence = 0;
    /// By cluster for Scope::Cluster, -1 for Scope::Device.
    std::map<int64_t, MessageRef> released;
  };

  Region *find(uint64_t address) const;
  uint32_t momentOf(Warp &warp, bool store, Time time);
  Moment moment(uint32_t id);
  bool ordered(Warp &warp, uint32_t id, uint64_t word);
  void race(Machine &m, const Region &region, uint64_t address, uint64_t bytes,
            bool write, uint32_t site, uint32_t other, uint32_t otherSite);
  MessageRef release(Warp &warp) const;
  void acquire(Warp &warp, const Heard &heard);

  std::vector<std::unique_ptr<Region>> regions;
  bool concurrent;
  std::mutex mutex; ///< of moments
  std::deque<Moment> moments;
  std::map<uint64_t, Location> locations;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_GLOBALMEMORY_H
