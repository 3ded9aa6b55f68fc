// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// An artifact with every part filled, for tests that store and read artifacts.

#ifndef DGEMM_TEST_UNIT_JIT_TESTARTIFACT_H
#define DGEMM_TEST_UNIT_JIT_TESTARTIFACT_H

#include "dgemm/JIT/Compiler.h"

#include <string>

inline dgemm::jit::Artifact makeTestArtifact(const std::string &mark) {
  dgemm::jit::Artifact artifact;
  artifact.ptx = ".version 8.0 // " + mark;
  std::string cubin = std::string("\177ELF\0\1\377", 7) + mark;
  artifact.cubin.assign(cubin.begin(), cubin.end());
  artifact.metadata.problem.n = 4096;
  artifact.metadata.problem.k = 7168;
  dgemm::KernelMetadata kernel;
  kernel.entry = "gemm";
  artifact.metadata.kernels.push_back(kernel);
  artifact.metadata.dispatch.push_back({});
  artifact.ptxasLog = "log of " + mark;
  dgemm::jit::KernelResources resources;
  resources.entry = "gemm";
  resources.registers = 168;
  resources.spillLoads = 4;
  resources.sharedMemory = 1024;
  resources.warnings = {"first", "second"};
  artifact.resources.push_back(resources);
  artifact.scheduleReport = "report";
  artifact.l3IR = "module {}";
  return artifact;
}

#endif // DGEMM_TEST_UNIT_JIT_TESTARTIFACT_H
