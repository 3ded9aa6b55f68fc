// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every level of one GEMM, with the ops around it left as they are.

// RUN: dgemm-compile %s --emit=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: dgemm-compile %s --emit=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: dgemm-compile %s --emit=nvvm | FileCheck %s --check-prefix=NVVM
// RUN: dgemm-compile %s --emit=schedule | FileCheck %s --check-prefix=AROUND
// RUN: dgemm-compile %s --emit=kernel | FileCheck %s --check-prefix=AROUND
// RUN: dgemm-compile %s --emit=nvvm | FileCheck %s --check-prefix=AROUND
// RUN: dgemm-compile %s --emit=llvmir | FileCheck %s --check-prefix=LLVM
// RUN: dgemm-compile %s --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: dgemm-compile %s | FileCheck %s --check-prefix=PTX
// RUN: dgemm-compile - < %s | FileCheck %s --check-prefix=PTX
// RUN: dgemm-compile %s --ptx=84 | FileCheck %s --check-prefix=PTX84

// SCHEDULE: dgemm.target = #dgemm.target<chip = "sm_90a"
// SCHEDULE: dgemm.matmul nt
// SCHEDULE-SAME: schedule = #dgemm.schedule<tile =
// SCHEDULE-SAME: source = "model"

// KERNEL-NOT: dgemm.matmul
// KERNEL: dgemm.kernel
// KERNEL: dgemm.role producer
// KERNEL: dgemm.role consumer

// NVVM-NOT: dgemm.wgmma
// NVVM: gpu.module
// NVVM: llvm.func @{{.*}}nvvm.kernel
// NVVM: wgmma.mma_async

// AROUND: func.func @bystander
// AROUND: arith.addf
// AROUND: "other.op"() {a = 1 : i64} : () -> ()

// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: define ptx_kernel void @

// PTX: .version 8.0
// PTX: .target sm_90a
// PTX: .entry
// PTX: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16
// PTX-NOT: bystander

// PTX84: .version 8.4

func.func @gemm(%a: tensor<256x128xbf16>, %b: tensor<256x128xbf16>,
                %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %r = dgemm.matmul nt ins(%a, %b : tensor<256x128xbf16>, tensor<256x128xbf16>)
         outs(%d : tensor<256x256xbf16>) -> tensor<256x256xbf16>
  return %r : tensor<256x256xbf16>
}

func.func @bystander(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  "other.op"() {a = 1 : i64} : () -> ()
  return %y : f32
}
