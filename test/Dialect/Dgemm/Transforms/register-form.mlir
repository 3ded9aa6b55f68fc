// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels in register form: strips, products, the sums over warps and cluster,
// one store; and what the epilogue makes of it.
//
// RUN: dgemm-opt %s --dgemm-create-kernel --canonicalize | FileCheck %s
// RUN: dgemm-opt %s --pass-pipeline='builtin.module(dgemm-create-kernel,dgemm.kernel(dgemm-insert-scaling,dgemm-materialize-pipeline,dgemm-specialize-warps,dgemm-partition-mma,dgemm-lower-epilogue,dgemm-insert-fences,dgemm-plan-smem,dgemm-verify-kernel))' | FileCheck %s --check-prefix=DONE

func.func @bf16(%a: memref<4x1024xbf16>, %b: memref<48x1024xbf16>, %d: memref<4x48xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<4x1024xbf16>, memref<48x1024xbf16>) outs(%d : memref<4x48xbf16>)
    {schedule = #dgemm.schedule<tile = 8x32x64, consumers = 8 cooperative, stages = 2, form = register, store = vector, persistent = false, stream_b = true>}
  return
}

// Two K blocks of each warp are loaded before one is multiplied; all exist, so
// none is checked; and K ends with one.
// CHECK-LABEL: dgemm.kernel @bf16_kernel(
// CHECK-SAME: %[[A:[^ ]*]]: !llvm.ptr<1>, %[[LDA:[^ ]*]]: i64, %[[B:[^ ]*]]: !llvm.ptr<1>, %[[LDB:[^ ]*]]: i64, %[[D:[^ ]*]]: !llvm.ptr<1>, %[[LDD:[^ ]*]]: i64,
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) {
// CHECK: %[[WARP:.*]] = dgemm.warp_id
// CHECK: %[[ZERO:.*]] = dgemm.zero : <16x8xf32>
// CHECK: %[[LOOP:.*]]:2 = scf.for %[[KB:[^ ]*]] = %[[WARP]] to %c16{{.*}} step %c16{{.*}} iter_args(%[[S0:[^ ]*]] = %[[ZERO]], %[[S1:[^ ]*]] = %[[ZERO]])
// CHECK: %[[W0:.*]] = dgemm.load_strip %[[B]]{{ ?}}[%[[N0]], %[[KB]]] stride %[[LDB]] rows %c48{{[^ ]*}} streamed : <1> -> <16x64xbf16>
// CHECK: %[[N16:.*]] = arith.addi %[[N0]], %c16
// CHECK: %[[W1:.*]] = dgemm.load_strip %[[B]]{{ ?}}[%[[N16]], %[[KB]]]
// CHECK: %[[X:.*]] = dgemm.load_strip %[[A]]{{ ?}}[%[[M0]], %[[KB]]] stride %[[LDA]] rows %c4{{[^ ]*}} : <1> -> <8x64xbf16>
// CHECK: %[[NEXT:.*]] = arith.addi %[[KB]], %c8
// CHECK: %[[W2:.*]] = dgemm.load_strip %[[B]]{{ ?}}[%[[N0]], %[[NEXT]]] stride %[[LDB]] rows %c48{{[^ ]*}} streamed
// CHECK: %[[Y0:.*]] = dgemm.strip_mma %[[W0]], %[[X]], %[[S0]]
// CHECK: %[[Y1:.*]] = dgemm.strip_mma %[[W1]], %[[X]], %[[S1]]
// CHECK: %[[Z0:.*]] = dgemm.strip_mma %[[W2]], %{{.*}}, %[[Y0]]
// CHECK: %[[Z1:.*]] = dgemm.strip_mma %{{.*}}, %{{.*}}, %[[Y1]]
// CHECK: scf.yield %[[Z0]], %[[Z1]]
// CHECK-NOT: depth
// CHECK: %[[SUMS:.*]]:2 = dgemm.warp_reduce %[[LOOP]]#0, %[[LOOP]]#1 warps 8
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: dgemm.tile_store %[[SUMS]]#0, %[[SUMS]]#1 at{{ ?}}[%[[M0]], %[[N0]]] :
// CHECK-NOT: dgemm.{{ring|role|cluster_start}}
// CHECK: dgemm.next

// DONE-LABEL: dgemm.kernel @bf16_kernel(
// DONE-SAME: smem = #dgemm.smem_plan<{{.*}} store = 0 size 8192{{ ?}}({{.*}} reduce = 0 part 0, total = 8192>
// DONE: dgemm.warp_reduce
// DONE: scf.if
// DONE: dgemm.store_global {{.*}} bf16 transposed : <1>, <16x8xf32>
// DONE: dgemm.store_global {{.*}} bf16 transposed : <1>, <16x8xf32>

func.func @fp8(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?xf8E4M3FN>, %sa: memref<?x?xf32>, %sb: memref<?x?xf32>, %d: memref<?x?xf32>) {
  dgemm.matmul nt ins(%a, %b : memref<?x?xf8E4M3FN>, memref<?x?xf8E4M3FN>) scales(%sa by 1x128, %sb by 128x128 : memref<?x?xf32>, memref<?x?xf32>)
    acc(%d : memref<?x?xf32>) outs(%d : memref<?x?xf32>)
    {schedule = #dgemm.schedule<tile = 16x16x128, consumers = 4 cooperative, stages = 2, promote = 128, split_k = 4 cluster, form = register, store = vector, persistent = false>}
  return
}

// K is known late: a K block that a step names may not exist, and the last warp
// of the last CTA has what is beyond the whole ones.
// CHECK-LABEL: dgemm.kernel @fp8_kernel(
// CHECK: dgemm.cluster_start
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) {
// CHECK: %[[WARP:.*]] = dgemm.warp_id
// CHECK: %[[WHOLE:.*]] = arith.divui %[[K:.*]], %c128
// CHECK: %[[RANK:.*]] = dgemm.cluster_rank
// CHECK: arith.minui %{{.*}}, %[[WHOLE]]
// CHECK: %[[UPPER:.*]] = arith.minui %{{.*}}, %[[WHOLE]]
// CHECK: scf.for %[[KB:[^ ]*]] = %{{.*}} to %[[UPPER]] step %c8{{.*}} iter_args(%[[S:[^ ]*]] =
// CHECK: dgemm.load_strip {{.*}} : <1> -> <16x128xf8E4M3FN>
// CHECK: dgemm.load_strip {{.*}} : <1> -> <16x128xf8E4M3FN>
// CHECK: %[[COLS:.*]]:4 = dgemm.global_column_scales
// CHECK: %[[ROW:.*]] = dgemm.col_scale
// CHECK: %[[NEXT:.*]] = arith.addi %[[KB]], %c4{{.*}} overflow<nsw, nuw>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[NEXT]], %[[UPPER]]
// CHECK: dgemm.load_strip {{.*}} if %[[INSIDE]] :
// CHECK: dgemm.load_strip {{.*}} if %[[INSIDE]] :
// CHECK: arith.minui %[[NEXT]]
// CHECK: arith.select %[[INSIDE]]
// CHECK: %[[P:.*]] = dgemm.strip_mma %{{.*}}, %{{[^,]*}} : <16x128
// CHECK: %[[Y:.*]] = dgemm.promote %[[S]], %[[P]] rows{{ ?}}(%[[ROW]], %[[ROW]]) cols{{ ?}}(%[[COLS]]#0, %[[COLS]]#1, %[[COLS]]#2, %[[COLS]]#3) each_column
// CHECK: dgemm.strip_mma
// CHECK: dgemm.promote %[[Y]],
// CHECK: %[[REST:.*]] = arith.remui %[[K]], %c128
// CHECK: arith.cmpi ne, %[[REST]], %c0
// CHECK: arith.cmpi eq, %[[WARP]], %c3
// CHECK: arith.cmpi eq, %[[RANK]], %c3
// CHECK: scf.if
// CHECK: dgemm.load_strip %{{.*}}{{ ?}}[%[[N0]], %[[WHOLE]]] {{.*}} depth %[[K]] :
// CHECK: dgemm.load_strip %{{.*}}{{ ?}}[%[[M0]], %[[WHOLE]]] {{.*}} depth %[[K]] :
// CHECK: %[[SUM:.*]] = dgemm.warp_reduce %{{.*}} warps 4
// CHECK: dgemm.cluster_reduce %[[SUM]] of %c0{{[^ ]*}} parts 4
// CHECK: arith.andi
// CHECK: dgemm.tile_store

// DONE-LABEL: dgemm.kernel @fp8_kernel(
// DONE-SAME: store = 0 size 4096{{ ?}}({{.*}} reduce = 4096 part 1024, total = 7168>
// DONE: dgemm.add_global {{.*}} f32 transposed : <1>, <16x16xf32>
// DONE: dgemm.store_global {{.*}} f32 transposed : <1>, <16x16xf32>
