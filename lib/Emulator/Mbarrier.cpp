// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarriers with phases, pending counts and transaction bytes; named barriers;
// cluster barriers. Each passes the clocks of those who arrive to those who
// wait. The wait for the kernel in front.

#include "Machine.h"

#include <algorithm>

using namespace dgemm;
using namespace dgemm::emu;

static std::string barrierName(const Mbarrier &bar) {
  return "mbarrier at byte " +
         std::to_string(int64_t(bar.offset) - kSharedBase) + " of CTA " +
         std::to_string(bar.cta->index);
}

Cta *Machine::ctaOf(uint64_t address) {
  const int64_t index = arena.indexOf(address);
  return index >= 0 && index < int64_t(activeCtas) ? ctas[index].get()
                                                   : nullptr;
}

Mbarrier *Machine::barrier(uint64_t address, SiteId site, bool needInit) {
  Cta *cta = ctaOf(address);
  const uint64_t offset = cta ? address - cta->shared.address() : 0;
  if (!cta || !cta->shared.inside(offset, 8)) {
    report(FindingKind::OutOfBounds, site,
           "mbarrier outside the shared memory of the cluster: " +
               std::to_string(launch.sharedBytes) +
               " bytes of shared memory were asked for",
           true);
    return nullptr;
  }
  if (offset % 8) {
    report(FindingKind::Misaligned, site,
           "mbarrier at byte " + std::to_string(offset - kSharedBase) +
               ": its address must be a multiple of 8",
           true);
    return nullptr;
  }
  Mbarrier *&entry = cta->barrierAt[offset / 8];
  if (!entry) {
    if (needInit) {
      report(FindingKind::BarrierMisuse, site,
             "use of shared memory byte " +
                 std::to_string(offset - kSharedBase) + " of CTA " +
                 std::to_string(cta->index) +
                 " as an mbarrier that was never initialised",
             true);
      return nullptr;
    }
    auto bar = std::make_unique<Mbarrier>();
    bar->cta = cta;
    bar->offset = uint32_t(offset);
    const unsigned number = unsigned(cta->barriers.size());
    if (number < ChannelLayout::kBarriers) {
      bar->channel = cta->cluster->channels.barrier(cta->rank, number);
      bar->phaseTime = cta->barrierTimes[number];
      bar->current.resize(cta->cluster->channelCount);
      bar->completed.resize(cta->cluster->channelCount);
    }
    entry = bar.get();
    cta->barriers.push_back(std::move(bar));
  }
  if (needInit && !entry->initialized) {
    report(FindingKind::BarrierMisuse, site,
           "use of the " + barrierName(*entry) + " before its initialisation",
           true);
    return nullptr;
  }
  return entry;
}

void Machine::barrierInit(uint64_t address, uint32_t count, SiteId site) {
  Mbarrier *bar = barrier(address, site, /*needInit=*/false);
  if (!bar)
    return;
  if (count == 0 || count >= (1u << 20)) {
    report(FindingKind::BarrierMisuse, site,
           barrierName(*bar) + " initialised with count " +
               std::to_string(count) + "; it must be between 1 and 1048575",
           true);
    return;
  }
  if (bar->initialized &&
      (bar->pending != int64_t(bar->count) || bar->tx || !bar->waiters.empty()))
    report(FindingKind::BarrierMisuse, site,
           barrierName(*bar) + " initialised again while in use");
  genericAccess(*this, *current, address, 8, true, site);
  // The barrier object itself belongs to no proxy; fence.mbarrier.init is
  // checked on its own.
  current->unfencedWrites.pop_back();
  for (unsigned w = 0; w < 2; ++w)
    bar->cta->shared.words[bar->offset / 4 + w].unfenced = 0;
  bar->initialized = true;
  bar->fenced = false;
  bar->count = count;
  bar->pending = count;
  bar->tx = 0;
  bar->phase = 0;
  bar->current.clear();
  bar->completed.clear();
  current->unfencedBarriers.push_back(bar->offset);
}

/// The first thing another thread does with a barrier must come after its
/// initialisation: compared through the word the initialisation wrote.
static void checkInitOrder(Machine &m, Mbarrier &bar, SiteId site) {
  if (!m.options->checks.races || !m.current)
    return;
  const Word &word = bar.cta->shared.words[bar.offset / 4];
  const Warp &warp = *m.current->warp;
  if (word.time > warp.clock[word.writer] && word.writer != warp.channel)
    m.report(FindingKind::Race, site,
             "use of the " + barrierName(bar) +
                 " is not ordered after its initialisation (" +
                 m.siteText(word.site) + ")");
}

