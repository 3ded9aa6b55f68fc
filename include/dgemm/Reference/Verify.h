// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Is D right? A float64 reference of the scaled recipe
//
//   D = beta * C + alpha * sum_k (A[m,k] SA[m,k]) (B[n,k] SB[n,k])
//
// over every element of a small problem, or over whole rows, whole columns and
// a random block of a large one.

#ifndef DGEMM_REFERENCE_VERIFY_H
#define DGEMM_REFERENCE_VERIFY_H

#include "dgemm/Reference/HostData.h"

#include <string>
#include <vector>

namespace dgemm {

/// Limits of one comparison.
struct Tolerance {
  /// Relative Frobenius error over all checked elements.
  double frobenius = 2e-3;
  /// One element may be off by one rounding of D's type and by this part of
  /// |a_m| |b_n| / sqrt(K), the size of a random dot product of these two
  /// rows. Catches a single wrong element, which the Frobenius error hides.
  double element = 1e-2;
  /// Beside that, an element may be off by this part of itself: sums of values
  /// of one sign are large, and errors of truncation do not average out.
  double relative = 0;
};
/// What a right kernel stays below for these types (docs/numerics.md): 2e-3
/// for BF16 results, 1e-5 for FP32 results of 16-bit operands; FP8 operands
/// get room for the tensor core's narrow accumulator, more of it when partial
/// sums are not promoted. Positive data gets room that grows with problem.k,
/// which must then be known, where sums stay in the tensor core for all of K.
Tolerance toleranceFor(const Problem &problem,
                       DataKind kind = DataKind::Normal);

struct VerifyOptions {
  float alpha = 1, beta = 1;
  /// Multiply-adds up to which every element is checked.
  int64_t fullLimit = 1'000'000'000;
  /// Beyond that: this many whole rows and whole columns (first and last
  /// among them) and a random block of blockSize x blockSize elements.
  int64_t rows = 8, cols = 8, blockSize = 192;
  uint64_t seed = 1;
};

struct VerifyResult {
  bool ok = false;
  int64_t checked = 0, total = 0; ///< elements
  double maxAbsError = 0;
  double relativeError = 0;    ///< Frobenius, over finite checked elements
  int64_t nanCount = 0;        ///< NaN elements in all of D
  int64_t mismatches = 0;      ///< checked elements beyond the element limit
  int64_t guardViolations = 0; ///< bytes around D that were overwritten
  /// The mismatch with the smallest row, then column; -1: none.
  int64_t badRow = -1, badCol = -1;
  double badExpected = 0, badFound = 0;
  /// Why ok is false, in words; empty when it is true.
  std::string failure;
};

/// Compares operands.d with the reference.
VerifyResult verify(const HostOperands &operands, const Tolerance &tolerance,
                    const VerifyOptions &options = {});

/// Euclidean norms of the rows of A (one per m) or the columns of B (one per
/// n), scales applied: what Tolerance::element is measured in.
std::vector<float> operandNorms(const HostOperands &operands, bool ofA);

/// One element of the reference, computed the obvious way.
double referenceElement(const HostOperands &operands, int64_t m, int64_t n,
                        float alpha = 1, float beta = 1);

} // namespace dgemm

#endif // DGEMM_REFERENCE_VERIFY_H
