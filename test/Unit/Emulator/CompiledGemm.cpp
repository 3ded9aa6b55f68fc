// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compilation through the JIT library, data and verification through the
// reference library.

#include "CompiledGemm.h"

#include "dgemm/JIT/Compiler.h"
#include "dgemm/Reference/Verify.h"

#include <algorithm>
#include <vector>

using namespace dgemm;
using namespace dgemm::test;

Result<CompiledGemm> CompiledGemm::create(const std::string &gemm,
                                          const std::string &schedule) {
  Result<GemmText> parsed = parseGemm(gemm);
  if (!parsed)
    return parsed.status();
  jit::CompileOptions options;
  options.schedule = schedule;
  options.emitCubin = false;
  options.cacheDir = "none";
  Result<jit::Artifact> artifact =
      jit::compileProblem(parsed->problem, options);
  if (!artifact)
    return artifact.status();
  CompiledGemm out;
  out.gemm = gemm;
  out.schedule = schedule;
  out.l3 = artifact->l3IR;
  out.metadata = artifact->metadata;
  return out;
}

std::string Outcome::text() const {
  if (!status)
    return status.message();
  return toString(report) + (numbersRight ? "" : numbersText + "\n");
}

Outcome dgemm::test::runGemm(const EmulatorProgram &program,
                             const CompiledGemm &gemm, int64_t m, int64_t n,
                             int64_t k, EmulatorOptions options) {
  Outcome out;
  Problem problem = gemm.metadata.problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  Result<HostOperands> operands =
      makeOperands(problem, defaultSizes(problem, m, n, k), options.seed);
  if (!operands) {
    out.status = operands.status();
    return out;
  }
  LaunchOperands addresses = operands->addresses();
  Result<LaunchPlan> plan =
      planLaunch(gemm.metadata, operands->sizes, addresses, LaunchOptions(),
                 options.smCount);
  if (!plan) {
    out.status = plan.status();
    return out;
  }
  std::vector<unsigned char> workspace(size_t(plan->workspaceBytes) + 256, 0);
  addresses.workspace =
      (reinterpret_cast<uint64_t>(workspace.data()) + 255) / 256 * 256;
  const auto allow = [&](const HostMatrix &matrix, const char *name) {
    if (matrix.type() != DType::None)
      options.allocations.push_back({reinterpret_cast<uint64_t>(matrix.data()),
                                     uint64_t(matrix.dataBytes()), name});
  };
  allow(operands->a, "a");
  allow(operands->b, "b");
  allow(operands->c, "c");
  allow(operands->d, "d");
  allow(operands->scaleA, "scale_a");
  allow(operands->scaleB, "scale_b");
  options.allocations.push_back(
      {addresses.workspace, uint64_t(plan->workspaceBytes), "workspace"});
  // Behind a kernel that may still run.
  LaunchOptions launch;
  launch.programmaticDependentLaunch = true;
  unsigned char *output = static_cast<unsigned char *>(operands->d.data());
  const std::vector<unsigned char> poison(output,
                                          output + operands->d.dataBytes());
  // A kernel must leave its workspace as it wants to find it.
  for (int left = plan->workspaceBytes > 0 ? 2 : 1;
       left > 0 && out.status && out.report.findings.empty(); --left) {
    std::copy(poison.begin(), poison.end(), output);
    out.status = program.run(gemm.metadata, operands->sizes, addresses, launch,
                             options, out.report);
  }
  // The numbers of a run with findings say nothing more.
  if (!out.status || !out.report.clean())
    return out;
  const VerifyResult result =
      verify(*operands, toleranceFor(operands->problem));
  out.numbersRight = result.ok;
  out.error = result.relativeError;
  out.numbersText = result.failure;
  return out;
}
