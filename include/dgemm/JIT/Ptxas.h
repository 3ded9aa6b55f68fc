// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX text to cubin by the toolkit's assembler, run as a subprocess, and what
// its log says about each kernel.

#ifndef DGEMM_JIT_PTXAS_H
#define DGEMM_JIT_PTXAS_H

#include "dgemm/JIT/Compiler.h"
#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm::jit {

/// An assembler that answered when asked for its version.
struct Ptxas {
  std::string path;
  std::string version; ///< "13.0.88"
  /// Newest PTX version (times ten) it takes; 0 when its release is unknown.
  int newestPTX = 0;
};

/// The assembler at `path`, or, when that is empty, the first found in $PATH,
/// $CUDA_HOME/bin, $CUDA_PATH/bin and /usr/local/cuda/bin. A variable that is
/// set but holds no bin/ptxas is an error. The text says where it was looked
/// for, or what the program did instead of naming its version.
Result<Ptxas> findPtxas(const std::string &path);

/// Version and newest PTX out of what `ptxas --version` prints; an empty
/// version when the text is not that of a ptxas.
Ptxas parsePtxasVersion(const std::string &text);

struct Assembly {
  std::vector<char> cubin;
  std::string log;
  std::vector<KernelResources> resources;
};

/// Assembles at -O3 for `chip`. The error holds ptxas's own first errors.
Result<Assembly> assemble(const Ptxas &ptxas, const std::string &ptx,
                          const std::string &chip);

/// Registers, spills, stack, shared memory and warnings of every entry in a
/// log written with -v. A warning that names no entry belongs to all.
std::vector<KernelResources> parsePtxasLog(const std::string &log);

/// What makes the kernel slower than its schedule promises: any spill, and the
/// codes C7504 to C7519 (setmaxnreg ignored, WGMMAs serialised, waits
/// injected) and C7602 (register limit). Empty when there is nothing.
std::vector<std::string> findSlowness(const KernelResources &resources);

} // namespace dgemm::jit

#endif // DGEMM_JIT_PTXAS_H
