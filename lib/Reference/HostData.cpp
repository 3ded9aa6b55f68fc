// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocation, random filling and poison checks.

#include "dgemm/Reference/HostData.h"

#include "Parallel.h"
#include "dgemm/Reference/Numerics.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace dgemm {

//===----------------------------------------------------------------------===//
// HostMatrix
//===----------------------------------------------------------------------===//

static int64_t machineMemory() {
  int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? pages * size : int64_t(1) << 34;
}

Result<HostMatrix> HostMatrix::create(const char *name, DType type,
                                      int64_t rows, int64_t cols,
                                      int64_t stride, uint8_t tail) {
  std::string label = std::string("operand ") + name + ": ";
  if (rows < 0 || cols < 0)
    return Status::error(label + "expected sizes of at least 0, found " +
                         std::to_string(rows) + "x" + std::to_string(cols));
  if (stride < cols && rows > 1)
    return Status::error(label + "expected a row length of at least " +
                         std::to_string(cols) + " elements, found " +
                         std::to_string(stride));
  HostMatrix matrix;
  matrix.elementType = type;
  matrix.rowCount = rows;
  matrix.colCount = cols;
  matrix.rowStride = std::max(stride, cols);
  matrix.tailByte = tail;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, matrix.rowStride, &bytes) ||
      __builtin_mul_overflow(bytes, sizeOf(type), &bytes) ||
      bytes > machineMemory() / 2)
    return Status::error(label + std::to_string(rows) + " rows of " +
                         std::to_string(matrix.rowStride) + " elements of " +
                         toString(type) +
                         " exceed half of this machine's memory");
  matrix.storage.assign(size_t(bytes + 2 * kGuardBytes + kAlignment), kGuard);
  uint64_t start = reinterpret_cast<uint64_t>(matrix.storage.data());
  uint64_t aligned =
      (start + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  matrix.base = size_t(aligned - start);
  int64_t rowBytes = matrix.rowStride * sizeOf(type);
  int64_t used = cols * sizeOf(type);
  for (int64_t row = 0; row < rows; ++row) {
    std::memset(matrix.data() + row * rowBytes, kPoison, size_t(used));
    std::memset(matrix.data() + row * rowBytes + used, tail,
                size_t(rowBytes - used));
  }
  return matrix;
}

int64_t HostMatrix::dataBytes() const {
  return rowCount * rowStride * sizeOf(elementType);
}

float HostMatrix::at(int64_t row, int64_t col) const {
  return loadElement(elementType, data(), row * rowStride + col);
}

void HostMatrix::set(int64_t row, int64_t col, float value) {
  storeElement(elementType, data(), row * rowStride + col, value);
}

static int64_t countOther(const uint8_t *bytes, int64_t count,
                          uint8_t expected) {
  int64_t other = 0;
  for (int64_t i = 0; i < count; ++i)
    other += bytes[i] != expected;
  return other;
}

int64_t HostMatrix::guardViolations() const {
  int64_t found = countOther(allBytes(), kGuardBytes, kGuard) +
                  countOther(data() + dataBytes(), kGuardBytes, kGuard);
  int64_t rowBytes = rowStride * sizeOf(elementType);
  int64_t used = colCount * sizeOf(elementType);
  if (rowBytes > used)
    for (int64_t row = 0; row < rowCount; ++row)
      found +=
          countOther(data() + row * rowBytes + used, rowBytes - used, tailByte);
  return found;
}

