// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule option decides where the op does not; a module without GEMMs
// comes back as it was.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="schedule='tile = 128x64x64, stages = 5' stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline="schedule='tile = 128x64x64, stages = 5' stop-after=asm" | FileCheck %s --check-prefix=ASM
// RUN: echo "func.func private @host()" | dgemm-opt --dgemm-compile-pipeline="stop-after=asm" | FileCheck %s --check-prefix=NONE
// RUN: echo "" | dgemm-opt --dgemm-compile-pipeline --dgemm-lower-to-llvm | FileCheck %s --check-prefix=EMPTY

// NONE: func.func private @host()
// NONE-NOT: gpu.module
// EMPTY: module
// EMPTY-NOT: gpu.module

// CHECK: dgemm.kernel @open_kernel
// CHECK-SAME: schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>
// CHECK-SAME: source = "user"
// CHECK: dgemm.kernel @decided_kernel
// CHECK-SAME: schedule = #dgemm.schedule<tile = 128x128x64>
// CHECK-SAME: source = "tuned"
// Five slots, each with two barriers.
// ASM: llvm.func @open_kernel
// ASM-COUNT-10: nvvm.mbarrier.init
// ASM-NOT: nvvm.mbarrier.init
// ASM: llvm.func @decided_kernel
// ASM-COUNT-8: nvvm.mbarrier.init
// ASM-NOT: nvvm.mbarrier.init
func.func @open(%a: memref<?x512xbf16>, %b: memref<256x512xbf16>, %d: memref<?x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<256x512xbf16>) outs(%d : memref<?x256xbf16>)
  return
}
func.func @decided(%a: memref<?x512xbf16>, %b: memref<256x512xbf16>, %d: memref<?x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<256x512xbf16>) outs(%d : memref<?x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>, source = "tuned"}
  return
}
