// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that touches memory it must not, or runs out of stack, becomes a
// finding instead of ending the process.

#ifndef DGEMM_EMULATOR_FAULTS_H
#define DGEMM_EMULATOR_FAULTS_H

#include <csetjmp>
#include <cstdint>
#include <string>

namespace dgemm::emu {

/// Asynchronous work runs on the host thread's own stack, in no emulated
/// thread. A fault there (a tensor map that points nowhere) goes on where the
/// scheduler set this, with `asyncSite` the op whose work it was.
struct Recovery {
  sigjmp_buf place;
  bool armed = false;
  uint32_t asyncSite = 0;
};
extern thread_local Recovery recovery;
/// What the last fault was, in words.
std::string faultText();

/// While one of these lives, faults inside emulated threads of this host
/// thread are caught; all others go to the handler that was there before.
class FaultGuard {
public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

private:
  void *stack = nullptr;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_FAULTS_H