void Machine::barrierArrive(Mbarrier &bar, const VectorClock *clock,
                            uint32_t count, SiteId site) {
  checkInitOrder(*this, bar, site);
  if (bar.cta->alive == 0 && current && bar.cta != current->cta)
    report(FindingKind::ClusterExit, site,
           "arrival on the " + barrierName(bar) +
               ", whose threads have all exited");
  if (clock && bar.channel >= 0)
    bar.current.join(*clock);
  if (bar.pending < int64_t(count)) {
    report(FindingKind::BarrierMisuse, site,
           "arrival count overflow on the " + barrierName(bar) + ": " +
               plural(count, "arrival") + " while " +
               std::to_string(bar.pending) + " of " +
               std::to_string(bar.count) + " are pending in phase " +
               std::to_string(bar.phase),
           true);
    return;
  }
  bar.pending -= count;
  barrierCheckPhase(bar);
}

void Machine::barrierTx(Mbarrier &bar, int64_t delta, SiteId site) {
  constexpr int64_t kLimit = (1 << 20) - 1;
  bar.tx += delta;
  if (bar.tx > kLimit || bar.tx < -kLimit) {
    report(FindingKind::ByteCount, site,
           barrierName(bar) + ": pending bytes " + std::to_string(bar.tx) +
               " leave the range of the transaction count (" +
               std::to_string(kLimit) + ")",
           true);
    return;
  }
  if (delta < 0)
    barrierCheckPhase(bar);
}

void Machine::barrierCheckPhase(Mbarrier &bar) {
  if (bar.pending != 0 || bar.tx != 0)
    return;
  ++bar.phase;
  ++bar.phaseTime;
  bar.pending = bar.count;
  if (bar.channel >= 0) {
    bar.completed.join(bar.current);
    bar.completed[Channel(bar.channel)] = bar.phaseTime;
    bar.current.clear();
  }
  ++progress;
  timeline.barrierPhase(bar.cta->index, bar.offset, bar.phase,
                        current ? int(current->warp->index) : -1);
  // Waiters test again when they run; one that sleeps through two phases is
  // then blocked again, as on the device.
  std::vector<Thread *> waiters;
  waiters.swap(bar.waiters);
  for (Thread *thread : waiters)
    wake(*thread);
}

void Machine::acquire(Warp &warp, const Mbarrier &bar) {
  if (bar.channel < 0)
    return;
  const Channel channel = Channel(bar.channel);
  if (warp.clock[channel] >= bar.completed[channel])
    return;
  warp.clock.join(bar.completed);
  ++warp.version;
}

/// The barrier whose phase the current thread asks for; null, and reported,
/// when there is none.
Mbarrier *Machine::barrierAsked(uint64_t address, SiteId site) {
  Mbarrier *bar = barrier(address, site);
  if (!bar)
    return nullptr;
  if (bar->cta != current->cta)
    report(FindingKind::BarrierMisuse, site,
           "wait on the " + barrierName(*bar) +
               ": a thread can only wait on barriers of its own CTA");
  checkInitOrder(*this, *bar, site);
  return bar;
}

void Machine::barrierWait(uint64_t address, uint32_t parity, SiteId site) {
  Thread &thread = *current;
  Mbarrier *bar = barrierAsked(address, site);
  if (!bar)
    return;
  while ((bar->phase & 1) == (parity & 1)) {
    bar->waiters.push_back(&thread);
    block(thread, Wait::Mbarrier, site, address, parity & 1);
  }
  acquire(*thread.warp, *bar);
}

