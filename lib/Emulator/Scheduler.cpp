// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the threads of a group of clusters as fibers and decides, by the seed,
// which warp goes on and when asynchronous work takes effect.

#include "Faults.h"
#include "Machine.h"

#include <bit>

using namespace dgemm;
using namespace dgemm::emu;

thread_local Machine *emu::machine = nullptr;

void Random::seed(uint64_t s) {
  state = s * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull;
  for (int i = 0; i < 4; ++i)
    next();
}

uint32_t Random::next() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<uint32_t>(state >> 32);
}

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

Status Machine::prepare(const EmulatorOptions &opts, const LaunchShape &shape,
                        unsigned clustersAtOnce) {
  options = &opts;
  launch = shape;
  const unsigned perCluster = unsigned(shape.clusterSize);
  const unsigned ctaCount = clustersAtOnce * perCluster;
  if (Status s = arena.reserve(ctaCount); !s)
    return s;
  if (Status s = stacks.reserve(size_t(ctaCount) * shape.threads); !s)
    return s;
  ctas.clear();
  clusters.clear();
  const unsigned warpCount = unsigned(shape.threads + 31) / 32;
  const unsigned groupCount = unsigned(shape.threads + 127) / 128;
  for (unsigned c = 0; c < clustersAtOnce; ++c) {
    auto cluster = std::make_unique<Cluster>();
    cluster->channels.warps = warpCount;
    cluster->channels.warpgroups = groupCount;
    cluster->channels.copies = shape.asyncCopies ? warpCount : 0;
    cluster->channelCount =
        (cluster->channels.perCta() * perCluster + 15) / 16 * 16;
    for (unsigned r = 0; r < perCluster; ++r) {
      auto cta = std::make_unique<Cta>();
      cta->cluster = cluster.get();
      cta->rank = r;
      cta->shared.setup(arena.window(ctas.size()), uint32_t(shape.sharedBytes),
                        warpCount, groupCount);
      cta->threads.resize(shape.threads);
      cta->warps.resize(warpCount);
      cta->warpgroups.resize(groupCount);
      cta->barrierAt.assign((kSharedBase + shape.sharedBytes) / 8 + 2, nullptr);
      cluster->ctas.push_back(cta.get());
      ctas.push_back(std::move(cta));
    }
    clusters.push_back(std::move(cluster));
  }
  return Status::success();
}

static void threadMain(void *argument) {
  Thread &thread = *static_cast<Thread *>(argument);
  Machine &m = *machine;
  m.launch.entry(m.launch.arguments);
  m.exitThread(thread);
}

/// Times go on from cluster to cluster, so that the records of an earlier CTA
/// in the same window are before everything and need no clearing.
static VectorClock baseClock(const Cluster &cluster) {
  VectorClock base;
  base.resize(cluster.channelCount);
  for (const Cta *cta : cluster.ctas) {
    for (const Warp &warp : cta->warps)
      if (warp.clock.size()) {
        base[warp.channel] = warp.now();
        base[warp.storeChannel] = warp.bulkGroups + 1;
        if (cluster.channels.copies)
          base[warp.copyChannel] = warp.copyTime + 1;
      }
    for (const Warpgroup &group : cta->warpgroups)
      for (unsigned q = 0; q < ChannelLayout::kQuarters; ++q)
        base[cluster.channels.tensor(cta->rank, group.index, q)] =
            group.groupsCreated + 1;
    for (unsigned b = 0;
         b < cta->barriers.size() && b < ChannelLayout::kBarriers; ++b)
      base[cluster.channels.barrier(cta->rank, b)] =
          cta->barriers[b]->phaseTime + 1;
    for (unsigned b = unsigned(cta->barriers.size());
         b < ChannelLayout::kBarriers; ++b)
      base[cluster.channels.barrier(cta->rank, b)] = cta->barrierTimes[b];
  }
  return base;
}

