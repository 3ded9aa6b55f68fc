// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// LLVM and NVVM dialects to PTX text, inside this process: no CUDA toolkit and
// no libdevice take part.

#ifndef DGEMM_JIT_EMITPTX_H
#define DGEMM_JIT_EMITPTX_H

#include "dgemm/Support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dgemm::jit {

/// Oldest and newest PTX version (times ten) that can be asked for.
inline constexpr int kMinPTXVersion = 80;
inline constexpr int kMaxPTXVersion = 90;

/// Checks what LLVM itself would end the process for: a chip other than sm_90a
/// and a PTX version outside [kMinPTXVersion, kMaxPTXVersion].
Status verifyTarget(const std::string &chip, int ptxVersion);

struct EmittedCode {
  std::string llvmIR; ///< optimised; only when asked for
  std::string ptx;
};

/// Emits every device function of `module`: those inside gpu.module ops, and
/// kernels (nvvm.kernel) with what they refer to at the top. The module must be
/// in the LLVM and NVVM dialects there; other ops are not looked at. The PTX
/// is of a newer version where an instruction needs one. Errors are reported
/// through the context's diagnostics as well as LLVM's.
Result<EmittedCode> emitPTX(mlir::ModuleOp module, const std::string &chip,
                            int ptxVersion, bool wantLLVMIR);

/// The translations to LLVM IR that emitPTX needs.
void registerTranslations(mlir::DialectRegistry &registry);

} // namespace dgemm::jit

#endif // DGEMM_JIT_EMITPTX_H