bool Machine::barrierTest(uint64_t address, uint32_t parity, SiteId site) {
  Thread &thread = *current;
  Mbarrier *bar = barrierAsked(address, site);
  if (!bar)
    return false;
  // Who asks again and again must give the others a turn; who asks once does
  // not, or all threads would keep step.
  const auto again = [&] {
    return thread.testedBarrier == address && thread.testedPhase == bar->phase;
  };
  if (again())
    yield(site);
  const bool known =
      bar->channel >= 0 && thread.warp->clock[Channel(bar->channel)] >=
                               bar->completed[Channel(bar->channel)];
  const bool late = options->order == AsyncOrder::Lazy && !known && !again();
  thread.testedBarrier = address;
  thread.testedPhase = bar->phase;
  if ((bar->phase & 1) == (parity & 1) || late)
    return false;
  acquire(*thread.warp, *bar);
  return true;
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

void Machine::namedBarrier(uint32_t id, uint32_t count, bool wait,
                           SiteId site) {
  Thread &thread = *current;
  Cta &cta = *thread.cta;
  if (count == 0)
    count = uint32_t(cta.threads.size());
  if (id >= cta.named.size()) {
    report(FindingKind::BarrierMisuse, site,
           "barrier id " + std::to_string(id) + "; a CTA has 16 barriers",
           true);
    return;
  }
  if (count % 32 || count > cta.threads.size()) {
    report(FindingKind::BarrierMisuse, site,
           "barrier " + std::to_string(id) + " for " + std::to_string(count) +
               " threads: the count must be a multiple of 32 and at most the " +
               std::to_string(cta.threads.size()) + " threads of the CTA",
           true);
    return;
  }
  NamedBarrier &bar = cta.named[id];
  if (bar.arrived == 0) {
    bar.expected = count;
    bar.site = site;
    bar.current.resize(cta.cluster->channelCount);
  } else if (bar.expected != count) {
    report(FindingKind::BarrierMisuse, site,
           "barrier " + std::to_string(id) + " for " + std::to_string(count) +
               " threads while it is gathering " +
               std::to_string(bar.expected) + " (" + siteText(bar.site) + ")",
           true);
    return;
  }
  bar.current.join(thread.warp->clock);
  thread.warp->tick();
  if (++bar.arrived < bar.expected) {
    if (!wait)
      return;
    bar.waiters.push_back(&thread);
    block(thread, Wait::NamedBarrier, site, id, count);
    return;
  }
  bar.arrived = 0;
  ++bar.generation;
  ++progress;
  std::vector<Thread *> waiters;
  waiters.swap(bar.waiters);
  Warp *last = nullptr;
  auto pass = [&](Thread &t) {
    if (t.warp != last) {
      t.warp->clock.join(bar.current);
      ++t.warp->version;
      if (t.warp->gridWaited)
        t.warp->gridWaited = ~0u;
      last = t.warp;
    }
  };
  for (Thread *t : waiters) {
    pass(*t);
    wake(*t);
  }
  if (wait)
    pass(thread);
}

//===----------------------------------------------------------------------===//
// Cluster barrier
//===----------------------------------------------------------------------===//

/// The cluster barrier opens when every thread that has not exited arrived.
static void openCluster(Machine &m, Cluster &cluster) {
  cluster.arrived = 0;
  ++cluster.phase;
  ++m.progress;
  std::vector<Thread *> waiters;
  waiters.swap(cluster.waiters);
  for (Thread *thread : waiters)
    m.wake(*thread);
}

void Machine::clusterArrive(bool relaxed, SiteId site) {
  Thread &thread = *current;
  Cluster &cluster = *thread.cta->cluster;
  if (thread.clusterPhase > cluster.phase) {
    report(FindingKind::BarrierMisuse, site,
           "second arrival at the cluster barrier without a wait in between",
           true);
    return;
  }
  thread.clusterPhase = cluster.phase + 1;
  if (!relaxed) {
    cluster.current.join(thread.warp->clock);
    thread.warp->tick();
  }
  if (++cluster.arrived >= cluster.alive)
    openCluster(*this, cluster);
}

void Machine::clusterWait(SiteId site) {
  Thread &thread = *current;
  Cluster &cluster = *thread.cta->cluster;
  if (thread.clusterWaited == thread.clusterPhase) {
    report(FindingKind::BarrierMisuse, site,
           "wait at the cluster barrier without an arrival before it", true);
    return;
  }
  thread.clusterWaited = thread.clusterPhase;
  while (cluster.phase < thread.clusterPhase) {
    cluster.waiters.push_back(&thread);
    block(thread, Wait::Cluster, site, 0, thread.clusterPhase);
  }
  // Cumulative over phases: a cluster barrier orders everything before it.
  thread.warp->clock.join(cluster.current);
  ++thread.warp->version;
}

//===----------------------------------------------------------------------===//
// The kernel in front
//===----------------------------------------------------------------------===//

void Machine::gridWait() {
  Warp &warp = *current->warp;
  if (!warp.gridWaited)
    warp.cta->cluster->gridWaits.push_back({warp.channel, warp.now()});
  warp.gridWaited |= 1u << current->lane;
}

void Machine::checkGridWait(SiteId site) {
  const Warp &warp = *current->warp;
  if (!launch.overlapsPrevious || (warp.gridWaited >> current->lane & 1) ||
      !options->checks.gridWait)
    return;
  // Another thread's wait counts for those it has synchronised with since.
  for (const auto &[channel, time] : warp.cta->cluster->gridWaits)
    if (channel != warp.channel && warp.clock[channel] >= time)
      return;
  report(FindingKind::GridDependency, site,
         "access to global memory that no griddepcontrol.wait precedes: the "
         "kernel in front may not have ended");
}
