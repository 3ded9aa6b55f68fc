// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops and types of the register form: custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!w = !dgemm.strip<16x128xf8E4M3FN>
!x = !dgemm.strip<8x128xf8E5M2>
!f = !dgemm.fragment<16x8xf32>

// CHECK-LABEL: func @load
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[L:.*]]: i64, %[[C:.*]]: i1)
func.func @load(%p: !llvm.ptr<1>, %i: i32, %l: i64, %c: i1) {
  // CHECK-NEXT: %{{.*}} = dgemm.warp_id : i32
  %warp = dgemm.warp_id : i32
  // CHECK-NEXT: %{{.*}} = dgemm.load_strip %[[P]]{{ ?}}[%[[I]], %[[I]]] stride %[[L]] rows %[[I]] : <1> -> <8x64xbf16>
  %0 = dgemm.load_strip %p[%i, %i] stride %l rows %i : !llvm.ptr<1> -> !dgemm.strip<8x64xbf16>
  // CHECK-NEXT: dgemm.load_strip %[[P]]{{ ?}}[%[[I]], %[[I]]] stride %[[L]] rows %[[I]] depth %[[I]] if %[[C]] streamed : <1> -> <16x32xf16>
  %1 = dgemm.load_strip %p[%i, %i] stride %l rows %i depth %i if %c streamed : !llvm.ptr<1> -> !dgemm.strip<16x32xf16>
  return
}

// CHECK-LABEL: func @multiply
// CHECK-SAME: (%[[W:.*]]: !dgemm.strip<16x128xf8E4M3FN>, %[[X:.*]]: !dgemm.strip<8x128xf8E5M2>, %[[S:.*]]: !dgemm.fragment<16x8xf32>)
func.func @multiply(%w: !w, %x: !x, %s: !f) {
  // CHECK-NEXT: %[[Y:.*]] = dgemm.strip_mma %[[W]], %[[X]] : <16x128xf8E4M3FN>, <8x128xf8E5M2> -> <16x8xf32>
  %y = dgemm.strip_mma %w, %x : !w, !x -> !f
  // CHECK-NEXT: %[[Z:.*]] = dgemm.strip_mma %[[W]], %[[X]], %[[S]] :
  %z = dgemm.strip_mma %w, %x, %s : !w, !x -> !f
  // CHECK-NEXT: %{{.*}}:2 = dgemm.warp_reduce %[[Y]], %[[Z]] warps 14 : !dgemm.fragment<16x8xf32>, !dgemm.fragment<16x8xf32> -> !dgemm.fragment<16x8xf32>, !dgemm.fragment<16x8xf32>
  %r:2 = dgemm.warp_reduce %y, %z warps 14 : !f, !f -> !f, !f
  return
}

// CHECK-LABEL: func @store
func.func @store(%f: !f, %p: !llvm.ptr<1>, %i: i32, %l: i64) {
  // CHECK: dgemm.add_global {{.*}} bf16 transposed : <1>, <16x8xf32>
  %c = dgemm.add_global %f, %p[%i, %i] stride %l within [%i, %i] bf16 transposed : !llvm.ptr<1>, !f
  // CHECK: dgemm.tile_store %{{.*}} at{{ ?}}[%{{.*}}, %{{.*}}] : !dgemm.fragment<16x8xf32>
  dgemm.tile_store %c at [%i, %i] : !f
  return
}
