// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt as a baseline to measure against, through dlopen. It computes the
// same D = A x B^T from the same operands; scales are repacked on the host
// into the layouts it takes, outside what is timed.

#ifndef DGEMM_RUNTIME_CUBLASLT_H
#define DGEMM_RUNTIME_CUBLASLT_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace dgemm::cuda {

/// Which of its kernels is asked for.
enum class Baseline {
  BF16,         ///< BF16 or F16 operands, no scales
  FP8PerTensor, ///< one scale per operand
  FP8PerRow,    ///< one scale per row of A and of B
  FP8Block      ///< 1x128 scales of A, 128x128 scales of B
};
/// "bf16", "fp8-tensor", "fp8-row", "fp8-block".
const char *toString(Baseline baseline);
Result<Baseline> parseBaseline(const std::string &text);
/// The baseline that computes exactly what the problem asks for, or an error
/// when cuBLASLt has none.
Result<Baseline> baselineFor(const Problem &problem);

struct CublasLtLibrary;

/// One planned cuBLASLt matmul: the heuristic's first choice.
class CublasLtMatmul {
public:
  /// Operands in device memory. `scaleA` and `scaleB` hold the scales on the
  /// host as the baseline's recipe has them: one value per tensor, one per
  /// row, or K-major [rows, ceil(K/128)] and [ceil(N/128), ceil(K/128)].
  /// Too few values are an error naming the operand; BF16 takes none.
  struct Operands {
    uint64_t a = 0, b = 0, d = 0;
    std::vector<float> scaleA, scaleB;
  };
  /// The error says that the library is missing or that it has no kernel for
  /// this problem (and its status code). NT layout, K >= 1.
  static Result<std::unique_ptr<CublasLtMatmul>>
  create(std::shared_ptr<Device> device, Baseline baseline,
         const Problem &problem, const LaunchSizes &sizes,
         const Operands &operands);
  ~CublasLtMatmul();
  CublasLtMatmul(const CublasLtMatmul &) = delete;
  CublasLtMatmul &operator=(const CublasLtMatmul &) = delete;

  Status launch(CUstream stream);
  /// Version of the library, for example "13.0.0".
  std::string libraryVersion() const;

private:
  CublasLtMatmul() = default;

  std::shared_ptr<Device> device;
  const CublasLtLibrary *library = nullptr;
  void *description = nullptr;
  void *layoutA = nullptr, *layoutB = nullptr, *layoutD = nullptr;
  alignas(16) unsigned char heuristic[96] = {};
  Operands operands;
  DeviceBuffer workspace, scaleA, scaleB;
};

/// Repacks K-major block scales of A (1x128) for cuBLASLt: [ceil(K/128), M].
std::vector<float> packRowBlockScales(const std::vector<float> &scales,
                                      int64_t rows, int64_t blocks);
/// Repacks K-major block scales of B (128x128): each row of blocks padded to
/// a multiple of 4 values.
std::vector<float> packSquareBlockScales(const std::vector<float> &scales,
                                         int64_t blockRows, int64_t blocks);

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_CUBLASLT_H
