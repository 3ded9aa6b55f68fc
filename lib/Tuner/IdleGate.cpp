// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/IdleGate.h"

#include <algorithm>

namespace dgemm::tuner {

/// Longest wait without a look at the stop flag, which wakes nobody.
static constexpr std::chrono::milliseconds kGlanceAtStop(10);

IdleGate::IdleGate(double idleSeconds)
    : idle(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::max(idleSeconds, 0.0)))) {}

void IdleGate::begin() {
  std::lock_guard<std::mutex> guard(lock);
  ++begun;
  ++running;
}

void IdleGate::end() {
  {
    std::lock_guard<std::mutex> guard(lock);
    --running;
    free = Clock::now();
  }
  ended.notify_all();
}

void IdleGate::wait(const std::atomic<bool> &stop) {
  std::unique_lock<std::mutex> guard(lock);
  while (!stop) {
    Clock::duration left =
        running > 0 ? Clock::duration::max() : free + idle - Clock::now();
    if (left <= Clock::duration::zero())
      return;
    ended.wait_for(guard, std::min<Clock::duration>(left, kGlanceAtStop));
  }
}

int64_t IdleGate::uses() const {
  std::lock_guard<std::mutex> guard(lock);
  return begun;
}

} // namespace dgemm::tuner
