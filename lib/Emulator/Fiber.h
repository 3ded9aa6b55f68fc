// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Fibers: one stack per emulated CUDA thread, switched in user space. Stacks
// are reserved once per host thread, each with a guard page below it, and
// reused by every cluster that runs there.

#ifndef DGEMM_EMULATOR_FIBER_H
#define DGEMM_EMULATOR_FIBER_H

#include "dgemm/Support/Status.h"

#include <cstddef>
#include <cstdint>

namespace dgemm::emu {

/// A suspended computation: where its stack pointer stands.
struct Context {
  void *stackPointer = nullptr;
};

/// Saves the running computation in `from` and continues `to`.
void switchContext(Context &from, const Context &to);

/// Makes `context` start `entry(argument)` on the given stack at the next
/// switch to it. `entry` must never return.
void prepareContext(Context &context, char *stackTop, void (*entry)(void *),
                    void *argument);

/// Equal stacks in one mapping, the lowest page of each without access.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();

  static constexpr size_t kStackBytes = 128 * 1024;

  /// Makes at least `count` stacks available.
  Status reserve(size_t count);
  /// One past the highest byte of stack `index`; 16-byte aligned.
  char *top(size_t index) const { return base + (index + 1) * kStackBytes; }
  /// True when the address lies in a guard page.
  bool isGuard(uint64_t address) const;

private:
  char *base = nullptr;
  size_t count = 0;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_FIBER_H
