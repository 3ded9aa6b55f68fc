// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async: copies of a few bytes that a thread issues and waits for itself.
// Their data lands at any time between issue and the wait, or the mbarrier
// phase, that covers them. They write shared memory as ordinary stores do.

#include "Machine.h"

#include <algorithm>
#include <cstring>

using namespace dgemm;
using namespace dgemm::emu;

static bool pendingUpTo(const Thread &thread, Time time) {
  return std::any_of(
      thread.asyncCopies.begin(), thread.asyncCopies.end(),
      [time](const AsyncCopy &copy) { return !copy.bar && copy.time <= time; });
}

static void enqueue(Machine &m, Thread &thread, AsyncCopy copy) {
  if (thread.asyncCopies.empty())
    m.copyThreads.push_back(&thread);
  thread.asyncCopies.push_back(std::move(copy));
  if (m.options->order == AsyncOrder::Eager)
    m.runAsyncCopy(thread, thread.asyncCopies.size() - 1);
}

void Machine::asyncCopy(uint64_t to, uint64_t from, uint32_t bytes,
                        uint32_t valid, SiteId site) {
  Thread &thread = *current;
  thread.site = site;
  if (valid > bytes)
    report(FindingKind::OutOfBounds, site,
           "asynchronous copy of " + std::to_string(valid) + " bytes into " +
               std::to_string(bytes),
           true);
  if (to % bytes || (valid && from % bytes))
    report(FindingKind::Misaligned, site,
           "asynchronous copy of " + std::to_string(bytes) + " bytes " +
               (to % bytes ? "to a shared" : "from a global") +
               " address that is not a multiple of them",
           true);
  if (valid) {
    checkGridWait(site);
    if (!options->allocations.empty())
      checkGlobal(from, valid, false, site);
    if (launch.global)
      launch.global->touch(*this, from, valid, false, false, site);
  }
  statistics.globalLoadBytes += valid;
  genericAccess(*this, thread, to, bytes, true, site, /*copy=*/true);
  AsyncCopy copy;
  copy.site = site;
  copy.to = reinterpret_cast<unsigned char *>(to);
  copy.from = reinterpret_cast<const unsigned char *>(from);
  copy.bytes = bytes;
  copy.valid = valid;
  copy.time = thread.asyncTime + 1;
  thread.asyncLast = copy.time;
  std::memset(copy.to, 0xFF, bytes); // nothing may be read before it lands
  enqueue(*this, thread, copy);
}

/// Ends the copies so far: later ones have a later time.
static Time closeTime(Thread &thread) {
  ++thread.asyncTime;
  thread.warp->copyTime = std::max(thread.warp->copyTime, thread.asyncTime);
  return thread.asyncTime;
}

void Machine::asyncCommit(SiteId site) {
  current->site = site;
  const Time time = closeTime(*current);
  current->asyncTimes.push_back(time);
}

void Machine::asyncWait(uint32_t pending, SiteId site) {
  Thread &thread = *current;
  if (thread.asyncTimes.size() <= pending)
    return;
  const Time target = thread.asyncTimes[thread.asyncTimes.size() - pending - 1];
  while (pendingUpTo(thread, target))
    block(thread, Wait::AsyncCopy, site, target);
  thread.asyncCovered = std::max(thread.asyncCovered, target);
  Warp &warp = *thread.warp;
  if (warp.clock[warp.copyChannel] < target) {
    warp.clock[warp.copyChannel] = target;
    ++warp.version;
  }
}

void Machine::asyncArrive(uint64_t address, bool noIncrement, SiteId site) {
  Thread &thread = *current;
  Mbarrier *bar = barrier(address, site);
  if (!bar)
    return;
  if (!noIncrement)
    ++bar->pending;
  AsyncCopy arrival;
  arrival.site = site;
  arrival.bar = bar;
  arrival.time = closeTime(thread);
  thread.asyncCovered = arrival.time;
  enqueue(*this, thread, arrival);
}

void Machine::runAsyncCopy(Thread &thread, size_t index) {
  std::vector<AsyncCopy> &queue = thread.asyncCopies;
  // An arrival comes after all copies before it, which may come in any order.
  if (queue[index].bar)
    index = 0;
  const AsyncCopy copy = queue[index];
  queue.erase(queue.begin() + std::ptrdiff_t(index));
  if (queue.empty())
    copyThreads.erase(
        std::find(copyThreads.begin(), copyThreads.end(), &thread));
  if (copy.bar) {
    VectorClock done;
    done.resize(thread.warp->clock.size());
    done[thread.warp->copyChannel] = copy.time;
    barrierArrive(*copy.bar, &done, 1, copy.site);
    return;
  }
  if (copy.valid)
    std::memcpy(copy.to, copy.from, copy.valid);
  std::memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
  if (thread.wait == Wait::AsyncCopy &&
      !pendingUpTo(thread, Time(thread.waitKey)))
    wake(thread);
}
