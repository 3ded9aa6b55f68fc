// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps measurements out of the way of a program's own work on the device.

#ifndef DGEMM_TUNER_IDLEGATE_H
#define DGEMM_TUNER_IDLEGATE_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dgemm::tuner {

/// The program says when it uses the device; measurements wait until it has not
/// for a while. All members may be called from any thread.
class IdleGate {
public:
  /// `idleSeconds`: how long the device has to have been free.
  explicit IdleGate(double idleSeconds);

  /// While one of these lives the device is in use.
  class Use {
  public:
    explicit Use(IdleGate &gate) : gate(gate) { gate.begin(); }
    ~Use() { gate.end(); }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    IdleGate &gate;
  };

  /// The same for work whose end is not the end of a scope; calls pair up.
  void begin();
  void end();

  /// Waits until the device is idle or `stop` is set, which is noticed within
  /// some ten milliseconds.
  void wait(const std::atomic<bool> &stop);
  /// Uses that have begun. A measurement during which this changes was
  /// disturbed.
  int64_t uses() const;

private:
  using Clock = std::chrono::steady_clock;
  const Clock::duration idle;
  mutable std::mutex lock;
  std::condition_variable ended;
  int64_t begun = 0, running = 0;
  Clock::time_point free = Clock::now(); ///< since when nothing has run
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_IDLEGATE_H