void Machine::setupCluster(Cluster &cluster, int64_t index, unsigned firstCta) {
  cluster.index = index;
  cluster.alive = cluster.arrived = 0;
  cluster.phase = 0;
  const VectorClock base = baseClock(cluster);
  cluster.current.resize(cluster.channelCount);
  cluster.acquired.clear();
  cluster.gridWaits.clear();
  for (unsigned r = 0; r < cluster.ctas.size(); ++r) {
    Cta &cta = *cluster.ctas[r];
    cta.index = index * int64_t(cluster.ctas.size()) + r;
    cta.shared.reset();
    for (unsigned b = 0; b < ChannelLayout::kBarriers; ++b)
      cta.barrierTimes[b] = base[cluster.channels.barrier(r, b)];
    cta.barriers.clear();
    std::fill(cta.barrierAt.begin(), cta.barrierAt.end(), nullptr);
    for (NamedBarrier &bar : cta.named)
      bar = NamedBarrier();
    cta.copies.clear();
    cta.alive = unsigned(cta.threads.size());
    cluster.alive += cta.alive;
    for (unsigned w = 0; w < cta.warps.size(); ++w) {
      Warp &warp = cta.warps[w];
      warp.cta = &cta;
      warp.index = w;
      warp.global = unsigned(warps.size());
      warp.ready = warp.alive = warp.gridWaited = 0;
      warp.elected = random.below(32);
      warp.winners.clear();
      warp.channel = cluster.channels.warp(r, w);
      warp.storeChannel = cluster.channels.store(r, w);
      warp.copyChannel = cluster.channels.copy(r, w);
      warp.clock = base;
      warp.clock[warp.channel] += 1;
      ++warp.version;
      warp.bulkGroups += 1;
      warp.copyTime += 1;
      warp.meetings.clear();
      warp.moments = {};
      warps.push_back(&warp);
    }
    for (unsigned g = 0; g < cta.warpgroups.size(); ++g) {
      Warpgroup &group = cta.warpgroups[g];
      group.cta = &cta;
      group.index = g;
      group.ops.clear();
      group.firstOp = group.nextExecute = 0;
      group.nextHandle = 1;
      group.groupsComplete = ++group.groupsCreated;
      group.slots.clear();
      group.waiters.clear();
      group.threads =
          std::min<unsigned>(128, unsigned(cta.threads.size()) - g * 128);
    }
    for (unsigned t = 0; t < cta.threads.size(); ++t) {
      Thread &thread = cta.threads[t];
      thread = Thread();
      thread.cta = &cta;
      thread.warp = &cta.warps[t / 32];
      thread.tid = uint16_t(t);
      thread.lane = uint8_t(t % 32);
      thread.asyncTime = thread.warp->copyTime;
      thread.wgmmaCommitted = cta.warpgroups[t / 128].groupsCreated;
      thread.warp->ready |= 1u << thread.lane;
      thread.warp->alive |= 1u << thread.lane;
      thread.stackTop = stacks.top((firstCta + r) * cta.threads.size() + t);
      prepareContext(thread.context, thread.stackTop, threadMain, &thread);
      ++live;
    }
  }
}

