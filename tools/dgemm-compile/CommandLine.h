// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of dgemm-compile as a struct.

#ifndef DGEMM_TOOLS_DGEMM_COMPILE_COMMANDLINE_H
#define DGEMM_TOOLS_DGEMM_COMPILE_COMMANDLINE_H

#include "dgemm/JIT/Compiler.h"
#include "dgemm/Support/Status.h"

#include <string>

namespace dgemm::compile {

/// What is written; None: only the report.
enum class Emit { None, Schedule, Kernel, NVVM, LLVMIR, PTX, Cubin, Bundle };

struct CommandLine {
  std::string input; ///< file name, "-" for standard input
  std::string gemm;  ///< instead of a file
  Emit emit = Emit::None;
  std::string output = "-";
  bool report = false;
  bool version = false;
  std::string help; ///< text to print instead of doing anything
  jit::CompileOptions options;
};

/// The error names the option.
Result<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace dgemm::compile

#endif // DGEMM_TOOLS_DGEMM_COMPILE_COMMANDLINE_H
