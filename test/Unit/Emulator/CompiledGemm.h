// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels made by the compiler, run on the emulator and checked against the
// float64 reference.

#ifndef DGEMM_TEST_UNIT_EMULATOR_COMPILEDGEMM_H
#define DGEMM_TEST_UNIT_EMULATOR_COMPILEDGEMM_H

#include "dgemm/Emulator/Emulator.h"

#include <memory>
#include <string>

namespace dgemm::test {

/// A problem with dynamic sizes and one schedule, compiled to the machine
/// level.
struct CompiledGemm {
  std::string gemm, schedule; ///< as typed
  std::string l3;
  LaunchMetadata metadata;

  /// `gemm` as --gemm takes it; sizes left out are dynamic.
  static Result<CompiledGemm> create(const std::string &gemm,
                                     const std::string &schedule);
};

/// What one run gave.
struct Outcome {
  Status status; ///< the launch itself
  EmulatorReport report;
  bool numbersRight = false;
  double error = 0;
  std::string numbersText; ///< why they are wrong

  bool clean() const { return status && report.clean() && numbersRight; }
  std::string text() const;
};

/// Runs M x N x K, twice where there is a workspace; operands are random by
/// `options.seed`, allocations are filled in.
Outcome runGemm(const EmulatorProgram &program, const CompiledGemm &gemm,
                int64_t m, int64_t n, int64_t k, EmulatorOptions options);

} // namespace dgemm::test

#endif // DGEMM_TEST_UNIT_EMULATOR_COMPILEDGEMM_H
