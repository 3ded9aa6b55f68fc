// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a few lines around one kind of instruction, for tests of the
// emulator: a body, and what it takes to launch it.

#ifndef DGEMM_TEST_UNIT_EMULATOR_SMALLKERNEL_H
#define DGEMM_TEST_UNIT_EMULATOR_SMALLKERNEL_H

#include "dgemm/Emulator/Emulator.h"

#include <string>
#include <vector>

namespace dgemm::test {

/// D = f(A, B), all in global memory and checked against their sizes.
struct SmallKernel {
  /// Text of the body without its return. It may use %a, %b, %d, %w
  /// (!llvm.ptr<1>; %w is a zeroed workspace), %m, %n, %k (i32), %smem
  /// (!llvm.ptr<3>), %tid, %cta, %lane and the constants %c0 .. %c16, %c31,
  /// %c32 (i32).
  std::string body;
  int threads = 32;
  int64_t sharedBytes = 0;
  int cluster = 1;
  /// Launched while the kernel in front of it may still run.
  bool dependentLaunch = false;
  /// One CTA for each tile of M x N.
  int64_t tileM = 1, tileN = 1;

  std::vector<unsigned char> a, b, d, workspace;
  int64_t m = 1, n = 1, k = 1;

  std::string text() const;
  /// Compiles and runs; `d` holds the result. A kernel that cannot be compiled
  /// or launched fails the test.
  EmulatorReport run(AsyncOrder order, uint64_t seed);
  /// Element `i` of D as FP32.
  float result(size_t i) const;
};

/// Elements of `type` with the values of `random` % 5 - 2, which all types hold
/// exactly; the values go to `values`.
std::vector<unsigned char> smallIntegers(DType type, size_t count,
                                         uint32_t seed,
                                         std::vector<double> &values);

/// Every kind of finding of a report, once, in the order of the report.
std::string kinds(const EmulatorReport &report);

} // namespace dgemm::test

#endif // DGEMM_TEST_UNIT_EMULATOR_SMALLKERNEL_H
