// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole pipeline, level by level: what is gone and what has come at each.
// Ops around the GEMMs are left alone.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=schedule" | FileCheck %s --check-prefixes=CHECK,SCHEDULE
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: dgemm-opt %s --dgemm-compile-pipeline="chip=sm_90a" | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: dgemm-opt %s --dgemm-compile-pipeline="chip=sm_90a ptx=83 stop-after=nvvm" | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=asm" | FileCheck %s --check-prefixes=CHECK,ASM
// RUN: dgemm-opt %s --dgemm-compile-pipeline --dgemm-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,LLVM
// Every level reads back what it prints, and a second run finds nothing to do.
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | dgemm-opt --dgemm-compile-pipeline | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: dgemm-opt %s --dgemm-compile-pipeline --dgemm-compile-pipeline | FileCheck %s --check-prefixes=CHECK,NVVM

// CHECK-LABEL: func @fp8
// SCHEDULE: dgemm.matmul nt
// SCHEDULE-SAME: source = "model"}
// KERNEL: dgemm.launch {{.*}}@fp8_kernel
// NVVM: dgemm.launch {{.*}}@dgemm_kernels::@fp8_kernel
// ASM: dgemm.launch {{.*}}@dgemm_kernels::@fp8_kernel
// LLVM: dgemm.launch {{.*}}@dgemm_kernels::@fp8_kernel
func.func @fp8(%a: tensor<256x512xf8E4M3FN>, %b: tensor<384x512xf8E4M3FN>, %sa: tensor<256x4xf32>, %sb: tensor<3x4xf32>, %d: tensor<256x384xbf16>) -> tensor<256x384xbf16> {
  %r = dgemm.matmul nt ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<384x512xf8E4M3FN>)
    scales(%sa by 1x128, %sb by 128x128 : tensor<256x4xf32>, tensor<3x4xf32>) outs(%d : tensor<256x384xbf16>) -> tensor<256x384xbf16>
  return %r : tensor<256x384xbf16>
}

// CHECK-LABEL: func @bf16
// SCHEDULE: {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
func.func @bf16(%a: memref<256x512xbf16>, %d: memref<256x256xf32>) {
  dgemm.matmul nt ins(%a, %a : memref<256x512xbf16>, memref<256x512xbf16>) outs(%d : memref<256x256xf32>) {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}

// CHECK-LABEL: func @host
// CHECK-NEXT: %[[Y:.*]] = arith.addf
// CHECK-NEXT: return %[[Y]]
func.func @host(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}

// SCHEDULE-NOT: dgemm.kernel

// KERNEL: dgemm.kernel @fp8_kernel
// KERNEL-SAME: smem = #dgemm.smem_plan<
// KERNEL-NOT: dgemm.{{load|slot|tile_mma|tile_promote|tile_store}}
// KERNEL: dgemm.role producer
// KERNEL: dgemm.role consumer
// KERNEL: dgemm.wgmma_fence
// KERNEL: dgemm.kernel @bf16_kernel

// NVVM-NOT: dgemm.kernel
// NVVM: gpu.module @dgemm_kernels
// NVVM: llvm.func @fp8_kernel
// NVVM-NOT: {{dgemm.mma|unrealized_conversion_cast|llvm.inline_asm}}
// NVVM: dgemm.wgmma %
// NVVM: llvm.func @bf16_kernel
// NVVM: dgemm.wgmma %
// NVVM-NOT: llvm.func

// ASM: gpu.module @dgemm_kernels
// ASM: llvm.func @fp8_kernel
// ASM-NOT: dgemm.wgmma
// ASM: llvm.inline_asm
// ASM: llvm.func @bf16_kernel

// LLVM: gpu.module @dgemm_kernels
// LLVM: llvm.func @fp8_kernel
// LLVM-NOT: {{scf\.|arith\.|dgemm\.wgmma|unrealized_conversion_cast}}
// LLVM: llvm.func @bf16_kernel
// LLVM-NOT: {{scf\.|arith\.|dgemm\.wgmma|unrealized_conversion_cast}}
