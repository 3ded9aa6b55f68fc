// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocked float64 reference and the comparison. Tiles of the reference are
// compared as soon as they are computed and never stored.

#include "dgemm/Reference/Verify.h"

#include "Parallel.h"
#include "dgemm/Reference/Numerics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <random>
#include <set>

namespace dgemm {

// The widest vectors the machine has, found at load time: a portable build
// targets plain x86-64.
#if defined(__x86_64__) && defined(__linux__)
#define DGEMM_VECTOR_CLONES                                                    \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DGEMM_VECTOR_CLONES
#endif

static constexpr int kTileRows = 64, kTileCols = 64, kTileDepth = 256;
static constexpr int kMicroRows = 4, kMicroCols = 8;

/// The limit `many` of a large D, which leaves room for one rounding: uniform
/// over the binade, it has an r.m.s. of about 0.42 `unit`. The mean over few
/// elements scatters; it is never above one unit.
static double roundingLimit(const Problem &problem, double unit, double many) {
  if (problem.m <= 0 || problem.n <= 0)
    return many;
  const double elements = double(problem.m) * double(problem.n);
  return std::min(unit, many * (1 + 4 / std::sqrt(elements)));
}

Tolerance toleranceFor(const Problem &problem, DataKind kind) {
  Tolerance tolerance;
  if (problem.a == DType::I8)
    return {1e-12, 1e-12, 0};
  if (problem.fp8())
    tolerance = problem.fastAccumulate ? Tolerance{2e-2, 2e-1, 0}
                                       : Tolerance{1.5e-3, 2e-2, 0};
  else
    tolerance = {1e-5, 1e-3, 0};
  if (kind == DataKind::Positive) {
    // The tensor core truncates once per instruction: K / 16 times at 2^-23
    // for 16-bit operands, K / 32 times at 2^-13 for FP8 without promotion,
    // half a unit each on average.
    double k = double(std::max<int64_t>(problem.k, 0));
    if (!problem.fp8())
      tolerance.frobenius += k * 0x1p-28;
    else if (problem.fastAccumulate)
      tolerance.frobenius += k * 0x1p-19;
    tolerance.relative = 4 * tolerance.frobenius;
  }
  if (problem.d == DType::BF16)
    tolerance.frobenius =
        std::max(tolerance.frobenius, roundingLimit(problem, 0x1p-8, 2e-3));
  else if (problem.d == DType::F16)
    tolerance.frobenius =
        std::max(tolerance.frobenius, roundingLimit(problem, 0x1p-11, 4e-4));
  return tolerance;
}

namespace {
/// One input operand seen as a matrix of rows (along M or N) by K with its
/// scales applied.
class ScaledOperand {
public:
  /// `kContiguous`: the stored row is this operand's row.
  ScaledOperand(const HostMatrix &values, bool kContiguous,
                const HostMatrix &scales, const ScaleSpec &spec)
      : matrix(values), scaleMatrix(scales), scaleSpec(spec),
        rowStep(kContiguous ? values.stride() : 1),
        kStep(kContiguous ? 1 : values.stride()) {
    if (sizeOf(matrix.type()) == 1)
      for (uint32_t bits = 0; bits < table.size(); ++bits)
        table[bits] = decode(matrix.type(), bits);
  }

  double value(int64_t row, int64_t k) const {
    int64_t index = row * rowStep + k * kStep;
    if (sizeOf(matrix.type()) == 1)
      return table[matrix.data()[index]];
    return loadElement(matrix.type(), matrix.data(), index);
  }

  double scale(int64_t row, int64_t k) const {
    if (!scaleSpec.present())
      return 1;
    int64_t r = scaleSpec.rows == 0 ? 0 : row / scaleSpec.rows;
    int64_t c = scaleSpec.cols == 0 ? 0 : k / scaleSpec.cols;
    return scaleSpec.major == ScaleMajor::K ? scaleMatrix.at(r, c)
                                            : scaleMatrix.at(c, r);
  }

  /// First k after `k` whose scale may differ.
  int64_t scaleEnd(int64_t k) const {
    return scaleSpec.blockedAlongK() ? (k / scaleSpec.cols + 1) * scaleSpec.cols
                                     : INT64_MAX;
  }

