// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What the swap-AB form, several K blocks for each slot and clusters add to
// the kernel ops: custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!a = !dgemm.tile<16x128xf8E4M3FN, swizzle = 128>
!b = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<3 x [!a, !b, !dgemm.tile<1x16xf32>]>
!f = !dgemm.fragment<64x16xf32>
!i = !dgemm.inflight<64x16xf32>

// CHECK-LABEL: func @multiply
// CHECK-SAME: (%[[RING:.*]]: !dgemm.ring<{{.*}}>, %[[I:.*]]: i32, %[[X:.*]]: !dgemm.inflight<64x16xf32>)
func.func @multiply(%ring: !ring, %i: i32, %x: !i) {
  // The 16 rows of A are the columns.
  // CHECK-NEXT: %[[Y:.*]] = dgemm.mma %[[RING]]{{ ?}}[%[[I]]] rows %[[I]] cols 0 into %[[X]] {swapped} :
  %y = dgemm.mma %ring[%i] rows %i cols 0 into %x {swapped} : !ring, !i
  // CHECK-NEXT: dgemm.mma %[[RING]]{{ ?}}[%[[I]]] rows %[[I]] cols 0 into %[[Y]] fresh {k_block = 1 : i32, swapped} :
  %z = dgemm.mma %ring[%i] rows %i cols 0 into %y fresh {k_block = 1 : i32, swapped} : !ring, !i
  return
}

// CHECK-LABEL: func @scales
// CHECK-SAME: (%[[RING:.*]]: !dgemm.ring<{{.*}}>, %[[I:.*]]: i32, %[[L:.*]]: i64, %[[BASE:.*]]: !llvm.ptr<1>, %[[SUM:.*]]: !dgemm.fragment<64x16xf32>)
func.func @scales(%ring: !ring, %i: i32, %l: i64, %base: !llvm.ptr<1>, %sum: !f) {
  // CHECK-NEXT: %[[S:.*]]:4 = dgemm.column_scales %[[RING]]{{ ?}}[%[[I]]] member 2 cols 0 k_block 0 : {{.*}} -> f32, f32, f32, f32
  %s:4 = dgemm.column_scales %ring[%i] member 2 cols 0 k_block 0 : !ring -> f32, f32, f32, f32
  // CHECK-NEXT: %{{.*}}:2 = dgemm.global_column_scales %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] limit %[[I]] : <1> -> f32, f32
  %g:2 = dgemm.global_column_scales %base[%i, %i] strides [%l, %l] limit %i : !llvm.ptr<1> -> f32, f32
  // CHECK-NEXT: dgemm.promote %[[SUM]], %[[SUM]] cols{{ ?}}(%[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3) each_column : !dgemm.fragment<64x16xf32> -> <64x16xf32>
  %p = dgemm.promote %sum, %sum cols(%s#0, %s#1, %s#2, %s#3) each_column : !f -> !f
  // CHECK-NEXT: dgemm.store_global {{.*}} bf16 transposed : <1>, <64x16xf32>
  dgemm.store_global %p, %base[%i, %i] stride %l within [%i, %i] bf16 transposed : !llvm.ptr<1>, !f
  return
}

// CHECK-LABEL: func @cluster
// CHECK-SAME: (%[[F:.*]]: !dgemm.fragment<64x16xf32>, %[[WG:.*]]: i32)
func.func @cluster(%f: !f, %wg: i32) {
  // CHECK-NEXT: dgemm.cluster_start{{$}}
  dgemm.cluster_start
  // CHECK-NEXT: %{{.*}} = dgemm.cluster_rank : i32
  %r = dgemm.cluster_rank : i32
  // CHECK-NEXT: %{{.*}}:2 = dgemm.cluster_reduce %[[F]], %[[F]] of %[[WG]] parts 4 : !dgemm.fragment<64x16xf32>, !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>, !dgemm.fragment<64x16xf32>
  %s:2 = dgemm.cluster_reduce %f, %f of %wg parts 4 : !f, !f -> !f, !f
  return
}
