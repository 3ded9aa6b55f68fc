// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From a GEMM to a loadable kernel: the interface an embedding compiler or an
// inference engine links. A problem (or an MLIR module as text) goes in; PTX,
// a cubin and the launch metadata come out. Results are kept in memory and on
// disk. This header needs neither MLIR nor CUDA.

#ifndef DGEMM_JIT_COMPILER_H
#define DGEMM_JIT_COMPILER_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dgemm::jit {

/// Everything that influences a compilation besides the problem.
struct CompileOptions {
  /// Only "sm_90a"; any other chip is refused by name.
  std::string chip = "sm_90a";
  /// PTX ISA version times ten, 80 to 90, and no newer than ptxas takes. FP8
  /// kernels in register form are of version 84 at least.
  int ptxVersion = 80;
  /// Device model the schedule is chosen for: "H200", "H100", "H800", "H20".
  std::string device = "H200";
  /// Name of the module in diagnostics and in `.loc` directives.
  std::string inputName = "<input>";
  /// Text inside #dgemm.schedule<>; empty: chosen by the compiler.
  std::string schedule;
  /// Measured schedules, which come before the cost model's: a file of tuning
  /// records used before the shipped table, "shipped" or "none"; empty:
  /// $DGEMM_DB, else "shipped". Not read when `schedule` decides. A file is
  /// read again after it has changed.
  std::string tuningDB;
  /// Assemble the PTX. Without a ptxas the artifact holds PTX only, which the
  /// driver compiles when the kernel is loaded, unless requireCubin is set.
  bool emitCubin = true;
  /// No ptxas, or one that does not work, is an error.
  bool requireCubin = false;
  /// The assembler; empty: $PATH, then bin/ of $CUDA_HOME, $CUDA_PATH and
  /// /usr/local/cuda. A path given here must work.
  std::string ptxasPath;
  /// Folder of the disk cache; empty: $DGEMM_CACHE_DIR, else the user's cache
  /// folder; "none": no disk cache.
  std::string cacheDir;
  /// `.loc` directives in the PTX that name the source ops.
  bool debugDirectives = true;
  /// Spills and serialised WGMMAs are warnings of the artifact, not errors.
  bool allowSlow = false;
  /// Folder that gets every intermediate level as a file; empty: none (or
  /// $DGEMM_DUMP_DIR).
  std::string dumpDir;
  /// Keep the text of the machine level, which the emulator runs.
  bool keepL3 = true;
};

/// What ptxas says about one kernel.
struct KernelResources {
  std::string entry;
  int registers = 0;                   ///< per thread, at entry
  int spillStores = 0, spillLoads = 0; ///< bytes
  int stackFrame = 0;                  ///< bytes
  int64_t sharedMemory = 0;            ///< static, bytes
  std::vector<std::string> warnings;   ///< each names its code
};

/// A compiled GEMM: one kernel, or several and a table over M.
struct Artifact {
  std::string ptx;
  std::vector<char> cubin; ///< empty: not assembled
  LaunchMetadata metadata;
  std::string ptxasLog;                   ///< also says why there is no cubin
  std::vector<KernelResources> resources; ///< empty without a cubin
  /// What was chosen, what was rejected and why; lines of text.
  std::string scheduleReport;
  std::string scheduledIR; ///< L1
  std::string kernelIR;    ///< L2
  std::string l3IR;        ///< L3a; input of the emulator
  std::string nvvmIR;      ///< L3b; only with a dump folder
  std::string llvmIR;      ///< optimised; only with a dump folder
};

/// Compiles one problem, through the process-wide Compiler. Strides are
/// arguments of the kernel, so one artifact serves them all.
Result<Artifact> compileProblem(const Problem &problem,
                                const CompileOptions &options = {});
/// Compiles the one GEMM of an MLIR module given as text or bytecode; ops
/// around it are ignored. Errors carry locations.
Result<Artifact> compileModule(const std::string &mlirText,
                               const CompileOptions &options = {});

/// The stages of compilation, in order.
enum class Stage {
  Schedule, ///< L1
  Kernel,   ///< L2
  Machine,  ///< L3a
  NVVM,     ///< L3b
  LLVM,     ///< optimised LLVM IR
  PTX
};

/// A module holding one dgemm.matmul (L0), as text.
Result<std::string> problemToModule(const Problem &problem);

/// Lowers the one GEMM of a module to a stage and returns its text, uncached.
/// Up to NVVM that is the whole module, every op around the GEMM as it was.
Result<std::string> lowerModule(const std::string &mlirText, Stage stage,
                                const CompileOptions &options = {});

/// How often each way to an artifact was taken.
struct CompilerStatistics {
  int64_t compiled = 0;   ///< ran the pipeline
  int64_t memoryHits = 0; ///< found in this process (or waited for)
  int64_t diskHits = 0;   ///< read from the disk cache
};

/// Compiles and remembers. All members may be called from any thread: two
/// threads that ask for the same key share one compilation, different keys
/// compile side by side.
class Compiler {
public:
  Compiler();
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// As the free functions above; the artifact is shared with the cache.
  Result<std::shared_ptr<const Artifact>>
  compileProblem(const Problem &problem, const CompileOptions &options = {});
  Result<std::shared_ptr<const Artifact>>
  compileModule(const std::string &mlirText,
                const CompileOptions &options = {});

  CompilerStatistics statistics() const;

  /// The one that the free functions use.
  static Compiler &instance();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dgemm::jit

#endif // DGEMM_JIT_COMPILER_H
