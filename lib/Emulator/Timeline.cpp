// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Recording and drawing the ring timeline. Time counts recorded events, so the
// picture shows order, not duration.

#include "Timeline.h"

#include "SharedMemory.h"

#include <algorithm>

using namespace dgemm::emu;

void Timeline::begin(bool record, int64_t cluster, int) {
  active = record;
  clusterIndex = cluster;
  if (!record)
    return;
  time = 0;
  slots.clear();
  lastWait.clear();
  stores.clear();
}

void Timeline::waited(int64_t cta, uint32_t barrier, unsigned warp) {
  if (active)
    lastWait[{cta, warp}] = barrier;
}

void Timeline::load(int64_t cta, uint32_t offset, uint32_t bytes,
                    uint32_t barrier, unsigned warp) {
  if (!active)
    return;
  ++time;
  Slot &slot = slots[{cta, barrier}];
  if (slot.uses.empty() || slot.uses.back().full) {
    Use use;
    use.fillStart = time;
    use.producer = warp;
    slot.uses.push_back(use);
    auto it = lastWait.find({cta, warp});
    if (it != lastWait.end() && !slots.count({cta, it->second})) {
      slot.emptyBarrier = it->second;
      slot.hasEmpty = true;
    }
  }
  ++slot.uses.back().copies;
  slot.uses.back().bytes += bytes;
  slot.ranges[offset] = bytes;
}

void Timeline::loadDone(int64_t, uint32_t) {
  if (active)
    ++time;
}

void Timeline::barrierPhase(int64_t cta, uint32_t barrier, uint32_t, int) {
  if (!active)
    return;
  ++time;
  auto it = slots.find({cta, barrier});
  if (it != slots.end()) {
    if (!it->second.uses.empty() && !it->second.uses.back().full)
      it->second.uses.back().full = time;
    return;
  }
  for (auto &[key, slot] : slots)
    if (key.first == cta && slot.hasEmpty && slot.emptyBarrier == barrier &&
        !slot.uses.empty())
      slot.uses.back().released = time;
}

void Timeline::multiply(int64_t cta, uint32_t offsetA, uint32_t offsetB,
                        unsigned group) {
  if (!active)
    return;
  ++time;
  for (auto &[key, slot] : slots) {
    if (key.first != cta || slot.uses.empty())
      continue;
    bool touches = false;
    for (uint32_t at : {offsetA, offsetB}) {
      auto it = slot.ranges.upper_bound(at);
      if (it != slot.ranges.begin() && (--it, at < it->first + it->second))
        touches = true;
    }
    if (!touches)
      continue;
    Use &use = slot.uses.back();
    auto read = std::find_if(use.reads.begin(), use.reads.end(),
                             [&](const Read &r) { return r.group == group; });
    if (read == use.reads.end())
      use.reads.push_back({group, time, time});
    else
      read->last = time;
  }
}

void Timeline::store(int64_t cta, uint32_t offset, uint32_t bytes,
                     unsigned warp) {
  if (active)
    stores.push_back({cta, ++time, offset, bytes, warp});
}

static std::string num(uint64_t value) { return std::to_string(value); }

std::string Timeline::text() const {
  std::string out = "ring timeline of cluster " + std::to_string(clusterIndex) +
                    " (times count events)\n";
  int64_t lastCta = -1;
  unsigned index = 0;
  for (const auto &[key, slot] : slots) {
    if (key.first != lastCta) {
      lastCta = key.first;
      index = 0;
      out += "CTA " + std::to_string(lastCta) + "\n";
    }
    out += "  slot " + num(index++) + " (full mbarrier at byte " +
           num(key.second - kSharedBase) +
           (slot.hasEmpty ? ", empty at " + num(slot.emptyBarrier - kSharedBase)
                          : "") +
           ")\n";
    for (size_t u = 0; u < slot.uses.size(); ++u) {
      const Use &use = slot.uses[u];
      out += "    use " + num(u) + ": filled by warp " + num(use.producer) +
             " at " + num(use.fillStart) + ".." +
             (use.full ? num(use.full) : "never") + " (" + num(use.bytes) +
             " bytes in " + num(use.copies) + " copies), read by";
      if (use.reads.empty())
        out += " nobody";
      for (const Read &read : use.reads)
        out += " warpgroup " + num(read.group) + " at " + num(read.first) +
               ".." + num(read.last) + (&read == &use.reads.back() ? "" : ",");
      out += use.released ? ", released at " + num(use.released) + "\n"
                          : ", not released\n";
    }
  }
  for (const Store &store : stores)
    out += "TMA store by warp " + num(store.warp) + " of CTA " +
           std::to_string(store.cta) + " at " + num(store.time) + ": " +
           num(store.bytes) + " bytes from byte " +
           num(store.offset - kSharedBase) + "\n";
  return out;
}

std::string Timeline::svg() const {
  constexpr int kRow = 22, kLeft = 150;
  const double scale = time ? std::clamp(1600.0 / double(time), 0.05, 8.0) : 1;
  const auto x = [&](uint64_t t) {
    return std::to_string(int(kLeft + double(t) * scale));
  };
  const auto width = [&](uint64_t from, uint64_t to) {
    return std::to_string(std::max(1, int(double(to - from) * scale)));
  };
  const int height = int(slots.size() + 2) * kRow;
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
      std::to_string(int(kLeft + double(time) * scale) + 20) + "\" height=\"" +
      std::to_string(height) +
      "\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<text x=\"4\" y=\"14\">blue: filling, grey: full, green: read by "
      "WGMMA, red line: released</text>\n";
  int row = 1, index = 0;
  int64_t lastCta = -1;
  for (const auto &[key, slot] : slots) {
    index = key.first == lastCta ? index + 1 : 0;
    lastCta = key.first;
    const int y = row++ * kRow;
    const auto rect = [&](uint64_t from, uint64_t to, int top, int tall,
                          const char *colour) {
      out += "<rect x=\"" + x(from) + "\" y=\"" + std::to_string(y + top) +
             "\" width=\"" + width(from, to) + "\" height=\"" +
             std::to_string(tall) + "\" fill=\"" + colour + "\"/>\n";
    };
    out += "<text x=\"4\" y=\"" + std::to_string(y + 14) + "\">CTA " +
           std::to_string(key.first) + " slot " + std::to_string(index) +
           "</text>\n";
    for (const Use &use : slot.uses) {
      const uint64_t full = use.full ? use.full : time;
      const uint64_t end = use.released ? use.released : time;
      rect(use.fillStart, full, 3, 16, "#6fa8dc");
      rect(full, std::max(end, full), 3, 16, "#cccccc");
      for (const Read &read : use.reads)
        rect(read.first, read.last + 1, 3 + int(read.group % 4) * 4, 4,
             "#38761d");
      if (use.released)
        rect(use.released, use.released, 1, 20, "#cc0000");
    }
  }
  return out + "</svg>\n";
}
