// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Bank conflicts: the lanes of a warp run one after another here, so the n-th
// execution of an op by each lane is taken as one access of the warp.

#include "Machine.h"

#include <algorithm>

using namespace dgemm;
using namespace dgemm::emu;

/// 32 banks of 4 bytes; accesses to one word are one; a warp access of more
/// than 128 bytes is split by quarter or half warps as the hardware does, which
/// gives the same count when every part is conflict free.
static void finish(EmulatorStatistics &s, const WarpAccess &access) {
  const unsigned lanes = unsigned(__builtin_popcount(access.lanes));
  if (!lanes)
    return;
  const unsigned perPart = access.bytes >= 16 ? 8 : access.bytes >= 8 ? 16 : 32;
  unsigned wavefronts = 0;
  for (unsigned first = 0; first < 32; first += perPart) {
    std::array<std::vector<uint32_t>, 32> banks;
    bool any = false;
    for (unsigned lane = first; lane < first + perPart; ++lane) {
      if (!(access.lanes >> lane & 1))
        continue;
      any = true;
      for (uint32_t at = access.offsets[lane] & ~3u;
           at < access.offsets[lane] + access.bytes; at += 4) {
        std::vector<uint32_t> &words = banks[at / 4 % 32];
        if (std::find(words.begin(), words.end(), at) == words.end())
          words.push_back(at);
      }
    }
    size_t deepest = any ? 1 : 0;
    for (const std::vector<uint32_t> &words : banks)
      deepest = std::max(deepest, words.size());
    wavefronts += unsigned(deepest);
  }
  ++s.sharedAccesses;
  s.sharedWavefronts += wavefronts;
  s.idealWavefronts += (lanes + perPart - 1) / perPart;
}

void Machine::countShared(Thread &thread, uint64_t address, uint32_t bytes,
                          bool write, SiteId site) {
  (write ? statistics.sharedStoreBytes : statistics.sharedLoadBytes) += bytes;
  SiteAccesses &record = thread.warp->accesses[site];
  const uint32_t turn = record.turns[thread.lane]++;
  if (turn < record.first)
    return;
  while (record.open.size() <= turn - record.first)
    record.open.emplace_back();
  WarpAccess &access = record.open[turn - record.first];
  access.lanes |= 1u << thread.lane;
  access.bytes = bytes;
  access.offsets[thread.lane] = uint32_t(address % kWindowBytes);
  while (!record.open.empty() &&
         (record.open.front().lanes == ~0u || record.open.size() > 64)) {
    finish(statistics, record.open.front());
    record.open.pop_front();
    ++record.first;
  }
}

void Machine::finishStatistics() {
  for (Warp *warp : warps) {
    for (auto &[site, record] : warp->accesses)
      for (const WarpAccess &access : record.open)
        finish(statistics, access);
    warp->accesses.clear();
  }
}