  /// Writes scaled values of one row, k in [begin, end), `step` doubles apart;
  /// returns their sum of squares.
  double pack(int64_t row, int64_t begin, int64_t end, double *out,
              int64_t step) const {
    double squares = 0;
    for (int64_t k = begin; k < end;) {
      int64_t stop = std::min(end, scaleEnd(k));
      double factor = scale(row, k);
      for (; k < stop; ++k) {
        double v = value(row, k) * factor;
        out[(k - begin) * step] = v;
        squares += v * v;
      }
    }
    return squares;
  }

private:
  const HostMatrix &matrix;
  const HostMatrix &scaleMatrix;
  ScaleSpec scaleSpec;
  int64_t rowStep, kStep;
  std::array<float, 256> table = {};
};

/// What tiles find; merged under a lock.
struct Totals {
  int64_t checked = 0, mismatches = 0;
  double errorSquares = 0, referenceSquares = 0, maxAbsError = 0;
  int64_t badRow = -1, badCol = -1;
  double badExpected = 0, badFound = 0;

  void note(int64_t row, int64_t col, double expected, double found) {
    ++mismatches;
    if (badRow >= 0 && (row > badRow || (row == badRow && col > badCol)))
      return;
    badRow = row;
    badCol = col;
    badExpected = expected;
    badFound = found;
  }

