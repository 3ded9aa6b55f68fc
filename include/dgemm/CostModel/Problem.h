// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM problem as plain data: what is multiplied, in which types, with
// which scales. Read by the cost model, the runtime, the reference and the
// tuner, none of which needs MLIR.
//
//   D[M,N] = (C[M,N] +) (A[M,K] * SA) x (B[N,K] * SB)^T        (layout nt)

#ifndef DGEMM_COSTMODEL_PROBLEM_H
#define DGEMM_COSTMODEL_PROBLEM_H

#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>

namespace dgemm {

/// A size known only at run time.
inline constexpr int64_t kDynamic = -1;

/// Element types, spelled as MLIR spells them.
enum class DType { None, BF16, F16, F32, F8E4M3FN, F8E5M2, F8E8M0FNU, I8, I32 };
/// Size in bytes; 0 for None.
int64_t sizeOf(DType type);
/// MLIR spelling: "bf16", "f8E4M3FN", ...
const char *toString(DType type);
/// Accepts MLIR spellings and the short "e4m3", "e5m2", "ue8m0".
Result<DType> parseDType(const std::string &text);

/// Storage of A then B: n = row major as written (A[M,K], B[K,N]),
/// t = transposed in memory (A[K,M], B[N,K]). "nt" has both K-contiguous.
enum class Layout { NT, NN, TN, TT };
const char *toString(Layout layout);
Result<Layout> parseLayout(const std::string &text);

/// Which index is contiguous in memory in a scale matrix with more than one
/// column: K (as quantisers write it, [rows, K blocks]) or M/N ([K blocks,
/// rows]).
enum class ScaleMajor { K, MN };

/// Scales of one operand: one value per rows x cols block of the operand,
/// rows counted along M (A) or N (B), cols along K. The matrix of scales has
/// ceil(dim / block) entries each way. A block size of 0 means the whole
/// dimension (so 0x0 is one scale per tensor, 1x0 one per row).
struct ScaleSpec {
  DType type = DType::None; ///< None: the operand has no scales.
  int64_t rows = 0;
  int64_t cols = 0;
  ScaleMajor major = ScaleMajor::K;

  bool present() const { return type != DType::None; }
  bool perTensor() const { return present() && rows == 0 && cols == 0; }
  bool perRow() const { return present() && rows == 1 && cols == 0; }
  /// True when the scale changes along K, so that it cannot wait for the
  /// epilogue.
  bool blockedAlongK() const { return present() && cols != 0; }
  bool operator==(const ScaleSpec &) const = default;
};

/// ceil(a / b) for positive b; kDynamic stays kDynamic.
int64_t ceilDiv(int64_t a, int64_t b);

/// One dense GEMM. Sizes may be kDynamic; strides are in elements of their
/// operand and count from one stored row to the next.
struct Problem {
  int64_t m = kDynamic, n = kDynamic, k = kDynamic;
  DType a = DType::BF16, b = DType::BF16, d = DType::BF16;
  Layout layout = Layout::NT;
  ScaleSpec scaleA, scaleB;
  /// D = C + A x B; C has D's type.
  bool accumulate = false;
  /// Leave FP8 products in the tensor core's narrow accumulator for all of K.
  bool fastAccumulate = false;

  bool fp8() const { return a == DType::F8E4M3FN || a == DType::F8E5M2; }
  bool operator==(const Problem &) const = default;
};

/// Every rule that holds whatever the schedule: known type combinations, sizes
/// below 2^31, 8-bit operands with K contiguous, scales only with FP8.
Status verifyProblem(const Problem &problem);

/// "m=4096,n=7168,k=2048,a=f8E4M3FN,..." : the --gemm spelling without strides.
std::string toString(const Problem &problem);

/// What --gemm holds: a problem and, where named, row lengths in elements.
struct GemmText {
  Problem problem;
  /// Row lengths; 0: not named, so the smallest multiple of 16 bytes.
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  /// Rows not named have exactly their own length.
  bool packed = false;
};

/// Reads comma-separated key=value pairs: m, n, k (a number or ?), a, b, d
/// (types), layout, scale_a and scale_b (RxC, tensor or row) with
/// scale_a_type, scale_a_major (k or mn) and the same for b, accumulate,
/// fast_accumulate, lda, ldb, ldc, ldd, packed. Keys left out keep the
/// defaults of Problem; the result has passed verifyProblem.
Result<GemmText> parseGemm(const std::string &text);

} // namespace dgemm

#endif // DGEMM_COSTMODEL_PROBLEM_H
