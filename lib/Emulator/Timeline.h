// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The life of each ring slot of one cluster: who filled it, who read it, when
// it was released. A slot is recognised by the mbarrier its copies complete
// on; its release is the mbarrier that the producer waited on before filling.

#ifndef DGEMM_EMULATOR_TIMELINE_H
#define DGEMM_EMULATOR_TIMELINE_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dgemm::emu {

class Timeline {
public:
  void begin(bool record, int64_t cluster, int ctasPerCluster);
  bool recorded() const { return !slots.empty(); }

  /// A warp passed a wait on an mbarrier.
  void waited(int64_t cta, uint32_t barrier, unsigned warp);
  void load(int64_t cta, uint32_t offset, uint32_t bytes, uint32_t barrier,
            unsigned warp);
  void loadDone(int64_t cta, uint32_t offset);
  /// `warp` is that of the last arrival; -1: a copy completed the phase.
  void barrierPhase(int64_t cta, uint32_t barrier, uint32_t phase, int warp);
  /// A WGMMA of a warpgroup reads operands that start at two offsets.
  void multiply(int64_t cta, uint32_t offsetA, uint32_t offsetB,
                unsigned group);
  void store(int64_t cta, uint32_t offset, uint32_t bytes, unsigned warp);

  std::string text() const;
  std::string svg() const;

private:
  struct Read {
    unsigned group;
    uint64_t first, last;
  };
  struct Use {
    uint64_t fillStart = 0, full = 0, released = 0;
    unsigned producer = 0, copies = 0;
    uint32_t bytes = 0;
    std::vector<Read> reads;
  };
  struct Slot {
    uint32_t emptyBarrier = 0;
    bool hasEmpty = false;
    std::map<uint32_t, uint32_t> ranges; ///< start -> bytes
    std::vector<Use> uses;
  };
  struct Store {
    int64_t cta;
    uint64_t time;
    uint32_t offset, bytes;
    unsigned warp;
  };
  using Key = std::pair<int64_t, uint32_t>; ///< CTA, full barrier

  bool active = false;
  int64_t clusterIndex = 0;
  uint64_t time = 0;
  std::map<Key, Slot> slots;
  std::map<std::pair<int64_t, unsigned>, uint32_t> lastWait;
  std::vector<Store> stores;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_TIMELINE_H
