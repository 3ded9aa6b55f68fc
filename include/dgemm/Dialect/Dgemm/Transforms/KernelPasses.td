// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes from the scheduled problem (L1) through the kernel level (L2). Each
// takes one action that the schedule decided; none decides anything itself.
// They run in the order of buildDgemmCompilePipeline.

#ifndef DGEMM_KERNEL_PASSES
#define DGEMM_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def DgemmCreateKernelPass : Pass<"dgemm-create-kernel", "::mlir::ModuleOp"> {
  let summary = "outline every scheduled matmul into kernels and a launch";
  let description = [{
    For each `dgemm.matmul` with a schedule, creates one `dgemm.kernel` (one
    per row of a `#dgemm.dispatch`) whose body is the tile loop on whole CTA
    tiles, and replaces the op by `dgemm.launch`. Ops around it are left alone.
    What this version cannot realise is refused with the reason.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numKernels", "kernels",
                              "Number of kernels created">];
}

def DgemmInsertScalingPass
    : Pass<"dgemm-insert-scaling", "::mlir::dgemm::KernelOp"> {
  let summary = "promote FP8 partial products to FP32 once per K block";
  let description = [{
    In a kernel whose schedule has `promote`, splits each `dgemm.tile_mma` into
    the product of one K block and a `dgemm.tile_promote` that scales it and
    adds it to the FP32 accumulator. Kernels without promotion are untouched.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
}

def DgemmMaterializePipelinePass
    : Pass<"dgemm-materialize-pipeline", "::mlir::dgemm::KernelOp"> {
  let summary = "make the ring of slots and its barrier phases explicit";
  let description = [{
    Creates the `dgemm.ring` of the schedule's stages, carries slot and phase
    through the tile and K loops, and turns each `dgemm.load` into a TMA copy
    into the slot between `acquire`, `expect` (producer) and `wait`, `release`
    (consumer).
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def DgemmSpecializeWarpsPass
    : Pass<"dgemm-specialize-warps", "::mlir::dgemm::KernelOp"> {
  let summary = "split the tile loop between producer and consumer warps";
  let description = [{
    Clones the tile loop into a producer role, which keeps the copies, and a
    consumer role, which keeps the arithmetic and the store. Ping-pong
    consumers visit every second tile and skip the other's K blocks.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def DgemmPartitionMmaPass
    : Pass<"dgemm-partition-mma", "::mlir::dgemm::KernelOp"> {
  let summary = "cut tile arithmetic into 64xN blocks of one warpgroup";
  let description = [{
    Replaces fragments of whole tiles by one fragment for each m64 block and
    n-block of a consumer warpgroup, orders multiplications, promotions and the
    slot release, and picks the column scales: where the schedule's tile
    columns cut the scale blocks differently from tile to tile, the K loop is
    cloned once for each way (`scf.index_switch`).
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def DgemmLowerEpiloguePass
    : Pass<"dgemm-lower-epilogue", "::mlir::dgemm::KernelOp"> {
  let summary = "spell out scaling, accumulation and store of finished tiles";
  let description = [{
    Replaces each `dgemm.tile_store` by the scales that waited for the
    epilogue, the addition of C, and the store the schedule asks for: staged
    boxes and TMA copies, with a checked store from registers for tiles at a
    ragged last column; or that checked store for all tiles.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def DgemmInsertFencesPass
    : Pass<"dgemm-insert-fences", "::mlir::dgemm::KernelOp"> {
  let summary = "order the tensor core and the async proxy";
  let description = [{
    Puts the tied `wgmma_fence` in front of each run of `dgemm.mma`, commits
    groups behind them, waits for them before their results are promoted or
    their slot is released, and fences generic writes to shared memory before a
    TMA store reads them.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
}

def DgemmPlanSmemPass
    : Pass<"dgemm-plan-smem", "::mlir::dgemm::KernelOp"> {
  let summary = "give every shared-memory buffer its place";
  let description = [{
    Attaches `#dgemm.smem_plan`; an error with used and available bytes when
    the plan does not fit.
  }];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
}

def DgemmVerifyKernelPass
    : Pass<"dgemm-verify-kernel", "::mlir::dgemm::KernelOp"> {
  let summary = "check a finished kernel before it becomes machine ops";
  let description = [{
    No tile-level op is left; there are one ring, one producer and one
    consumer; slots and shared-memory plan are the schedule's; the bytes a slot
    expects are the bytes its copies bring; every slot a consumer waits for it
    releases; multiplications are fenced and committed.
  }];
}

#endif // DGEMM_KERNEL_PASSES
