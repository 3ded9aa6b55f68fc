// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Hands a caller's module over as text.

#include "dgemm/JIT/CompileModule.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dgemm::jit {

Result<std::shared_ptr<const Artifact>>
compileModule(ModuleOp module, const CompileOptions &options,
              Compiler &compiler) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // The generic form parses without the caller's dialects. Printing must not
  // verify: what is wrong shall come back as a diagnostic.
  OpPrintingFlags flags;
  flags.printGenericOpForm().assumeVerified();
  if (options.debugDirectives)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(stream, flags);
  return compiler.compileModule(text, options);
}

} // namespace dgemm::jit
