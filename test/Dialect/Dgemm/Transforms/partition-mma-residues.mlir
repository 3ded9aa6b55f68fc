// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// 176 columns cut the 128-column scale blocks in eight ways (176 and 128 have the
// common divisor 16): the K loop is cloned for each, and which columns take which
// scale is known in each clone.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !dgemm.tile<176x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @residues
// CHECK: dgemm.tiles (%{{.*}}, %[[N0:.*]]) iter_args
// CHECK: %[[FIRST:.*]] = arith.divui %[[N0]], %c128
// CHECK: %[[WITHIN:.*]] = arith.remui %[[N0]], %c128
// CHECK-NEXT: %[[CASE:.*]] = arith.divui %[[WITHIN]], %c16
// CHECK-NEXT: %[[INDEX:.*]] = arith.index_cast %[[CASE]]
// CHECK-NEXT: %[[SWITCH:.*]]:4 = scf.index_switch %[[INDEX]] -> !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>, i32, i32
// Columns 16 to 103 of one block, then 104 to 191: 24 in it, 64 in the next.
// CHECK: case 1 {
// CHECK: %[[SAME:.*]] = arith.addi %[[FIRST]], %c0
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: %[[HELD:.*]]:2 = scf.if
// CHECK: %[[H0:.*]] = dgemm.col_scale %{{.*}}[%[[SAME]],
// CHECK: %[[H1:.*]] = dgemm.col_scale %{{.*}}[%[[NEXT]],
// CHECK-NEXT: scf.yield %[[H0]], %[[H1]] :
// CHECK: %[[LOOP:.*]]:5 = scf.for
// CHECK: %[[B0:.*]] = dgemm.lane_scale %[[HELD]]#0[%{{.*}}] of 32
// CHECK: %[[B1:.*]] = dgemm.lane_scale %[[HELD]]#1[%{{.*}}] of 32
// CHECK-NEXT: dgemm.wait
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B0]]) :
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B0]], %[[B1]]) {boundaries = array<i32: 24>}
// CHECK: scf.yield %[[LOOP]]#0, %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#3 :
// CHECK: case 2 {
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 8>}
// CHECK: case 3 {
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 80>}
// CHECK: case 4 {
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 64>}
// CHECK: case 5 {
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 48>}
// Three scale blocks in one tile.
// CHECK: case 6 {
// CHECK: %[[HELD:.*]]:3 = scf.if
// CHECK-COUNT-3: dgemm.col_scale
// CHECK: scf.for
// CHECK: %[[B0:.*]] = dgemm.lane_scale %[[HELD]]#0[%{{.*}}] of 32
// CHECK: %[[B1:.*]] = dgemm.lane_scale %[[HELD]]#1[%{{.*}}] of 32
// CHECK: %[[B2:.*]] = dgemm.lane_scale %[[HELD]]#2[%{{.*}}] of 32
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B0]], %[[B1]]) {boundaries = array<i32: 32>}
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B1]], %[[B2]]) {boundaries = array<i32: 72>}
// CHECK: case 7 {
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 16>}
// CHECK: dgemm.promote {{.*}} {boundaries = array<i32: 56>}
// CHECK: default {
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B0:.*]]) :
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[B0]], %{{.*}}) {boundaries = array<i32: 40>}
// CHECK-NOT: {{case|default}}
// CHECK: dgemm.tile_store %[[SWITCH]]#0, %[[SWITCH]]#1 at
// CHECK-NEXT: dgemm.next %[[SWITCH]]#2, %[[SWITCH]]#3
dgemm.kernel @residues(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x352x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x176x128, n_blocks = 2, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x176xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x176xf32>, i32, i32) : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %5 = arith.xori %phase, %c1_i32_1 : i32
        %c128_i32 = arith.constant 128 : i32
        %6 = arith.muli %kb, %c128_i32 : i32
        %c128_i32_2 = arith.constant 128 : i32
        %7 = arith.muli %kb, %c128_i32_2 : i32
        %c1_i32_3 = arith.constant 1 : i32
        %8 = arith.muli %kb, %c1_i32_3 : i32
        dgemm.wait %0[%slot] parity %phase : !ring
        %9 = dgemm.slot %0[%slot] member 0 : !ring -> !a8
        %10 = dgemm.slot %0[%slot] member 1 : !ring -> <176x128xf8E4M3FN, swizzle = 128>
        %11 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
        %12 = dgemm.tile_mma %9, %10 : <128x128xf8E4M3FN, swizzle = 128>, <176x128xf8E4M3FN, swizzle = 128> -> <128x176xf32>
        %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x128xf32> : <128x176xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x176xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x176xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}
