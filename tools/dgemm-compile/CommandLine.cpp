// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the command line of dgemm-compile.

#include "CommandLine.h"

#include "dgemm/Tools/Arguments.h"
#include "dgemm/Tools/TuningOption.h"

#include <algorithm>
#include <map>

namespace dgemm::compile {

static Result<Emit> parseEmit(const std::string &text) {
  static const std::map<std::string, Emit> names = {
      {"schedule", Emit::Schedule}, {"kernel", Emit::Kernel},
      {"nvvm", Emit::NVVM},         {"llvmir", Emit::LLVMIR},
      {"ptx", Emit::PTX},           {"cubin", Emit::Cubin},
      {"bundle", Emit::Bundle}};
  if (auto it = names.find(text); it != names.end())
    return it->second;
  return Status::error("option --emit: expected schedule, kernel, nvvm, "
                       "llvmir, ptx, cubin or bundle, found '" +
                       text + "'");
}

/// Takes "-o OUT", as every compiler spells it, out of the arguments.
static Status takeOutput(std::vector<char *> &arguments, std::string &output) {
  for (size_t i = 1; i < arguments.size();) {
    std::string argument = arguments[i];
    if (argument.rfind("-o", 0) != 0) {
      ++i;
      continue;
    }
    auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    if (argument == "-o") {
      if (i + 1 == arguments.size())
        return Status::error("option -o: expected a file name, found nothing");
      output = arguments[i + 1];
      arguments.erase(at, at + 2);
    } else {
      output = argument.substr(argument[2] == '=' ? 3 : 2);
      arguments.erase(at);
    }
    if (output.empty())
      return Status::error("option -o: expected a file name, found ''");
  }
  return Status::success();
}

Result<CommandLine> parseCommandLine(int argc, char **argv) {
  CommandLine line;
  std::vector<char *> rest(argv, argv + argc);
  if (Status status = takeOutput(rest, line.output); !status)
    return status;

  std::string emit;
  int64_t ptxVersion = line.options.ptxVersion;
  bool noDebug = false;
  Arguments arguments(
      "(IN.mlir | --gemm=TEXT) [--emit=WHAT] [-o OUT] [options]\n"
      "Compiles the one GEMM of a module (- reads standard input) for NVIDIA "
      "Hopper.");
  arguments.add("gemm", line.gemm,
                "the GEMM itself, instead of a file: "
                "m=?,n=7168,k=2048,a=bf16,b=bf16,d=bf16,layout=nt");
  arguments.add("emit", emit,
                "schedule (L1), kernel (L2), nvvm (L3b), llvmir, ptx (default "
                "without --report), cubin, or bundle (PTX, cubin if there is a "
                "ptxas, launch metadata)");
  arguments.add("report", line.report,
                "resources, predicted time and why the schedule was chosen; on "
                "standard error when the output is on standard output");
  arguments.add("schedule", line.options.schedule,
                "your schedule, as inside #dgemm.schedule<...>");
  arguments.add("db", line.options.tuningDB, kTuningOptionHelp);
  arguments.add("chip", line.options.chip, "sm_90a, the only one");
  arguments.add(
      "ptx", ptxVersion,
      "PTX version times ten, 80 to 90; FP8 in register form has at least 84");
  arguments.add("device", line.options.device,
                "device the schedule is chosen for: H200, H100, H800, H20");
  arguments.add("ptxas", line.options.ptxasPath,
                "the assembler; default: the one in PATH, CUDA_HOME, "
                "CUDA_PATH or /usr/local/cuda");
  arguments.add("allow-slow", line.options.allowSlow,
                "accept kernels that spill or serialise their WGMMAs");
  arguments.add("cache-dir", line.options.cacheDir,
                "disk cache, none for none; default: $DGEMM_CACHE_DIR, else "
                "~/.cache/dgemm");
  arguments.add("dump-dir", line.options.dumpDir,
                "folder for every intermediate level");
  arguments.add("no-debug", noDebug, "no .loc directives in the PTX");
  arguments.add("version", line.version, "print the version");
  if (Status status =
          arguments.parse(static_cast<int>(rest.size()), rest.data());
      !status)
    return status;
  if (arguments.wantsHelp())
    line.help = arguments.help("dgemm-compile");
  if (!line.help.empty() || line.version)
    return line;

  line.options.debugDirectives = !noDebug;
  // Values beyond int are as wrong as any other; verifyTarget names them.
  line.options.ptxVersion =
      static_cast<int>(std::clamp<int64_t>(ptxVersion, -1, 100000));
  if (!emit.empty()) {
    Result<Emit> parsed = parseEmit(emit);
    if (!parsed)
      return parsed.status();
    line.emit = *parsed;
  } else if (!line.report) {
    line.emit = Emit::PTX;
  }
  const std::vector<std::string> &inputs = arguments.positional();
  if (inputs.size() > 1)
    return Status::error("expected one input, found '" + inputs[0] + "' and '" +
                         inputs[1] + "'");
  if (!inputs.empty())
    line.input = inputs.front();
  if (line.input.empty() == line.gemm.empty())
    return Status::error(line.input.empty()
                             ? "no input: expected a file or --gemm=TEXT"
                             : "expected a file or --gemm, found both");
  return line;
}

} // namespace dgemm::compile
