// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// FP8 with promotion: one fresh product for each block, promoted into a sum that
// stays in registers. Scales in memory are read in front of the loop, each lane
// another K block's, and handed out by lane. Whether the next slot is full is
// asked before the promotion.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring_fp8 = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>
!ring_kmajor = !dgemm.ring<4 x [!a8, !a8]>

// CHECK-LABEL: dgemm.kernel @fp8
// CHECK-SAME: %[[SB:[^:,]*]]: !llvm.ptr<1>, %[[LDSB:[^:,]*]]: i64
// CHECK: %[[RING:.*]] = dgemm.ring
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args(%[[S0:.*]] = %{{.*}} : i32, %[[P0:.*]] = %{{.*}} : i32)
// Warpgroup w has rows 64 w to 64 w + 63 of the tile.
// CHECK: %[[ROW:.*]] = arith.muli %[[WG]], %c64
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[GROUP:.*]] = arith.divui %[[N0]], %c128
// CHECK: %[[NUMBER:.*]] = arith.addi %[[GROUP]], %c0
// With K = 0 there is no scale to read.
// CHECK: %[[HELD:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: %[[OWN:.*]] = dgemm.col_scale %[[SB]]{{ ?}}[%[[NUMBER]], %{{.*}}] strides{{ ?}}[%[[LDSB]], %c1{{.*}}] groups %{{.*}} lanes 32 to %[[LAST]] :
// CHECK-NEXT: scf.yield %[[OWN]]
// CHECK: %[[ZERO:.*]] = dgemm.zero : <64x128xf32>
// CHECK: %[[UNSEEN:.*]] = arith.constant false
// CHECK: %[[LOOP:.*]]:4 = scf.for %[[KB:[^ ]*]] = %[[LOWER:[^ ]*]] to {{.*}} iter_args(%[[SUM:[^ ]*]] = %[[ZERO]], %[[SLOT:[^ ]*]] = %[[S0]], %[[PHASE:[^ ]*]] = %[[P0]], %[[SEEN:[^ ]*]] = %[[UNSEEN]])
// No memory is read for scales in the loop.
// CHECK-NEXT: %[[WITHIN:.*]] = arith.subi %[[KB]], %[[LOWER]]
// CHECK-NOT: dgemm.col_scale
// CHECK: %[[LANE:.*]] = arith.muli %[[WITHIN]], %c1
// CHECK-NOT: dgemm.col_scale
// CHECK: %[[INDEX:.*]] = arith.addi %[[LANE]], %c0
// CHECK-NEXT: %[[COL:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%[[INDEX]]] of 32
// CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] :
// CHECK-NEXT: %[[U:.*]] = dgemm.wgmma_undef : <64x128xf32>
// CHECK-NEXT: %[[P:.*]] = dgemm.mma %[[RING]]{{ ?}}[%[[SLOT]]] rows %[[ROW]] cols 0 into %[[U]] fresh
// CHECK-NEXT: %[[UP:.*]], %[[DOWN:.*]] = dgemm.row_scales %[[RING]]{{ ?}}[%[[SLOT]]] member 2 rows %[[ROW]]
// CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[SLOT]]] :
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]]
// CHECK-NEXT: %[[SEES:.*]] = dgemm.peek %[[RING]]{{ ?}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: %[[Y:.*]] = dgemm.promote %[[SUM]], %[[P]] rows{{ ?}}(%[[UP]], %[[DOWN]]) cols{{ ?}}(%[[COL]]) :
// CHECK-NEXT: scf.yield %[[Y]], %[[NS]], %[[NP]], %[[SEES]] :
// CHECK: dgemm.tile_store %[[LOOP]]#0 at{{ ?}}[%[[M0]], %[[N0]]] of %[[WG]] : !dgemm.fragment<64x128xf32>
// CHECK-NEXT: dgemm.next %[[LOOP]]#1, %[[LOOP]]#2
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_fp8
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %5 = arith.xori %phase, %c1_i32_1 : i32
        %c128_i32 = arith.constant 128 : i32
        %6 = arith.muli %kb, %c128_i32 : i32
        %c128_i32_2 = arith.constant 128 : i32
        %7 = arith.muli %kb, %c128_i32_2 : i32
        %c1_i32_3 = arith.constant 1 : i32
        %8 = arith.muli %kb, %c1_i32_3 : i32
        dgemm.wait %0[%slot] parity %phase : !ring_fp8
        %9 = dgemm.slot %0[%slot] member 0 : !ring_fp8 -> !a8
        %10 = dgemm.slot %0[%slot] member 1 : !ring_fp8 -> !a8
        %11 = dgemm.slot %0[%slot] member 2 : !ring_fp8 -> <1x128xf32>
        %12 = dgemm.tile_mma %9, %10 : !a8, !a8 -> <128x128xf32>
        %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%slot] : !ring_fp8
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_fp8
        scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// Four lanes have the same rows of A: with row scales in memory, scales are held
