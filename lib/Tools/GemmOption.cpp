// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes, strides and the figures of merit that depend on them alone.

#include "dgemm/Tools/GemmOption.h"

#include "dgemm/Reference/HostData.h"

#include <algorithm>

namespace dgemm {

static Status resolve(const char *key, int64_t fixed, int64_t given,
                      int64_t &size) {
  if (fixed == kDynamic && given == kDynamic)
    return Status::error(std::string("size ") + key +
                         " is left open by the problem; give --" + key + "=");
  if (fixed != kDynamic && given != kDynamic && fixed != given)
    return Status::error(std::string("size ") + key + ": the problem has " +
                         std::to_string(fixed) + ", found " +
                         std::to_string(given));
  size = fixed == kDynamic ? given : fixed;
  if (size < 0)
    return Status::error(std::string("size ") + key +
                         ": expected at least 0, found " +
                         std::to_string(size));
  return Status::success();
}

Result<LaunchSizes> launchSizes(const GemmText &gemm,
                                const SizeOverrides &overrides) {
  int64_t m = 0, n = 0, k = 0;
  if (Status s = resolve("m", gemm.problem.m, overrides.m, m); !s)
    return s;
  if (Status s = resolve("n", gemm.problem.n, overrides.n, n); !s)
    return s;
  if (Status s = resolve("k", gemm.problem.k, overrides.k, k); !s)
    return s;
  LaunchSizes sizes = defaultSizes(gemm.problem, m, n, k);
  struct {
    const char *key;
    Operand operand;
    int64_t named;
    int64_t &stride;
  } all[] = {{"lda", Operand::A, gemm.lda, sizes.lda},
             {"ldb", Operand::B, gemm.ldb, sizes.ldb},
             {"ldc", Operand::C, gemm.ldc, sizes.ldc},
             {"ldd", Operand::D, gemm.ldd, sizes.ldd}};
  for (auto &[key, operand, named, stride] : all) {
    int64_t length = storedShape(gemm.problem, sizes, operand).cols;
    if (named == 0) {
      if (gemm.packed)
        stride = std::max<int64_t>(length, 1);
      continue;
    }
    if (named < length)
      return Status::error(std::string("gemm field '") + key +
                           "': expected at least the row length " +
                           std::to_string(length) + ", found " +
                           std::to_string(named));
    stride = named;
  }
  return sizes;
}

Result<Problem> withDynamicDims(const Problem &problem,
                                const std::string &dims) {
  Problem open = problem;
  for (char dim : dims) {
    switch (dim) {
    case 'm':
      open.m = kDynamic;
      break;
    case 'n':
      open.n = kDynamic;
      break;
    case 'k':
      open.k = kDynamic;
      break;
    default:
      return Status::error("dynamic dimensions: expected letters of m, n, k, "
                           "found '" +
                           dims + "'");
    }
  }
  return open;
}

double flops(const LaunchSizes &sizes) {
  return 2.0 * double(sizes.m) * double(sizes.n) * double(sizes.k);
}

double minimalBytes(const Problem &problem, const LaunchSizes &sizes) {
  double bytes = 0;
  struct {
    Operand operand;
    DType type;
  } all[] = {{Operand::A, problem.a},
             {Operand::B, problem.b},
             {Operand::C, problem.d},
             {Operand::D, problem.d},
             {Operand::ScaleA, problem.scaleA.type},
             {Operand::ScaleB, problem.scaleB.type}};
  for (auto [operand, type] : all) {
    StoredShape shape = storedShape(problem, sizes, operand);
    bytes += double(shape.rows) * double(shape.cols) * double(sizeOf(type));
  }
  return bytes;
}

} // namespace dgemm
