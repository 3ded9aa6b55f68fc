// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring, copies into it and multiplications from it: custom form, generic
// form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!a = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!b = !dgemm.tile<176x128xf8E4M3FN, swizzle = 128>
!s = !dgemm.tile<1x128xf32>
!ring = !dgemm.ring<3 x [!a, !b, !s]>

// CHECK-LABEL: func @barriers
// CHECK-SAME: (%[[SLOT:.*]]: i32, %[[PHASE:.*]]: i32)
func.func @barriers(%slot: i32, %phase: i32) {
  // CHECK-NEXT: %[[RING:.*]] = dgemm.ring consumers 2 : <3 x{{ ?}}[!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<176x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>
  // GENERIC: "dgemm.ring"() <{consumers = 2 : i32, ctas = 1 : i32}>
  %ring = dgemm.ring consumers 2 : !ring
  // CHECK-NEXT: dgemm.acquire %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] : <3 x
  dgemm.acquire %ring[%slot] parity %phase : !ring
  // CHECK-NEXT: dgemm.expect %[[RING]]{{ ?}}[%[[SLOT]]] bytes 39424 : <3 x
  // GENERIC: "dgemm.expect"({{.*}}) <{bytes = 39424 : i32}>
  dgemm.expect %ring[%slot] bytes 39424 : !ring
  // CHECK-NEXT: dgemm.expect %[[RING]]{{ ?}}[%[[SLOT]]] bytes 39424 missing %[[SLOT]] : <3 x
  dgemm.expect %ring[%slot] bytes 39424 missing %slot : !ring
  // CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] : <3 x
  dgemm.wait %ring[%slot] parity %phase : !ring
  // CHECK-NEXT: %[[SEEN:.*]] = dgemm.peek %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] : <3 x
  // GENERIC: "dgemm.peek"({{.*}}) : (!dgemm.ring<{{.*}}>, i32, i32) -> i1
  %seen = dgemm.peek %ring[%slot] parity %phase : !ring
  // CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] : <3 x
  dgemm.wait %ring[%slot] parity %phase unless %seen : !ring
  // A release without `pending` prints none.
  // CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[SLOT]]] : <3 x
  // GENERIC: "dgemm.release"({{.*}}) <{pending = 0 : i32}>
  dgemm.release %ring[%slot] : !ring
  // CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[SLOT]]] {pending = 1 : i32} : <3 x
  dgemm.release %ring[%slot] {pending = 1 : i32} : !ring
  // CHECK-NEXT: %[[S:.*]], %[[P:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]] : <3 x
  %s, %p = dgemm.advance %ring, %slot, %phase : !ring
  // CHECK-NEXT: dgemm.advance %[[RING]], %[[S]], %[[P]] by %[[SLOT]] : <3 x
  %s2, %p2 = dgemm.advance %ring, %s, %p by %slot : !ring
  return
}

// CHECK-LABEL: func @copies
// CHECK-SAME: (%[[MAP:.*]]: !dgemm.tensor_map, %[[RING:.*]]: !dgemm.ring<{{.*}}>, %[[SLOT:.*]]: i32)
func.func @copies(%map: !dgemm.tensor_map, %ring: !ring, %slot: i32) {
  // CHECK-NEXT: dgemm.tma_load %[[MAP]]{{ ?}}[%[[SLOT]], %[[SLOT]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 0 : <3 x
  // GENERIC: "dgemm.tma_load"({{.*}}) <{hint = "evict_normal", member = 0 : i32, operandSegmentSizes = array<i32: 1, 2, 1, 1, 0, 0, 0>, parts = 1 : i32}>
  dgemm.tma_load %map[%slot, %slot] to %ring[%slot] member 0 : !ring
  // CHECK-NEXT: dgemm.tma_load {{.*}} member 2 {hint = "evict_first"} : <3 x
  dgemm.tma_load %map[%slot, %slot, %slot, %slot, %slot] to %ring[%slot] member 2 {hint = "evict_first"} : !ring
  // CHECK-NEXT: %[[IS_LAST:.*]] = arith.constant true
  %is_last = arith.constant true
  // CHECK-NEXT: dgemm.tma_load %[[MAP]]{{ ?}}[%[[SLOT]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 1 last %[[MAP]] if %[[IS_LAST]] : <3 x
  dgemm.tma_load %map[%slot] to %ring[%slot] member 1 last %map if %is_last : !ring
  // CHECK-NEXT: dgemm.slot %[[RING]]{{ ?}}[%[[SLOT]]] member 1 : {{.*}} -> <176x128xf8E4M3FN, swizzle = 128>
  %t = dgemm.slot %ring[%slot] member 1 : !ring -> !b
  return
}