// four K blocks at a time, by row of A and K block, and B's with them.
// CHECK-LABEL: dgemm.kernel @row_scales_from_memory
// CHECK-SAME: %[[SA:[^:,]*]]: !llvm.ptr<1>, %[[LDSA:[^:,]*]]: i64, %{{.*}}: !llvm.ptr<1>
// CHECK: dgemm.tiles (%[[M0:.*]], %{{.*}}) iter_args
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c64
// CHECK-NEXT: %[[GROW:.*]] = arith.addi %[[M0]], %[[ROW]]
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[HELD:.*]]:3 = scf.if
// CHECK: %[[HUP:.*]], %[[HDOWN:.*]] = dgemm.global_row_scales %[[SA]]{{ ?}}[%[[GROW]], %[[KB:[^ ]*]]] strides{{ ?}}[%[[LDSA]], %c1{{.*}}] limit %c256{{.*}} lanes 4 to %[[LAST]] :
// CHECK: %[[HCOL:.*]] = dgemm.col_scale %{{.*}}, %[[KB]]] {{.*}} lanes 4 to %[[LAST]] :
// CHECK-NEXT: scf.yield %[[HUP]], %[[HDOWN]], %[[HCOL]] :
// CHECK: scf.for
// CHECK-NOT: dgemm.global_row_scales
// CHECK: %[[UP:.*]] = dgemm.lane_scale %[[HELD]]#0[%{{.*}}] of 4
// CHECK: %[[DOWN:.*]] = dgemm.lane_scale %[[HELD]]#1[%{{.*}}] of 4
// CHECK: %[[COL:.*]] = dgemm.lane_scale %[[HELD]]#2[%{{.*}}] of 4
// CHECK-NEXT: dgemm.wait {{.*}} unless
// CHECK-NOT: dgemm.row_scales
// CHECK: dgemm.promote {{.*}} rows{{ ?}}(%[[UP]], %[[DOWN]]) cols{{ ?}}(%[[COL]]) :
// CHECK-NOT: dgemm.global_row_scales
// CHECK: dgemm.tile_store
dgemm.kernel @row_scales_from_memory(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_kmajor
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %5 = arith.xori %phase, %c1_i32_1 : i32
        %c128_i32 = arith.constant 128 : i32
        %6 = arith.muli %kb, %c128_i32 : i32
        %c128_i32_2 = arith.constant 128 : i32
        %7 = arith.muli %kb, %c128_i32_2 : i32
        dgemm.wait %0[%slot] parity %phase : !ring_kmajor
        %8 = dgemm.slot %0[%slot] member 0 : !ring_kmajor -> !a8
        %9 = dgemm.slot %0[%slot] member 1 : !ring_kmajor -> !a8
        %10 = dgemm.tile_mma %8, %9 : !a8, !a8 -> <128x128xf32>
        %11 = dgemm.tile_promote %sum, %10 at [%m0, %n0, %kb] : <128x128xf32>
        dgemm.release %0[%slot] : !ring_kmajor
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_kmajor
        scf.yield %11, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}