  void merge(const Totals &other) {
    int64_t before = mismatches + other.mismatches;
    if (other.badRow >= 0)
      note(other.badRow, other.badCol, other.badExpected, other.badFound);
    mismatches = before;
    checked += other.checked;
    errorSquares += other.errorSquares;
    referenceSquares += other.referenceSquares;
    maxAbsError = std::max(maxAbsError, other.maxAbsError);
  }
};

/// Elements to check: all pairs of these rows and columns.
struct Region {
  std::vector<int64_t> rows, cols;
};

/// Scratch memory of one tile.
struct TileScratch {
  std::vector<double> a = std::vector<double>(kTileRows * kTileDepth);
  std::vector<double> b = std::vector<double>(kTileDepth * kTileCols);
  std::vector<double> sums = std::vector<double>(kTileRows * kTileCols);
};
} // namespace

/// sums[64x64] += a[64 x depth] * b[depth x 64], all row major.
DGEMM_VECTOR_CLONES
static void multiplyTile(const double *a, const double *b, double *sums,
                         int64_t rows, int64_t cols, int64_t depth) {
  typedef double Vector
      __attribute__((vector_size(kMicroCols * 8), aligned(8)));
  for (int64_t r = 0; r < rows; r += kMicroRows)
    for (int64_t c = 0; c < cols; c += kMicroCols) {
      double *out = sums + r * kTileCols + c;
      Vector acc[kMicroRows];
      for (int i = 0; i < kMicroRows; ++i)
        acc[i] = *reinterpret_cast<const Vector *>(out + i * kTileCols);
      for (int64_t k = 0; k < depth; ++k) {
        Vector column =
            *reinterpret_cast<const Vector *>(b + k * kTileCols + c);
        for (int i = 0; i < kMicroRows; ++i)
          acc[i] += a[(r + i) * kTileDepth + k] * column;
      }
      for (int i = 0; i < kMicroRows; ++i)
        *reinterpret_cast<Vector *>(out + i * kTileCols) = acc[i];
    }
}

/// Rows of A are the tile's M, rows of B its N.
static Totals checkTile(const HostOperands &operands, const ScaledOperand &a,
                        const ScaledOperand &b, const int64_t *rows,
                        int64_t rowCount, const int64_t *cols, int64_t colCount,
                        const Tolerance &tolerance,
                        const VerifyOptions &options) {
  thread_local TileScratch scratch;
  std::fill(scratch.a.begin(), scratch.a.end(), 0.0);
  std::fill(scratch.b.begin(), scratch.b.end(), 0.0);
  std::fill(scratch.sums.begin(), scratch.sums.end(), 0.0);
  std::array<double, kTileRows> aSquares = {};
  std::array<double, kTileCols> bSquares = {};
  int64_t depth = operands.sizes.k;
  for (int64_t k = 0; k < depth; k += kTileDepth) {
    int64_t end = std::min<int64_t>(k + kTileDepth, depth);
    for (int64_t r = 0; r < rowCount; ++r)
      aSquares[r] += a.pack(rows[r], k, end, &scratch.a[r * kTileDepth], 1);
    for (int64_t c = 0; c < colCount; ++c)
      bSquares[c] += b.pack(cols[c], k, end, &scratch.b[c], kTileCols);
    multiplyTile(scratch.a.data(), scratch.b.data(), scratch.sums.data(),
                 rowCount, colCount, end - k);
  }

  Totals totals;
  // One rounding may go either way round a tie and the accumulation error may
  // cross it, so a whole unit in the last place is allowed.
  double rounding = 2 * unitRoundoff(operands.problem.d) + tolerance.relative;
  double typical =
      tolerance.element / std::sqrt(double(std::max<int64_t>(depth, 1)));
  for (int64_t r = 0; r < rowCount; ++r)
    for (int64_t c = 0; c < colCount; ++c) {
      double expected = options.alpha * scratch.sums[r * kTileCols + c];
      if (operands.problem.accumulate)
        expected += options.beta * double(operands.c.at(rows[r], cols[c]));
      double found = operands.d.at(rows[r], cols[c]);
      double error = std::fabs(found - expected);
      double allowed = rounding * std::fabs(expected) +
                       typical * std::fabs(options.alpha) *
                           std::sqrt(aSquares[r] * bSquares[c]);
      ++totals.checked;
      // Not "error > allowed": a NaN is a mismatch too.
      if (!(error <= allowed))
        totals.note(rows[r], cols[c], expected, found);
      if (!std::isfinite(error))
        continue;
      totals.errorSquares += error * error;
      totals.referenceSquares += expected * expected;
      totals.maxAbsError = std::max(totals.maxAbsError, error);
    }
  return totals;
}

static std::vector<int64_t> range(int64_t count) {
  std::vector<int64_t> all(size_t(std::max<int64_t>(count, 0)));
  for (int64_t i = 0; i < count; ++i)
    all[i] = i;
  return all;
}

/// Up to `wanted` of [0, count), first and last among them, in order.
static std::vector<int64_t> pick(int64_t count, int64_t wanted,
                                 std::mt19937_64 &random) {
  if (wanted >= count)
    return range(count);
  std::set<int64_t> chosen = {0, count - 1};
  while (int64_t(chosen.size()) < wanted)
    chosen.insert(int64_t(random() % uint64_t(count)));
  return {chosen.begin(), chosen.end()};
}

/// [0, count) without what is in `taken`.
static std::vector<int64_t> without(const std::vector<int64_t> &from,
                                    const std::vector<int64_t> &taken) {
  std::set<int64_t> gone(taken.begin(), taken.end());
  std::vector<int64_t> left;
  for (int64_t i : from)
    if (!gone.count(i))
      left.push_back(i);
  return left;
}

/// What is checked; the regions do not overlap.
static std::vector<Region> chooseRegions(const LaunchSizes &sizes,
                                         const VerifyOptions &options) {
  double work =
      double(sizes.m) * double(sizes.n) * double(std::max<int64_t>(sizes.k, 1));
  if (work <= double(options.fullLimit))
    return {{range(sizes.m), range(sizes.n)}};
  std::mt19937_64 random(options.seed);
  std::vector<int64_t> allRows = range(sizes.m), allCols = range(sizes.n);
  std::vector<int64_t> rows = pick(sizes.m, options.rows, random);
  std::vector<int64_t> cols = pick(sizes.n, options.cols, random);
  std::vector<int64_t> otherRows = without(allRows, rows);
  std::vector<int64_t> blockRows =
      without(pick(sizes.m, options.blockSize, random), rows);
  std::vector<int64_t> blockCols =
      without(pick(sizes.n, options.blockSize, random), cols);
  return {{rows, allCols}, {otherRows, cols}, {blockRows, blockCols}};
}

static std::string describeFailure(const VerifyResult &result,
                                   const Tolerance &tolerance) {
  std::string text;
  auto add = [&](const std::string &part) {
    text += (text.empty() ? "" : "; ") + part;
  };
  if (result.nanCount > 0)
    add(std::to_string(result.nanCount) + " elements of d are NaN");
  if (result.mismatches > 0)
    add(std::to_string(result.mismatches) + " of " +
        std::to_string(result.checked) + " elements are wrong, first d[" +
        std::to_string(result.badRow) + "," + std::to_string(result.badCol) +
        "]: expected " + std::to_string(result.badExpected) + ", found " +
        std::to_string(result.badFound));
  if (!(result.relativeError <= tolerance.frobenius))
    add("relative error " + std::to_string(result.relativeError) + " exceeds " +
        std::to_string(tolerance.frobenius));
  if (result.guardViolations > 0)
    add(std::to_string(result.guardViolations) +
        " bytes outside d were overwritten");
  return text;
}

/// True when the stored rows of A (or B) are its rows along M (or N).
static bool aByRows(Layout layout) {
  return layout == Layout::NT || layout == Layout::NN;
}
static bool bByRows(Layout layout) {
  return layout == Layout::NT || layout == Layout::TT;
}

VerifyResult verify(const HostOperands &operands, const Tolerance &tolerance,
                    const VerifyOptions &options) {
  const Problem &problem = operands.problem;
  ScaledOperand a(operands.a, aByRows(problem.layout), operands.scaleA,
                  problem.scaleA);
  ScaledOperand b(operands.b, bByRows(problem.layout), operands.scaleB,
                  problem.scaleB);
  struct Tile {
    const Region *region;
    size_t row, col;
  };
  std::vector<Region> regions = chooseRegions(operands.sizes, options);
  std::vector<Tile> tiles;
  for (const Region &region : regions)
    for (size_t row = 0; row < region.rows.size(); row += kTileRows)
      for (size_t col = 0; col < region.cols.size(); col += kTileCols)
        tiles.push_back({&region, row, col});

  Totals totals;
  std::mutex lock;
  parallelFor(int64_t(tiles.size()), [&](int64_t i) {
    const Tile &tile = tiles[i];
    const Region &region = *tile.region;
    Totals part =
        checkTile(operands, a, b, region.rows.data() + tile.row,
                  std::min<int64_t>(kTileRows, region.rows.size() - tile.row),
                  region.cols.data() + tile.col,
                  std::min<int64_t>(kTileCols, region.cols.size() - tile.col),
                  tolerance, options);
    std::lock_guard<std::mutex> guard(lock);
    totals.merge(part);
  });

  VerifyResult result;
  result.total = operands.sizes.m * operands.sizes.n;
  result.checked = totals.checked;
  result.maxAbsError = totals.maxAbsError;
  result.relativeError =
      totals.referenceSquares > 0
          ? std::sqrt(totals.errorSquares / totals.referenceSquares)
          : std::sqrt(totals.errorSquares);
  result.nanCount = operands.d.countNaN();
  result.mismatches = totals.mismatches;
  result.badRow = totals.badRow;
  result.badCol = totals.badCol;
  result.badExpected = totals.badExpected;
  result.badFound = totals.badFound;
  result.guardViolations = operands.d.guardViolations();
  result.failure = describeFailure(result, tolerance);
  result.ok = result.failure.empty();
  return result;
}

std::vector<float> operandNorms(const HostOperands &operands, bool ofA) {
  const Problem &problem = operands.problem;
  ScaledOperand operand(ofA ? operands.a : operands.b,
                        ofA ? aByRows(problem.layout) : bByRows(problem.layout),
                        ofA ? operands.scaleA : operands.scaleB,
                        ofA ? problem.scaleA : problem.scaleB);
  std::vector<float> norms(size_t(ofA ? operands.sizes.m : operands.sizes.n));
  int64_t depth = operands.sizes.k;
  parallelFor(int64_t(norms.size()), [&](int64_t row) {
    double values[kTileDepth];
    double squares = 0;
    for (int64_t k = 0; k < depth; k += kTileDepth)
      squares += operand.pack(row, k, std::min<int64_t>(k + kTileDepth, depth),
                              values, 1);
    norms[size_t(row)] = float(std::sqrt(squares));
  });
  return norms;
}

double referenceElement(const HostOperands &operands, int64_t m, int64_t n,
                        float alpha, float beta) {
  const Problem &problem = operands.problem;
  ScaledOperand a(operands.a, aByRows(problem.layout), operands.scaleA,
                  problem.scaleA);
  ScaledOperand b(operands.b, bByRows(problem.layout), operands.scaleB,
                  problem.scaleB);
  double sum = 0;
  for (int64_t k = 0; k < operands.sizes.k; ++k)
    sum += a.value(m, k) * a.scale(m, k) * b.value(n, k) * b.scale(n, k);
  double c = problem.accumulate ? beta * double(operands.c.at(m, n)) : 0;
  return alpha * sum + c;
}

} // namespace dgemm
