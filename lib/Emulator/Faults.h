// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that touches memory it must not, or runs out of stack, becomes a
// finding instead of ending the process.

#ifndef DGEMM_EMULATOR_FAULTS_H
#define DGEMM_EMULATOR_FAULTS_H

namespace dgemm::emu {

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
