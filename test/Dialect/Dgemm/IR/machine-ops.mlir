// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine ops on fragments (L2) and on structs of registers (L3a): custom
// form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!f = !dgemm.fragment<64x8xf32>
!i = !dgemm.inflight<64x8xf32>
!r = !llvm.struct<(f32, f32, f32, f32)>

// CHECK-LABEL: func @fence
// CHECK-SAME: (%[[F:.*]]: !dgemm.fragment<64x8xf32>, %[[I:.*]]: !dgemm.inflight<64x8xf32>, %[[R:.*]]: !llvm.struct<(f32, f32, f32, f32)>)
func.func @fence(%f: !f, %i: !i, %r: !r) {
  // CHECK-NEXT: dgemm.wgmma_fence{{$}}
  // GENERIC: "dgemm.wgmma_fence"() <{operandSegmentSizes = array<i32: 0, 0>, resultSegmentSizes = array<i32: 0, 0>}>
  dgemm.wgmma_fence
  // CHECK-NEXT: %{{.*}} = dgemm.wgmma_fence{{ ?}}(%[[F]] : !dgemm.fragment<64x8xf32>) -> (!dgemm.inflight<64x8xf32>)
  %0 = dgemm.wgmma_fence (%f : !f) -> (!i)
  // CHECK-NEXT: %{{.*}}:3 = dgemm.wgmma_fence{{ ?}}(%[[F]], %[[I]], %[[R]] : !dgemm.fragment<64x8xf32>, !dgemm.inflight<64x8xf32>, !llvm.struct<(f32, f32, f32, f32)>) -> (!dgemm.inflight<64x8xf32>, !dgemm.inflight<64x8xf32>, !dgemm.inflight<64x8xf32>)
  %1:3 = dgemm.wgmma_fence (%f, %i, %r : !f, !i, !r) -> (!i, !i, !i)
  // CHECK-NEXT: %{{.*}} = dgemm.wgmma_fence pin{{ ?}}(%[[F]] : !dgemm.fragment<64x8xf32>) pinned{{ ?}}(!dgemm.fragment<64x8xf32>)
  %2 = dgemm.wgmma_fence pin(%f : !f) pinned (!f)
  // CHECK-NEXT: %{{.*}}, %{{.*}}:2 = dgemm.wgmma_fence{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) pin{{ ?}}(%[[F]], %[[R]] : !dgemm.fragment<64x8xf32>, !llvm.struct<(f32, f32, f32, f32)>) -> (!dgemm.inflight<64x8xf32>) pinned{{ ?}}(!dgemm.fragment<64x8xf32>, !llvm.struct<(f32, f32, f32, f32)>)
  // GENERIC: "dgemm.wgmma_fence"({{.*}}) <{operandSegmentSizes = array<i32: 1, 2>, resultSegmentSizes = array<i32: 1, 2>}>
  %3, %4:2 = dgemm.wgmma_fence (%i : !i) pin(%f, %r : !f, !r) -> (!i) pinned (!f, !r)
  return
}

// CHECK-LABEL: func @multiply
// CHECK-SAME: (%[[A:.*]]: i64, %[[B:.*]]: i64)
func.func @multiply(%a: i64, %b: i64) {
  // CHECK-NEXT: %[[U:.*]] = dgemm.wgmma_undef : <64x8xf32>
  %u = dgemm.wgmma_undef : !i
  // CHECK-NEXT: %[[X:.*]] = dgemm.wgmma %[[A]], %[[B]], %[[U]] {a_type = f8E4M3FN, b_type = f8E5M2, k = 32 : i32, n = 8 : i32, scale_d = "zero"} : <64x8xf32>
  %x = dgemm.wgmma %a, %b, %u {n = 8 : i32, k = 32 : i32, a_type = f8E4M3FN, b_type = f8E5M2, scale_d = "zero"} : !i
  // CHECK-NEXT: dgemm.wgmma %[[A]], %[[B]], %[[X]] {a_type = f16, b_type = f16, k = 16 : i32, n = 8 : i32, scale_d = "one", trans_a, trans_b} : <64x8xf32>
  %y = dgemm.wgmma %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = f16, b_type = f16, scale_d = "one", trans_a, trans_b} : !i
  // CHECK-NEXT: dgemm.wgmma {{.*}} {a_type = bf16, b_type = bf16, k = 16 : i32, n = 8 : i32, scale_d = "one"} : <64x8xf32>
  %z = dgemm.wgmma %a, %b, %y {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one"} : !i
  return
}

