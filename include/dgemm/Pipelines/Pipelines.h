// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The pass pipelines by function and by name.

#ifndef DGEMM_PIPELINES_PIPELINES_H
#define DGEMM_PIPELINES_PIPELINES_H

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Runtime/LaunchMetadata.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <memory>
#include <string>

namespace dgemm {
class TuningDatabase;
} // namespace dgemm

namespace mlir::dgemm {

/// The last level that a pipeline produces.
enum class CompileLevel { Schedule, Kernel, Machine, Assembly };

/// Options of the textual pipeline
/// `--dgemm-compile-pipeline="chip=sm_90a ptx=80 stop-after=nvvm"`.
struct CompilePipelineOptions
    : public PassPipelineOptions<CompilePipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("GPU architecture; only sm_90a"),
                           llvm::cl::init("sm_90a")};
  Option<int> ptx{*this, "ptx",
                  llvm::cl::desc("PTX version times 10, 80 to 90"),
                  llvm::cl::init(80)};
  Option<std::string> device{
      *this, "device",
      llvm::cl::desc("Device whose model ranks schedules: h200, h100, h800 or "
                     "h20"),
      llvm::cl::init("h200")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Schedule for every matmul that has none, as it stands "
                     "inside #dgemm.schedule<...>"),
      llvm::cl::init("")};
  Option<std::string> db{
      *this, "db",
      llvm::cl::desc(
          "Tuning database: a file, shipped or none. Not asked where "
          "'schedule' decides"),
      llvm::cl::init("shipped")};
  Option<CompileLevel> stopAfter{
      *this, "stop-after", llvm::cl::desc("Last level to produce"),
      llvm::cl::init(CompileLevel::Machine),
      llvm::cl::values(
          clEnumValN(CompileLevel::Schedule, "schedule", "L1"),
          clEnumValN(CompileLevel::Kernel, "kernel", "L2"),
          clEnumValN(CompileLevel::Machine, "nvvm", "L3a, machine ops"),
          clEnumValN(CompileLevel::Assembly, "asm", "L3b, assembly"))};
};

/// L0 -> L1: attach the target, choose schedules. `database` is the one that
/// the option `db` names, opened already; null: it is opened when the pipeline
/// runs.
void buildSchedulePipeline(
    OpPassManager &manager, const CompilePipelineOptions &options,
    std::shared_ptr<const ::dgemm::TuningDatabase> database = nullptr);
/// L1 -> L2: kernels with everything explicit.
void buildKernelPipeline(OpPassManager &manager);
/// L2 -> L3a: NVVM and LLVM ops plus machine ops, cleaned up.
void buildMachinePipeline(OpPassManager &manager);
/// L0 -> the level `stopAfter` names.
void buildDgemmCompilePipeline(OpPassManager &manager,
                               const CompilePipelineOptions &options);
/// L3a -> L3b -> the LLVM dialect alone, ready for translation to LLVM IR.
/// Runs on a module; host functions are left as they are. With
/// `debugDirectives`, source locations become .loc directives.
void buildLowerToLLVMPipeline(OpPassManager &manager, bool debugDirectives);

/// `dgemm-compile-pipeline` and `dgemm-lower-to-llvm`.
void registerDgemmPipelines();

/// The launch metadata document of a launch whose kernels have been converted
/// (L3): their documents joined, with the launch's bounds as dispatch table.
FailureOr<::dgemm::LaunchMetadata> collectLaunchMetadata(LaunchOp launch);

} // namespace mlir::dgemm

#endif // DGEMM_PIPELINES_PIPELINES_H
