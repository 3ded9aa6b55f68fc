// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands of a GEMM in host memory: seeded random values, rows at any stride,
// and enough poison around them that a kernel which reads or writes what it
// must not is found out.

#ifndef DGEMM_REFERENCE_HOSTDATA_H
#define DGEMM_REFERENCE_HOSTDATA_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <vector>

namespace dgemm {

/// A matrix of `rows` stored rows of `cols` elements, `stride` elements apart,
/// with guard bytes in front and behind. One byte pattern (all ones, a NaN in
/// every floating-point type) fills elements not yet written; another fills
/// guards and the tails of rows in outputs.
class HostMatrix {
public:
  static constexpr int64_t kGuardBytes = 1024;
  static constexpr int64_t kAlignment = 1024;
  static constexpr uint8_t kPoison = 0xff, kGuard = 0xc3;

  HostMatrix() = default;
  /// Fails when the size overflows or exceeds the machine's memory; `name` is
  /// the operand that the error names. A stride below `cols` is an error
  /// unless there are fewer than two rows. `tail` fills the ends of rows.
  static Result<HostMatrix> create(const char *name, DType type, int64_t rows,
                                   int64_t cols, int64_t stride, uint8_t tail);

  DType type() const { return elementType; }
  int64_t rows() const { return rowCount; }
  int64_t cols() const { return colCount; }
  int64_t stride() const { return rowStride; }

  /// First element; kAlignment-aligned.
  uint8_t *data() { return storage.data() + base; }
  const uint8_t *data() const { return storage.data() + base; }
  /// Bytes from data() to the end of the last row, its tail included.
  int64_t dataBytes() const;
  /// The whole allocation, guards included: what is copied to a device and
  /// back. `dataOffset()` is where data() stands in it.
  uint8_t *allBytes() { return storage.data() + (base - kGuardBytes); }
  const uint8_t *allBytes() const {
    return storage.data() + (base - kGuardBytes);
  }
  int64_t allSize() const { return dataBytes() + 2 * kGuardBytes; }
  static constexpr int64_t dataOffset() { return kGuardBytes; }

  float at(int64_t row, int64_t col) const;
  void set(int64_t row, int64_t col, float value);

  /// Bytes of guards and row tails that no longer hold their pattern.
  int64_t guardViolations() const;
  /// Element count of rows x cols that is NaN (0 for integer types).
  int64_t countNaN() const;

private:
  DType elementType = DType::None;
  int64_t rowCount = 0, colCount = 0, rowStride = 0;
  uint8_t tailByte = kGuard;
  std::vector<uint8_t> storage;
  size_t base = 0;
};

/// All operands of one GEMM. C is present only for D = C + A x B; scales only
/// where the problem has them.
struct HostOperands {
  Problem problem; ///< every size static
  LaunchSizes sizes;
  HostMatrix a, b, c, d, scaleA, scaleB;

  /// Host addresses, as the emulator takes them.
  LaunchOperands addresses();
  /// Poisons D again (elements, tails, guards).
  void resetOutput();
};

/// What the random values look like.
enum class DataKind {
  Normal,   ///< zero mean, unit variance
  Positive, ///< absolute values of the same: sums grow with K, the hard case
            ///< for narrow accumulators
};

/// Makes seeded random operands: equal arguments give equal bits on every
/// machine. Values of integer operands lie in -8..8. Scales are positive,
/// 2^u with u uniform in [-2, 2] (E8M0: whole u). Row tails of inputs hold
/// NaN, so a kernel that reads past K or N is found out.
Result<HostOperands> makeOperands(const Problem &problem,
                                  const LaunchSizes &sizes, uint64_t seed,
                                  DataKind kind = DataKind::Normal);

/// Stored shape [rows, cols] of an operand: A[M,K], B[N,K] (or transposed by
/// layout), D[M,N], scales [ceil(M/rows), ceil(K/cols)] (transposed when MN
/// is contiguous). Both 0 for an operand the problem lacks.
struct StoredShape {
  int64_t rows = 0, cols = 0;
};
StoredShape storedShape(const Problem &problem, const LaunchSizes &sizes,
                        Operand operand);

} // namespace dgemm

#endif // DGEMM_REFERENCE_HOSTDATA_H