int64_t HostMatrix::countNaN() const {
  if (elementType == DType::I8 || elementType == DType::I32)
    return 0;
  std::atomic<int64_t> total = 0;
  parallelFor(rowCount, [&](int64_t row) {
    int64_t found = 0;
    for (int64_t col = 0; col < colCount; ++col)
      found += std::isnan(at(row, col));
    total += found;
  });
  return total;
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

/// A well-mixed 64-bit function of a counter, so that every element can be
/// made by any thread.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Uniform in (0, 1).
static double uniform(uint64_t bits) {
  return (double(bits >> 12) + 0.5) * 0x1p-52;
}

namespace {
/// Encoded samples to draw elements from: an element costs one table look-up
/// instead of a logarithm and a conversion.
struct SamplePool {
  static constexpr size_t kSize = 1 << 16;
  std::array<uint32_t, kSize> bits;

  SamplePool(DType type, DataKind kind) {
    bool integer = type == DType::I8 || type == DType::I32;
    for (size_t i = 0; i < kSize; ++i) {
      double radius = std::sqrt(-2 * std::log(uniform(mix(2 * i))));
      double value = radius * std::cos(2 * M_PI * uniform(mix(2 * i + 1)));
      if (integer)
        value = std::clamp(std::nearbyint(value * 3), -8.0, 8.0);
      if (kind == DataKind::Positive)
        value = std::fabs(value);
      bits[i] = encode(type, float(value));
    }
  }
};
} // namespace

static void fillRandom(HostMatrix &matrix, uint64_t seed, DataKind kind) {
  auto pool = std::make_unique<SamplePool>(matrix.type(), kind);
  int64_t size = sizeOf(matrix.type());
  parallelFor(matrix.rows(), [&](int64_t row) {
    uint8_t *out = matrix.data() + row * matrix.stride() * size;
    // One mixed counter yields four table indices. Seeds are themselves mixed
    // counters, so a row enters by another function: seed ^ mix(row) is 0 for
    // one row of every operand, and a row of A equal to one of B makes a
    // result that outweighs all others.
    uint64_t rowSeed = mix(seed + 0xd1342543de82ef95 * uint64_t(row + 1));
    uint64_t draw = 0;
    for (int64_t col = 0; col < matrix.cols(); ++col) {
      if (col % 4 == 0)
        draw = mix(rowSeed + uint64_t(col));
      uint32_t bits = pool->bits[draw & 0xffff];
      draw >>= 16;
      std::memcpy(out + col * size, &bits, size_t(size));
    }
  });
}

static void fillScales(HostMatrix &matrix, uint64_t seed) {
  bool wholePowers = matrix.type() == DType::F8E8M0FNU;
  for (int64_t row = 0; row < matrix.rows(); ++row)
    for (int64_t col = 0; col < matrix.cols(); ++col) {
      uint64_t counter = uint64_t(row * matrix.cols() + col);
      double exponent =
          4 * uniform(mix(seed + 0xd1342543de82ef95 * (counter + 1))) - 2;
      if (wholePowers)
        exponent = std::nearbyint(exponent);
      matrix.set(row, col, float(std::exp2(exponent)));
    }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static StoredShape scaleShape(const ScaleSpec &spec, int64_t mn, int64_t k) {
  if (!spec.present())
    return {};
  int64_t rows = spec.rows == 0 ? 1 : ceilDiv(mn, spec.rows);
  int64_t cols = spec.cols == 0 ? 1 : ceilDiv(k, spec.cols);
  return spec.major == ScaleMajor::K ? StoredShape{rows, cols}
                                     : StoredShape{cols, rows};
}

StoredShape storedShape(const Problem &problem, const LaunchSizes &sizes,
                        Operand operand) {
  int64_t m = sizes.m, n = sizes.n, k = sizes.k;
  bool aTransposed =
      problem.layout == Layout::TN || problem.layout == Layout::TT;
  bool bTransposed =
      problem.layout == Layout::NT || problem.layout == Layout::TT;
  switch (operand) {
  case Operand::A:
    return aTransposed ? StoredShape{k, m} : StoredShape{m, k};
  case Operand::B:
    return bTransposed ? StoredShape{n, k} : StoredShape{k, n};
  case Operand::C:
    return problem.accumulate ? StoredShape{m, n} : StoredShape{};
  case Operand::D:
    return {m, n};
  case Operand::ScaleA:
    return scaleShape(problem.scaleA, m, k);
  case Operand::ScaleB:
    return scaleShape(problem.scaleB, n, k);
  case Operand::Workspace:
    return {};
  }
  return {};
}

LaunchOperands HostOperands::addresses() {
  auto address = [](HostMatrix &matrix) -> uint64_t {
    return matrix.type() == DType::None
               ? 0
               : reinterpret_cast<uint64_t>(matrix.data());
  };
  LaunchOperands operands;
  operands.a = address(a);
  operands.b = address(b);
  operands.c = address(c);
  operands.d = address(d);
  operands.scaleA = address(scaleA);
  operands.scaleB = address(scaleB);
  return operands;
}

void HostOperands::resetOutput() {
  // The shape was accepted once, so it is again.
  if (Result<HostMatrix> fresh = HostMatrix::create(
          "d", d.type(), d.rows(), d.cols(), d.stride(), HostMatrix::kGuard))
    d = std::move(*fresh);
}

Result<HostOperands> makeOperands(const Problem &problem,
                                  const LaunchSizes &sizes, uint64_t seed,
                                  DataKind kind) {
  HostOperands made;
  made.problem = problem;
  made.problem.m = sizes.m;
  made.problem.n = sizes.n;
  made.problem.k = sizes.k;
  made.sizes = sizes;
  struct {
    HostMatrix *matrix;
    Operand operand;
    DType type;
    int64_t stride;
  } all[] = {
      {&made.a, Operand::A, problem.a, sizes.lda},
      {&made.b, Operand::B, problem.b, sizes.ldb},
      {&made.c, Operand::C, problem.accumulate ? problem.d : DType::None,
       sizes.ldc},
      {&made.d, Operand::D, problem.d, sizes.ldd},
      {&made.scaleA, Operand::ScaleA, problem.scaleA.type, sizes.ldScaleA},
      {&made.scaleB, Operand::ScaleB, problem.scaleB.type, sizes.ldScaleB}};
  uint64_t salt = 0;
  for (auto &[matrix, operand, type, stride] : all) {
    ++salt;
    if (type == DType::None)
      continue;
    StoredShape shape = storedShape(problem, sizes, operand);
    bool output = operand == Operand::D;
    Result<HostMatrix> created = HostMatrix::create(
        toString(operand), type, shape.rows, shape.cols, stride,
        output ? HostMatrix::kGuard : HostMatrix::kPoison);
    if (!created)
      return created.status();
    *matrix = std::move(*created);
    uint64_t operandSeed = mix(seed * 16 + salt);
    if (operand == Operand::ScaleA || operand == Operand::ScaleB)
      fillScales(*matrix, operandSeed);
    else if (!output)
      fillRandom(*matrix, operandSeed, kind);
  }
  return made;
}

} // namespace dgemm
