// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks of one cluster. A channel is anything whose actions are totally
// ordered: a warp, what the tensor core reads for one warp, the TMA-store
// engine and the asynchronous copies as seen by one warp, and the completions
// of one mbarrier.

#ifndef DGEMM_EMULATOR_CLOCKS_H
#define DGEMM_EMULATOR_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dgemm::emu {

/// Time of one channel; 0 is before everything.
using Time = uint32_t;
using Channel = uint16_t;

/// One time per channel of the cluster.
class VectorClock {
public:
  void resize(size_t channels) { times.assign(channels, 0); }
  size_t size() const { return times.size(); }
  Time &operator[](Channel c) { return times[c]; }
  Time operator[](Channel c) const { return times[c]; }

  /// Everything `other` has seen is seen from now on.
  void join(const VectorClock &other) {
    const size_t n = std::min(times.size(), other.times.size());
    for (size_t i = 0; i < n; ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  /// Keeps what both have seen.
  void meet(const VectorClock &other) {
    const size_t n = std::min(times.size(), other.times.size());
    for (size_t i = 0; i < n; ++i)
      times[i] = std::min(times[i], other.times[i]);
  }
  void clear() { std::fill(times.begin(), times.end(), 0); }

private:
  std::vector<Time> times;
};

/// Where each kind of channel of one CTA lies. Counted from the CTA's base.
struct ChannelLayout {
  static constexpr unsigned kBarriers = 48;
  /// Warps of a warpgroup: the wait of one says nothing of what WGMMA reads on
  /// behalf of the others.
  static constexpr unsigned kQuarters = 4;
  unsigned warps = 0, warpgroups = 0;
  unsigned copies = 0; ///< warps, in kernels with asynchronous copies

  unsigned perCta() const {
    return 2 * warps + kQuarters * warpgroups + kBarriers + copies;
  }
  Channel warp(unsigned cta, unsigned w) const {
    return static_cast<Channel>(cta * perCta() + w);
  }
  Channel store(unsigned cta, unsigned w) const {
    return static_cast<Channel>(cta * perCta() + warps + w);
  }
  Channel tensor(unsigned cta, unsigned g, unsigned quarter) const {
    return static_cast<Channel>(cta * perCta() + 2 * warps + kQuarters * g +
                                quarter);
  }
  Channel copy(unsigned cta, unsigned w) const {
    return static_cast<Channel>(cta * perCta() + 2 * warps +
                                kQuarters * warpgroups + kBarriers + w);
  }
  Channel barrier(unsigned cta, unsigned b) const {
    return static_cast<Channel>(cta * perCta() + 2 * warps +
                                kQuarters * warpgroups + b);
  }
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_CLOCKS_H
