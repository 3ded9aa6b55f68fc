// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-compile: one GEMM, from an IR file or from --gemm, to any level of IR,
// PTX, a cubin or a bundle.

#include "CommandLine.h"
#include "OutputFile.h"
#include "Report.h"

#include "dgemm/JIT/ArtifactFormat.h"
#include "dgemm/Support/Version.h"
#include "dgemm/Tools/TuningOption.h"

#include <cstdio>

#include <unistd.h>

int dgemmCompileMain(int argc, char **argv);

namespace dgemm::compile {

/// The text of a level of IR, or nothing when `emit` names an artifact's part.
static std::optional<jit::Stage> stageOf(Emit emit) {
  switch (emit) {
  case Emit::Schedule:
    return jit::Stage::Schedule;
  case Emit::Kernel:
    return jit::Stage::Kernel;
  case Emit::NVVM:
    return jit::Stage::NVVM;
  case Emit::LLVMIR:
    return jit::Stage::LLVM;
  default:
    return std::nullopt;
  }
}

static std::string contentOf(const jit::Artifact &artifact, Emit emit) {
  if (emit == Emit::Cubin)
    return std::string(artifact.cubin.begin(), artifact.cubin.end());
  if (emit == Emit::Bundle)
    return jit::toBundle(artifact);
  return artifact.ptx;
}

static Status compileFrom(const CommandLine &line, const std::string &text,
                          const Problem *problem) {
  DeviceModel device;
  if (Result<DeviceModel> found = findDevice(line.options.device))
    device = *found;
  else
    return found.status();

  bool needsArtifact = line.report || !stageOf(line.emit);
  std::string content;
  if (auto stage = stageOf(line.emit)) {
    Result<std::string> lowered = jit::lowerModule(text, *stage, line.options);
    if (!lowered)
      return lowered.status();
    content = std::move(*lowered);
  }
  std::string report;
  if (needsArtifact) {
    jit::CompileOptions options = line.options;
    // PTX needs no assembler, but only an assembler can fill the report.
    options.emitCubin = line.report || line.emit != Emit::PTX;
    options.requireCubin = line.emit == Emit::Cubin;
    Result<jit::Artifact> artifact =
        problem ? jit::compileProblem(*problem, options)
                : jit::compileModule(text, options);
    if (!artifact)
      return artifact.status();
    if (!stageOf(line.emit) && line.emit != Emit::None)
      content = contentOf(*artifact, line.emit);
    if (line.report)
      report = makeReport(*artifact, device);
  }

  bool binary = line.emit == Emit::Cubin;
  if (binary && line.output == "-" && ::isatty(STDOUT_FILENO))
    return Status::error("a cubin is binary: expected -o OUT");
  if (line.emit != Emit::None)
    if (Status status = writeOutput(line.output, content); !status)
      return status;
  bool standardTaken = line.emit != Emit::None && line.output == "-";
  std::FILE *reportFile = standardTaken ? stderr : stdout;
  std::fputs(report.c_str(), reportFile);
  if (std::fflush(reportFile) != 0)
    return Status::error("cannot write the report");
  return Status::success();
}

static Status run(CommandLine line) {
  if (line.options.schedule.empty())
    if (Status status = checkTuningOption(line.options.tuningDB); !status)
      return status;
  if (!line.gemm.empty()) {
    // Row lengths are arguments of the kernel; only the problem matters here.
    Result<GemmText> gemm = parseGemm(line.gemm);
    if (!gemm)
      return Status::error("--gemm: " + gemm.message());
    Result<std::string> text = jit::problemToModule(gemm->problem);
    if (!text)
      return text.status();
    line.options.inputName = "--gemm";
    return compileFrom(line, *text, &gemm->problem);
  }
  Result<std::string> text = readInput(line.input);
  if (!text)
    return text.status();
  line.options.inputName = line.input == "-" ? "<stdin>" : line.input;
  return compileFrom(line, *text, nullptr);
}

/// Diagnostics that begin with a place already say "error:".
static void printError(const std::string &message) {
  bool placed = message.find(": error: ") != std::string::npos ||
                message.rfind("error: ", 0) == 0;
  std::fprintf(stderr, "%s%s\n", placed ? "" : "error: ", message.c_str());
}

} // namespace dgemm::compile

int dgemmCompileMain(int argc, char **argv) {
  using namespace dgemm::compile;
  dgemm::Result<CommandLine> line = parseCommandLine(argc, argv);
  if (!line) {
    printError(line.message());
    return 2;
  }
  if (!line->help.empty()) {
    std::fputs(line->help.c_str(), stdout);
    return 0;
  }
  if (line->version) {
    std::printf("dgemm %s\n", dgemm::version());
    return 0;
  }
  if (dgemm::Status status = run(*line); !status) {
    printError(status.message());
    return 1;
  }
  return 0;
}
