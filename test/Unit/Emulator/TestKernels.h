// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A small machine-level GEMM written by hand, for tests of the emulator that
// must not depend on the compiler: one producer and one consumer warpgroup, a
// ring of slots, WGMMA, an epilogue through shared memory and a TMA store.

#ifndef DGEMM_TEST_UNIT_EMULATOR_TESTKERNELS_H
#define DGEMM_TEST_UNIT_EMULATOR_TESTKERNELS_H

#include "dgemm/Emulator/Emulator.h"

#include <string>
#include <vector>

namespace dgemm::test {

/// One fault, or none.
enum class Fault {
  None,
  NoFullWait,       ///< consumer does not wait for the copies
  NoEmptyWait,      ///< producer does not wait for the release
  EarlyRelease,     ///< slot released before the WGMMA wait
  NoReleaseBarrier, ///< one warp releases for all four
  NoProxyFence,     ///< epilogue stores not fenced
  NoEpilogueBarrier,
  NoBulkWait,
  NoInitFence,
  NoSetupBarrier,
  FewBytes,  ///< 128 bytes too few expected
  ManyBytes, ///< 128 bytes too many
  WrongParity,
  NoRelease,
  NoWgmmaFence,
  NoWgmmaWait,
  EmptyCountTwo,
  WrongStep, ///< K step of the descriptor off by one
  EndlessLoop,
  NoFinalClusterBarrier, ///< a CTA may exit while its peer signals it
  NoSetupClusterBarrier,
  WrongMask,       ///< multicast to one CTA only
  NoRemoteRelease, ///< the peer is not told that a slot is free
  WrongRank        ///< remote release goes to the own CTA
};

struct KernelText {
  DType type = DType::BF16;
  int tileN = 64;
  int stages = 2;
  /// 2: pairs of CTAs share a column tile, each multicasts one half of B.
  int cluster = 1;
  Fault fault = Fault::None;

  int tileK() const { return int(128 / sizeOf(type)); }
  int sharedBytes() const;
  std::string text() const;
  LaunchMetadata metadata() const;
};

/// Data, result and reference of one launch.
struct GemmRun {
  int64_t m, n, k, ld;
  std::vector<unsigned char> a, b, d;
  std::vector<double> expected;

  GemmRun(const KernelText &kernel, int64_t rows, int64_t columns,
          int64_t depth);
  LaunchSizes sizes() const;
  LaunchOperands operands() const;
  EmulatorOptions options(AsyncOrder order, uint64_t seed) const;
  /// Relative Frobenius error of D; NaN when D holds one.
  double error() const;
};

} // namespace dgemm::test

#endif // DGEMM_TEST_UNIT_EMULATOR_TESTKERNELS_H
