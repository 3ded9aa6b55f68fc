// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares two results of a GEMM where they lie, on the device: checking a
// candidate this way takes less than a millisecond where copying D back takes
// tens.

#ifndef DGEMM_RUNTIME_DEVICECOMPARE_H
#define DGEMM_RUNTIME_DEVICECOMPARE_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Runtime/Module.h"

#include <map>
#include <memory>

namespace dgemm::cuda {

/// Two matrices of equal layout and what may differ between them.
struct CompareInputs {
  DType type = DType::BF16;
  /// Device addresses of the first elements.
  uint64_t d = 0, reference = 0;
  int64_t rows = 0, cols = 0, stride = 0; ///< elements
  /// Device addresses of one float for each row and each column.
  uint64_t rowNorms = 0, colNorms = 0;
  /// An element may differ from the reference by rounding * |reference| +
  /// typical * rowNorm * colNorm; a NaN always differs.
  float rounding = 0, typical = 0;
  /// What every byte between rows, and guardBytes (a multiple of 4) in front
  /// of d and behind its last row, has to hold.
  uint8_t guard = 0;
  int64_t guardBytes = 0;
};

struct CompareResult {
  int64_t mismatches = 0;      ///< elements
  int64_t guardViolations = 0; ///< elements between rows, words of guards
  double errorSquares = 0, referenceSquares = 0;
};

class DeviceComparer {
public:
  static Result<std::unique_ptr<DeviceComparer>>
  create(std::shared_ptr<Device> device);

  /// BF16, F16 and F32.
  static bool supports(DType type);
  /// Enqueues the comparison and waits for it. Sums are of finite elements.
  Result<CompareResult> compare(const CompareInputs &inputs,
                                const Stream &stream);

private:
  DeviceComparer() = default;

  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedModule> module;
  std::map<DType, KernelFunction> kernels;
  DeviceBuffer totals;
};

/// PTX text of the comparing kernels, one for each type.
std::string comparePtx();

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_DEVICECOMPARE_H
