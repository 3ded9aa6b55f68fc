// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The last rows of an operand: a tensor map whose box is what is left, a copy for
// each K block of the slot where a whole one would have put it, fewer bytes.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s --check-prefix=KERNEL

// KERNEL-LABEL: dgemm.kernel @ragged_kernel
// KERNEL: dgemm.expect {{.*}} bytes 24576 missing
// KERNEL: dgemm.tma_load {{.*}} member 0 last %{{.*}} if %
// KERNEL: dgemm.tma_load {{.*}} member 1 : <
// Every tile is whole: no map, nothing missing.
// KERNEL-LABEL: dgemm.kernel @whole_kernel
// KERNEL-NOT: missing
// KERNEL-NOT: last %

// CHECK-LABEL: llvm.func @ragged_kernel
// CHECK-SAME: last_rows\22: true
// CHECK: %[[BYTES:.*]] = arith.subi %c24576_i32, %
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: scf.if %{{.*}} {
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[LAST:.*]], %{{.*}}, box{{ ?}}[%{{.*}}, %[[ROW:.*]], %[[KB:.*]]]
// The second K block: 64 rows of 128 bytes behind the first.
// CHECK: %[[NEXT:.*]] = arith.addi %[[KB]], %c1
// CHECK: llvm.getelementptr %{{.*}}[8192]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[LAST]], %{{.*}}, box{{ ?}}[%{{.*}}, %[[ROW]], %[[NEXT]]]
// CHECK: } else {
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: }
func.func @ragged(%a: memref<?x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<?x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x32x64, consumers = 1 cooperative, regs = [0, 0], kblocks_per_stage = 2, swizzle = [128, 128, 64]>, source = "user"}
  return
}
func.func @whole(%a: memref<128x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<128x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<128x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<128x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x32x64, consumers = 1 cooperative, regs = [0, 0], kblocks_per_stage = 2, swizzle = [128, 128, 64]>, source = "user"}
  return
}
