// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// 64 columns lie within one 128-column scale block wherever the tile begins: one
// loop, and the block's number found from the tile's column.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !dgemm.tile<64x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @narrow
// CHECK: dgemm.tiles (%{{.*}}, %[[N0:.*]]) iter_args
// CHECK: %[[GROUP:.*]] = arith.divui %[[N0]], %c128
// CHECK-NOT: scf.index_switch
// CHECK: %[[NUMBER:.*]] = arith.addi %[[GROUP]], %c0
// CHECK: %[[HELD:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: dgemm.col_scale %{{.*}}[%[[NUMBER]],
// CHECK-NOT: {{scf.index_switch|dgemm.col_scale}}
// CHECK: scf.for
// CHECK-NOT: {{scf.index_switch|dgemm.col_scale}}
// CHECK: %[[COL:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%{{.*}}] of 32
// CHECK: dgemm.promote {{.*}} cols{{ ?}}(%[[COL]]) : {{.*}} -> <64x64xf32>
// CHECK-NOT: scf.for
// CHECK: dgemm.tile_store
dgemm.kernel @narrow(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x64x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x64xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x64xf32>, i32, i32) : i32 {
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
        %10 = dgemm.slot %0[%slot] member 1 : !ring -> <64x128xf8E4M3FN, swizzle = 128>
        %11 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
        %12 = dgemm.tile_mma %9, %10 : <128x128xf8E4M3FN, swizzle = 128>, <64x128xf8E4M3FN, swizzle = 128> -> <128x64xf32>
        %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x128xf32> : <128x64xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x64xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x64xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}