// CHECK-LABEL: func @multiply
// CHECK-SAME: (%[[RING:.*]]: !dgemm.ring<{{.*}}>, %[[SLOT:.*]]: i32, %[[SUM:.*]]: !dgemm.fragment<64x88xf32>)
func.func @multiply(%ring: !ring, %slot: i32, %sum: !dgemm.fragment<64x88xf32>) {
  // CHECK-NEXT: %[[U:.*]] = dgemm.wgmma_undef
  %u = dgemm.wgmma_undef : !dgemm.inflight<64x88xf32>
  // CHECK-NEXT: %[[X:.*]] = dgemm.mma %[[RING]]{{ ?}}[%[[SLOT]]] rows %[[SLOT]] cols 88 into %[[U]] fresh : {{.*}}, <64x88xf32>
  // GENERIC: "dgemm.mma"({{.*}}) <{col = 88 : i32, fresh}>
  %x = dgemm.mma %ring[%slot] rows %slot cols 88 into %u fresh : !ring, !dgemm.inflight<64x88xf32>
  // CHECK-NEXT: dgemm.mma %[[RING]]{{ ?}}[%[[SLOT]]] rows %[[SLOT]] cols 0 into %[[X]] : {{.*}}, <64x88xf32>
  %y = dgemm.mma %ring[%slot] rows %slot cols 0 into %x : !ring, !dgemm.inflight<64x88xf32>
  // CHECK-NEXT: dgemm.mma %[[RING]]{{ ?}}[%[[SLOT]]] rows %[[SLOT]] cols 0 into %{{.*}} {half = 1 : i32} : {{.*}}, <64x88xf32>
  %half = dgemm.mma %ring[%slot] rows %slot cols 0 into %y {half = 1 : i32} : !ring, !dgemm.inflight<64x88xf32>
  // CHECK-NEXT: dgemm.wgmma_commit{{$}}
  dgemm.wgmma_commit
  // CHECK-NEXT: %[[F:.*]] = dgemm.promote %[[SUM]], %[[Y:.*]] : !dgemm.inflight<64x88xf32> -> <64x88xf32>
  // GENERIC: "dgemm.promote"({{.*}}) <{boundaries = array<i32>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
  %f = dgemm.promote %sum, %y : !dgemm.inflight<64x88xf32> -> !dgemm.fragment<64x88xf32>
  return
}

// CHECK-LABEL: func @scales
// CHECK-SAME: (%[[RING:.*]]: !dgemm.ring<{{.*}}>, %[[I:.*]]: i32, %[[L:.*]]: i64, %[[BASE:.*]]: !llvm.ptr<1>, %[[SUM:.*]]: !dgemm.fragment<64x88xf32>)
func.func @scales(%ring: !ring, %i: i32, %l: i64, %base: !llvm.ptr<1>, %sum: !dgemm.fragment<64x88xf32>) {
  // CHECK-NEXT: %[[U:.*]], %[[D:.*]] = dgemm.row_scales %[[RING]]{{ ?}}[%[[I]]] member 2 rows %[[I]] : <3 x
  %u, %d = dgemm.row_scales %ring[%i] member 2 rows %i : !ring
  // CHECK-NEXT: dgemm.global_row_scales %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] limit %[[I]] : <1>
  %gu, %gd = dgemm.global_row_scales %base[%i, %i] strides [%l, %l] limit %i : !llvm.ptr<1>
  // CHECK-NEXT: %[[C:.*]] = dgemm.col_scale %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] groups %[[I]] : <1>
  %c = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i : !llvm.ptr<1>
  // CHECK-NEXT: %[[F:.*]] = dgemm.promote %[[SUM]], %[[SUM]] rows{{ ?}}(%[[U]], %[[D]]) : !dgemm.fragment<64x88xf32> -> <64x88xf32>
  %f = dgemm.promote %sum, %sum rows(%u, %d) : !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: %[[G:.*]] = dgemm.promote %[[F]], %[[SUM]] cols{{ ?}}(%[[C]]) : {{.*}} -> <64x88xf32>
  %g = dgemm.promote %f, %sum cols(%c) : !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: dgemm.promote %[[G]], %[[SUM]] rows{{ ?}}(%[[U]], %[[D]]) cols{{ ?}}(%[[C]], %[[C]], %[[C]]) {boundaries = array<i32: 8, 80>} : {{.*}} -> <64x88xf32>
  %h = dgemm.promote %g, %sum rows(%u, %d) cols(%c, %c, %c) {boundaries = array<i32: 8, 80>} : !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x88xf32>
  return
}

// CHECK-LABEL: func @lanes
// CHECK-SAME: (%[[I:.*]]: i32, %[[L:.*]]: i64, %[[BASE:.*]]: !llvm.ptr<1>)
func.func @lanes(%i: i32, %l: i64, %base: !llvm.ptr<1>) {
  // CHECK-NEXT: %[[U:.*]], %[[D:.*]] = dgemm.global_row_scales %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] limit %[[I]] lanes 4 to %[[I]] : <1>
  // GENERIC: "dgemm.global_row_scales"({{.*}}) <{lanes = 4 : i32}>
  %u, %d = dgemm.global_row_scales %base[%i, %i] strides [%l, %l] limit %i lanes 4 to %i : !llvm.ptr<1>
  // CHECK-NEXT: %[[S:.*]] = dgemm.col_scale %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] groups %[[I]] lanes 4 to %[[I]] : <1>
  %s = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i lanes 4 to %i : !llvm.ptr<1>
  // CHECK-NEXT: %[[C:.*]] = dgemm.col_scale %[[BASE]]{{ ?}}[%[[I]], %[[I]]] strides{{ ?}}[%[[L]], %[[L]]] groups %[[I]] lanes 32 to %[[I]] : <1>
  // GENERIC: "dgemm.col_scale"({{.*}}) <{lanes = 32 : i32}>
  %c = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i lanes 32 to %i : !llvm.ptr<1>
  // CHECK-NEXT: dgemm.lane_scale %[[U]]{{ ?}}[%[[I]]] of 4{{$}}
  // GENERIC: "dgemm.lane_scale"({{.*}}) <{lanes = 4 : i32}> : (f32, i32) -> f32
  %x = dgemm.lane_scale %u[%i] of 4
  // CHECK-NEXT: dgemm.lane_scale %[[C]]{{ ?}}[%[[I]]] of 32{{$}}
  %y = dgemm.lane_scale %c[%i] of 32
  return
}
