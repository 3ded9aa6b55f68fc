// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// split_k over a cluster: each CTA takes its share of K, late ones perhaps
// none; the first sums what the others computed, and stores.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @split_kernel
// CHECK: dgemm.ring
// CHECK: dgemm.cluster_start
// Both roles walk the same part of K.
// CHECK: dgemm.role producer
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK: %[[SHARE:.*]] = arith.divui %{{.*}}, %c4
// CHECK: %[[RANK:.*]] = dgemm.cluster_rank
// CHECK: %[[START:.*]] = arith.muli %[[RANK]], %[[SHARE]]
// CHECK: %[[LOWER:.*]] = arith.minui %[[START]], %[[BLOCKS]]
// CHECK: %[[END:.*]] = arith.addi %[[LOWER]], %[[SHARE]]
// CHECK: %[[UPPER:.*]] = arith.minui %[[END]], %[[BLOCKS]]
// CHECK: scf.for %{{.*}} = %[[LOWER]] to %[[UPPER]] step
// CHECK: dgemm.role consumer
// CHECK: %[[RANK:.*]] = dgemm.cluster_rank
// CHECK: scf.for %[[KB:[^ ]*]] = %[[LOWER:[^ ]*]] to %[[UPPER:[^ ]*]] step
// Nothing to release in the first step of this CTA.
// CHECK: arith.cmpi sgt, %[[KB]], %[[LOWER]]
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: arith.cmpi sgt, %[[UPPER]], %[[LOWER]]
// CHECK: %[[SUM:.*]] = dgemm.cluster_reduce %[[DONE]] of %{{.*}} parts 4
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]], %c0
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: dgemm.store_global %[[SUM]]
// CHECK-NEXT: }

// NVVM-LABEL: llvm.func @split_kernel
// NVVM: nvvm.cluster.arrive.relaxed
// NVVM: nvvm.cluster.wait
// NVVM: nvvm.mapa
// NVVM: nvvm.cluster.arrive {
// NVVM: nvvm.cluster.wait
func.func @split(%a: memref<64x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<64x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<64x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<64x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0], split_k = 4 cluster, store = vector, persistent = false>, source = "user"}
  return
}