// CHECK-LABEL: func @wait
// CHECK-SAME: (%[[F:.*]]: !dgemm.fragment<64x8xf32>, %[[I:.*]]: !dgemm.inflight<64x8xf32>)
func.func @wait(%f: !f, %i: !i) {
  // CHECK-NEXT: dgemm.wgmma_wait 7{{$}}
  dgemm.wgmma_wait 7
  // CHECK-NEXT: %{{.*}} = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) -> (!dgemm.fragment<64x8xf32>)
  %0 = dgemm.wgmma_wait 0 resolve(%i : !i) -> (!f)
  // CHECK-NEXT: %{{.*}} = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) -> (!llvm.struct<(f32, f32, f32, f32)>)
  %1 = dgemm.wgmma_wait 0 resolve(%i : !i) -> (!r)
  // CHECK-NEXT: %{{.*}} = dgemm.wgmma_wait 1 keep{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) kept{{ ?}}(!dgemm.inflight<64x8xf32>)
  %2 = dgemm.wgmma_wait 1 keep(%i : !i) kept (!i)
  // CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}} = dgemm.wgmma_wait 1 resolve{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) keep{{ ?}}(%[[I]] : !dgemm.inflight<64x8xf32>) pin{{ ?}}(%[[F]] : !dgemm.fragment<64x8xf32>) -> (!dgemm.fragment<64x8xf32>) kept{{ ?}}(!dgemm.inflight<64x8xf32>) pinned{{ ?}}(!dgemm.fragment<64x8xf32>)
  // GENERIC: "dgemm.wgmma_wait"({{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1>, pending = 1 : i32, resultSegmentSizes = array<i32: 1, 1, 1>}>
  %3, %4, %5 = dgemm.wgmma_wait 1 resolve(%i : !i) keep(%i : !i) pin(%f : !f) -> (!f) kept (!i) pinned (!f)
  return
}

// CHECK-LABEL: func @multiply_registers
// CHECK-SAME: (%[[A:.*]]: !llvm.struct<(i32, i32, i32, i32)>, %[[B:.*]]: i64, %[[X:.*]]: !dgemm.inflight<64x8xf32>)
func.func @multiply_registers(%a: !llvm.struct<(i32, i32, i32, i32)>, %b: i64, %x: !i) {
  // CHECK-NEXT: dgemm.wgmma_registers %[[A]], %[[B]], %[[X]] {a_type = bf16, b_type = bf16, k = 16 : i32, n = 8 : i32, scale_d = "one", trans_b} : !llvm.struct<(i32, i32, i32, i32)>, <64x8xf32>
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one", trans_b} : !llvm.struct<(i32, i32, i32, i32)>, !i
  return
}

// CHECK-LABEL: func @warp
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[IN:.*]]: i1, %[[R:.*]]: i32, %[[C:.*]]: f32)
func.func @warp(%p: !llvm.ptr<1>, %in: i1, %r: i32, %c: f32) {
  // CHECK-NEXT: dgemm.load_global %[[P]] : i32
  %0 = dgemm.load_global %p : i32
  // CHECK-NEXT: dgemm.load_global %[[P]] {evict_first} : vector<2xi32>
  %1 = dgemm.load_global %p {evict_first} : vector<2xi32>
  // CHECK-NEXT: dgemm.load_global %[[P]] if %[[IN]] {evict_first, no_allocate} : vector<4xi32>
  %2 = dgemm.load_global %p if %in {no_allocate, evict_first} : vector<4xi32>
  // CHECK-NEXT: dgemm.mma_sync{{ ?}}(%[[R]], %[[R]], %[[R]], %[[R]]) (%[[R]], %[[R]]) (%[[C]], %[[C]], %[[C]], %[[C]]) {a_type = f8E4M3FN, b_type = f8E5M2}
  %3:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = f8E4M3FN, b_type = f8E5M2}
  return
}
