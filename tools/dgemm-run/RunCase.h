// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One GEMM from its text to a verdict.

#ifndef DGEMM_TOOLS_DGEMM_RUN_RUNCASE_H
#define DGEMM_TOOLS_DGEMM_RUN_RUNCASE_H

#include "RunOptions.h"
#include "dgemm/Emulator/Emulator.h"
#include "dgemm/JIT/Compiler.h"
#include "dgemm/Reference/Verify.h"
#include "dgemm/Runtime/Device.h"
#include "dgemm/Tools/GemmOption.h"

#include <memory>
#include <optional>
#include <string>

namespace dgemm::run {

/// What is to be run.
struct Case {
  std::string label;  ///< the line or file it came from
  std::string module; ///< MLIR text; empty: gemm holds the problem
  GemmText gemm;
  std::string schedule, dynamicDims;
  /// Not empty: the case passes only when it fails before or at launch with
  /// an error that contains this.
  std::string expectedError;
};

/// Reads a line of a batch file. `fallback` gives what the line leaves out.
Result<Case> parseCase(const std::string &line, const RunOptions &fallback);

/// Where kernels run. Without a device nothing is executed.
struct Target {
  std::shared_ptr<cuda::Device> device; ///< set: run there
  bool emulator = false;
  std::string name;   ///< for people: "NVIDIA H200", "emulator", "none"
  std::string reason; ///< why there is no GPU; empty when there is one
};
/// Finds the device that --device asks for. An error only when a GPU was asked
/// for by name and one is there that cannot be used.
Result<Target> findTarget(const RunOptions &options);

/// What came out of one case.
struct Outcome {
  ExitCode code = kBadInput;
  std::string error; ///< why it is not right; empty when it is
  LaunchSizes sizes;
  Problem problem;
  std::shared_ptr<const jit::Artifact> artifact;
  int kernel = -1; ///< index into the artifact's kernels, -1: none launched
  std::optional<VerifyResult> verified;
  std::string timeMethod; ///< "cupti", "events", "wall"; empty: not timed
  double timeUs = 0;
  std::string emulatorReport; ///< findings, empty when clean
  /// With --against-emulator: relative Frobenius norm of the GPU's result
  /// minus the emulator's.
  std::optional<double> difference;
  bool deviceLost = false; ///< the process cannot use the GPU any more
};

jit::CompileOptions compileOptions(const RunOptions &options,
                                   const Target &target,
                                   const std::string &schedule);
/// Compiles what the case describes, through the process-wide compiler.
Result<std::shared_ptr<const jit::Artifact>>
compileCase(const Case &which, const RunOptions &options, const Target &target);

/// Compiles, runs and verifies.
Outcome runCase(const Case &which, const RunOptions &options,
                const Target &target);

} // namespace dgemm::run

#endif // DGEMM_TOOLS_DGEMM_RUN_RUNCASE_H
