// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// For compilers that are built on MLIR themselves: the GEMM of a module that
// lives in the caller's own context.

#ifndef DGEMM_JIT_COMPILEMODULE_H
#define DGEMM_JIT_COMPILEMODULE_H

#include "dgemm/JIT/Compiler.h"

#include "mlir/IR/BuiltinOps.h"

namespace dgemm::jit {

/// Compiles the one GEMM of `module`, which is only read. Its other ops may be
/// of any dialect. Source locations reach diagnostics and, unless debug
/// directives are off, the PTX. The caller's context is not used beyond
/// printing, so its diagnostic handlers and threads are never involved.
Result<std::shared_ptr<const Artifact>>
compileModule(mlir::ModuleOp module, const CompileOptions &options = {},
              Compiler &compiler = Compiler::instance());

} // namespace dgemm::jit

#endif // DGEMM_JIT_COMPILEMODULE_H