void Machine::runClusters(int64_t first, unsigned count) {
  machine = this;
  warps.clear();
  live = 0;
  yielded.clear();
  copyThreads.clear();
  steps = progress = 0;
  pendingCopies = 0;
  pendingWgmmas = 0;
  stopped = false;
  current = nullptr;
  activeClusters = count;
  activeCtas = count * unsigned(launch.clusterSize);
  // The order depends on the seed and the cluster alone, so that a run can be
  // repeated on any number of host threads.
  random.seed(options->seed * 1000003 + uint64_t(first) * 7919);
  for (unsigned c = 0; c < count; ++c)
    setupCluster(*clusters[c], first + c, c * unsigned(launch.clusterSize));
  readyWarps.assign((warps.size() + 63) / 64, 0);
  for (Warp *warp : warps)
    if (warp->ready)
      readyWarps[warp->global / 64] |= 1ull << (warp->global % 64);
  policy = int(random.below(3));
  nextWarp = random.below(uint32_t(warps.size()));
  priority.resize(warps.size());
  for (uint32_t &p : priority)
    p = random.next();
  timeline.begin(options->timelineCluster >= first &&
                     options->timelineCluster < first + count,
                 options->timelineCluster, launch.clusterSize);
  // The signal mask is as it was: the handler leaves it alone.
  if (sigsetjmp(recovery.place, 0) == 0) {
    recovery.armed = true;
    schedule();
  } else {
    current = nullptr;
    report(FindingKind::HostFault, recovery.asyncSite, faultText(), true);
  }
  recovery.armed = false;
  if (options->statistics)
    finishStatistics();
  statistics.clusters += count;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Warp *Machine::pickWarp() {
  unsigned total = 0;
  for (uint64_t bits : readyWarps)
    total += unsigned(std::popcount(bits));
  if (!total)
    return nullptr;
  if (policy == 1) {
    // Fixed random priorities, shuffled now and then: one warp runs far ahead
    // of the others.
    if (random.below(64) == 0)
      priority[random.below(uint32_t(priority.size()))] = random.next();
    Warp *best = nullptr;
    for (size_t i = 0; i < readyWarps.size(); ++i)
      for (uint64_t bits = readyWarps[i]; bits; bits &= bits - 1) {
        Warp *warp = warps[i * 64 + unsigned(std::countr_zero(bits))];
        if (!best || priority[warp->global] > priority[best->global])
          best = warp;
      }
    return best;
  }
  unsigned target = 0;
  if (policy == 0) {
    target = random.below(total);
  } else {
    // Round robin from the last one.
    for (unsigned n = 0; n < warps.size(); ++n) {
      nextWarp = nextWarp + 1 < warps.size() ? nextWarp + 1 : 0;
      if (readyWarps[nextWarp / 64] >> (nextWarp % 64) & 1)
        return warps[nextWarp];
    }
  }
  for (size_t i = 0; i < readyWarps.size(); ++i) {
    const unsigned here = unsigned(std::popcount(readyWarps[i]));
    if (target >= here) {
      target -= here;
      continue;
    }
    uint64_t bits = readyWarps[i];
    while (target--)
      bits &= bits - 1;
    return warps[i * 64 + unsigned(std::countr_zero(bits))];
  }
  return nullptr;
}

void Machine::schedule() {
  uint64_t lastProgress = progress, idleRounds = 0;
  while (live && !stopped) {
    if (options->order == AsyncOrder::Random &&
        (pendingCopies || pendingWgmmas || !copyThreads.empty()) &&
        random.below(4) == 0)
      runOneAsync();
    Warp *warp = pickWarp();
    if (!warp) {
      if (runOneAsync())
        continue;
      if (!yielded.empty()) {
        idleRounds = progress == lastProgress ? idleRounds + 1 : 0;
        lastProgress = progress;
        if (idleRounds > 200'000) {
          reportDeadlock("threads poll for something that never comes",
                         FindingKind::Deadlock);
          return;
        }
        std::vector<Thread *> again;
        again.swap(yielded);
        for (Thread *thread : again)
          wake(*thread);
        continue;
      }
      reportDeadlock("no thread can go on", FindingKind::Deadlock);
      return;
    }
    uint32_t lanes = warp->ready;
    warp->ready = 0;
    readyWarps[warp->global / 64] &= ~(1ull << (warp->global % 64));
    const unsigned rotation = random.below(32);
    while (lanes && !stopped) {
      const uint32_t turned = std::rotr(lanes, int(rotation));
      const unsigned lane =
          (unsigned(std::countr_zero(turned)) + rotation) % 32;
      lanes &= ~(1u << lane);
      Thread &thread = warp->cta->threads[warp->index * 32 + lane];
      current = &thread;
      ++statistics.threadSwitches;
      if (++steps > options->stepLimit) {
        reportDeadlock("the step limit was reached", FindingKind::StepLimit);
        return;
      }
      switchContext(scheduler, thread.context);
    }
  }
  current = nullptr;
}

void Machine::switchOut() { switchContext(current->context, scheduler); }

void Machine::block(Thread &thread, Wait wait, SiteId site, uint64_t key,
                    uint32_t phase) {
  thread.wait = wait;
  thread.site = site;
  thread.waitKey = key;
  thread.waitPhase = phase;
  switchOut();
}

void Machine::wake(Thread &thread) {
  Warp &warp = *thread.warp;
  thread.wait = Wait::None;
  warp.ready |= 1u << thread.lane;
  readyWarps[warp.global / 64] |= 1ull << (warp.global % 64);
}

void Machine::step(SiteId site) {
  Thread &thread = *current;
  if (++steps > options->stepLimit) {
    thread.site = site;
    reportDeadlock("the step limit was reached", FindingKind::StepLimit);
    current = &thread;
    switchOut();
  }
  // Long loops give others a turn, so that a loop that polls memory ends.
  if (++thread.steps % 1024 == 0) {
    thread.site = site;
    wake(thread);
    switchOut();
  }
}

void Machine::yield(SiteId site) {
  Thread &thread = *current;
  yielded.push_back(&thread);
  block(thread, Wait::Yield, site, 0);
}

void Machine::exitThread(Thread &thread) {
  Cta &cta = *thread.cta;
  Cluster &cluster = *cta.cluster;
  Warp &warp = *thread.warp;
  thread.wait = Wait::Exited;
  warp.alive &= ~(1u << thread.lane);
  if (options->checks.exit &&
      (thread.bulkOpen || thread.bulkReadWaited < thread.bulkCommitted))
    report(FindingKind::ExitState, thread.site,
           "thread " + std::to_string(thread.tid) + " of CTA " +
               std::to_string(cta.index) +
               " exits with TMA stores whose reads it has not waited for");
  if (options->checks.exit && thread.asyncLast > thread.asyncCovered)
    report(FindingKind::ExitState, thread.site,
           "thread " + std::to_string(thread.tid) + " of CTA " +
               std::to_string(cta.index) +
               " exits with asynchronous copies that nothing waits for");
  if (thread.clusterPhase > cluster.phase)
    --cluster.arrived;
  --cluster.alive;
  if (cluster.arrived && cluster.arrived >= cluster.alive) {
    cluster.arrived = 0;
    ++cluster.phase;
    std::vector<Thread *> waiters;
    waiters.swap(cluster.waiters);
    for (Thread *t : waiters)
      wake(*t);
  }
  // Lanes that wait for this one can only wait for those still there.
  for (Rendezvous &r : warp.meetings) {
    const uint32_t wanted = r.mask & warp.alive;
    if (r.arrived && wanted && (r.arrived & wanted) == wanted) {
      for (uint32_t lanes = r.arrived; lanes; lanes &= lanes - 1) {
        Thread &t =
            cta.threads[warp.index * 32 + unsigned(std::countr_zero(lanes))];
        if (t.wait == Wait::Warp)
          wake(t);
      }
      r.arrived = 0;
      ++r.generation;
    }
  }
  --live;
  if (--cta.alive == 0)
    finishCta(cta);
  switchOut();
  __builtin_unreachable();
}

void Machine::finishCta(Cta &cta) {
  ++progress;
  if (!options->checks.exit)
    return;
  for (const TmaOp &op : cta.copies)
    if (op.load) {
      report(FindingKind::ExitState, op.site,
             "CTA " + std::to_string(cta.index) +
                 " has exited and a TMA load into its shared memory has not "
                 "completed");
      break;
    }
  for (const Warpgroup &group : cta.warpgroups)
    if (group.nextExecute < group.firstOp + group.ops.size())
      for (const WgmmaOp &op : group.ops)
        if (op.kind == WgmmaOp::Kind::Multiply &&
            group.groupsComplete < op.group) {
          report(FindingKind::ExitState, op.site,
                 "CTA " + std::to_string(cta.index) +
                     " has exited with a WGMMA that nothing waited for");
          break;
        }
  for (const std::unique_ptr<Mbarrier> &bar : cta.barriers) {
    if (!bar->initialized)
      continue;
    const std::string name = "mbarrier at byte " +
                             std::to_string(bar->offset - kSharedBase) +
                             " of CTA " + std::to_string(cta.index);
    if (bar->tx != 0)
      report(FindingKind::ByteCount, 0,
             name + " ends with " + std::to_string(bar->tx) +
                 " bytes expected and not arrived (phase " +
                 std::to_string(bar->phase) + ")");
    else if (bar->pending != int64_t(bar->count))
      report(FindingKind::ExitState, 0,
             name + " ends inside phase " + std::to_string(bar->phase) + ": " +
                 std::to_string(bar->count - bar->pending) + " of " +
                 std::to_string(bar->count) + " arrivals were made");
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

bool Machine::runOneAsync() {
  if (!pendingCopies && !pendingWgmmas && copyThreads.empty())
    return false;
  // One candidate per queue that has something to do; the seed picks.
  Cta *chosenCta = nullptr;
  Warpgroup *chosenGroup = nullptr;
  unsigned seen = 0;
  for (unsigned c = 0; c < activeCtas; ++c) {
    Cta &cta = *ctas[c];
    if (!cta.copies.empty() && random.below(++seen) == 0) {
      chosenCta = &cta;
      chosenGroup = nullptr;
    }
    if (!pendingWgmmas)
      continue;
    for (Warpgroup &group : cta.warpgroups) {
      // Only an op that all threads of the warpgroup have issued can run.
      bool can = false;
      for (uint64_t i = group.nextExecute; i < group.firstOp + group.ops.size();
           ++i) {
        const WgmmaOp &op = group.ops[i - group.firstOp];
        if (op.arrived < group.threads)
          break;
        if (op.kind == WgmmaOp::Kind::Multiply) {
          can = true;
          break;
        }
      }
      if (can && random.below(++seen) == 0) {
        chosenCta = nullptr;
        chosenGroup = &group;
      }
    }
  }
  Thread *chosenThread = nullptr;
  if (!copyThreads.empty() && random.below(++seen) == 0)
    chosenThread = copyThreads[random.below(uint32_t(copyThreads.size()))];
  if (!chosenCta && !chosenGroup && !chosenThread)
    return false;
  ++progress;
  ++statistics.asyncOps;
  Thread *running = current;
  current = nullptr;
  if (chosenThread) {
    runAsyncCopy(*chosenThread,
                 random.below(uint32_t(chosenThread->asyncCopies.size())));
  } else if (chosenGroup) {
    runWgmma(*chosenGroup);
  } else {
    std::vector<TmaOp> &queue = chosenCta->copies;
    const size_t pick = random.below(uint32_t(queue.size()));
    std::swap(queue[pick], queue.back());
    TmaOp op = std::move(queue.back());
    queue.pop_back();
    --pendingCopies;
    recovery.asyncSite = op.site;
    runCopy(op);
  }
  current = running;
  return true;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

Rendezvous &Machine::meeting(Warp &warp, uint32_t mask) {
  for (Rendezvous &r : warp.meetings)
    if (r.mask == mask)
      return r;
  warp.meetings.emplace_back();
  warp.meetings.back().mask = mask;
  return warp.meetings.back();
}

void Machine::meet(Thread &thread, uint32_t mask, SiteId site) {
  Warp &warp = *thread.warp;
  const uint32_t bit = 1u << thread.lane;
  if (!(mask & bit)) {
    report(FindingKind::Divergence, site,
           "lane " + std::to_string(thread.lane) +
               " is not in the mask of its own warp operation",
           true);
    return;
  }
  Rendezvous &r = meeting(warp, mask);
  if (r.arrived == 0) {
    r.site = site;
  } else if (r.site != site) {
    report(FindingKind::Divergence, site,
           "warp " + std::to_string(warp.index) + " of CTA " +
               std::to_string(warp.cta->index) +
               " has diverged: other lanes are at " + siteText(r.site),
           true);
    return;
  }
  r.arrived |= bit;
  const uint32_t wanted = mask & warp.alive;
  if ((r.arrived & wanted) != wanted) {
    block(thread, Wait::Warp, site, mask);
    return;
  }
  for (uint32_t lanes = r.arrived & ~bit; lanes; lanes &= lanes - 1)
    wake(
        warp.cta->threads[warp.index * 32 + unsigned(std::countr_zero(lanes))]);
  r.arrived = 0;
  ++r.generation;
  // What lanes did before is ordered before what any does after.
  warp.tick();
  if (warp.gridWaited & mask)
    warp.gridWaited |= mask;
}
