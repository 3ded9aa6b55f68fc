// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every kernel waits for those in front of it before it touches an operand, and
// after its barriers are ready; then it lets the next one start.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @plain_kernel
// CHECK: dgemm.ring
// CHECK: dgemm.grid_wait
// CHECK-NEXT: dgemm.grid_launch
// CHECK: dgemm.role producer

// NVVM-LABEL: llvm.func @plain_kernel
// NVVM-NOT: cp.async.bulk.tensor
// NVVM: nvvm.fence.mbarrier.init
// NVVM: nvvm.barrier id
// NVVM: nvvm.griddepcontrol wait
// NVVM-NEXT: nvvm.griddepcontrol launch_dependents
// NVVM-NOT: nvvm.griddepcontrol
// NVVM: cp.async.bulk.tensor
func.func @plain(%a: memref<256x256xbf16>, %b: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}

// CHECK-LABEL: dgemm.kernel @split_kernel
// CHECK: dgemm.cluster_start
// CHECK-NEXT: dgemm.grid_wait
// CHECK-NEXT: dgemm.grid_launch
func.func @split(%a: memref<64x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<64x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<64x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<64x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0], split_k = 4 cluster, store = vector, persistent = false>, source = "user"}
  return
}
