// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes, by level.

#include "dgemm/Pipelines/Pipelines.h"

#include "dgemm/Conversion/DgemmToNVVM/DgemmToNVVM.h"
#include "dgemm/Conversion/LowerToAsm/LowerToAsm.h"
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::dgemm;

void mlir::dgemm::buildSchedulePipeline(
    OpPassManager &manager, const CompilePipelineOptions &options,
    std::shared_ptr<const ::dgemm::TuningDatabase> database) {
  DgemmVerifyTargetPassOptions target;
  target.chip = options.chip;
  target.ptx = options.ptx;
  manager.addPass(createDgemmVerifyTargetPass(target));
  // A schedule given for everything undecided is the user's, and so comes
  // before a tuned one.
  if (options.schedule.empty()) {
    DgemmApplyTuningPassOptions tuning;
    tuning.db = options.db;
    tuning.deviceName = options.device;
    manager.addPass(createDgemmApplyTuningPass(tuning, std::move(database)));
  }
  DgemmSelectSchedulePassOptions select;
  select.deviceName = options.device;
  select.schedule = options.schedule;
  manager.addPass(createDgemmSelectSchedulePass(select));
}

void mlir::dgemm::buildKernelPipeline(OpPassManager &manager) {
  manager.addPass(createDgemmCreateKernelPass());
  OpPassManager &kernel = manager.nest<KernelOp>();
  kernel.addPass(createDgemmInsertScalingPass());
  kernel.addPass(createDgemmMaterializePipelinePass());
  kernel.addPass(createDgemmSpecializeWarpsPass());
  kernel.addPass(createDgemmPartitionMmaPass());
  kernel.addPass(createDgemmLowerEpiloguePass());
  kernel.addPass(createDgemmInsertFencesPass());
  kernel.addPass(createDgemmPlanSmemPass());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createDgemmVerifyKernelPass());
}

void mlir::dgemm::buildMachinePipeline(OpPassManager &manager) {
  manager.addPass(createConvertDgemmToNVVMPass());
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
}

void mlir::dgemm::buildDgemmCompilePipeline(
    OpPassManager &manager, const CompilePipelineOptions &options) {
  buildSchedulePipeline(manager, options);
  if (options.stopAfter == CompileLevel::Schedule)
    return;
  buildKernelPipeline(manager);
  if (options.stopAfter == CompileLevel::Kernel)
    return;
  buildMachinePipeline(manager);
  if (options.stopAfter == CompileLevel::Assembly)
    manager.nest<gpu::GPUModuleOp>().addPass(createDgemmLowerToAsmPass());
}

void mlir::dgemm::buildLowerToLLVMPipeline(OpPassManager &manager,
                                           bool debugDirectives) {
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createDgemmLowerToAsmPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  if (debugDirectives) {
    LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
    scopes.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
    manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));
  }
}

void mlir::dgemm::registerDgemmPipelines() {
  PassPipelineRegistration<CompilePipelineOptions>(
      "dgemm-compile-pipeline",
      "From scheduled or unscheduled matmuls (L0, L1) to machine ops (L3)",
      buildDgemmCompilePipeline);
  PassPipelineRegistration<>(
      "dgemm-lower-to-llvm",
      "From machine ops (L3a) to the LLVM dialect, ready for translation",
      [](OpPassManager &manager) {
        buildLowerToLLVMPipeline(manager, /*debugDirectives=*/false);
      });
}
