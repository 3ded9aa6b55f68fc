// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Several blocks for each warpgroup: m64 blocks below each other, n-blocks side
// by side, in the order of the stored values.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring_m2 = !dgemm.ring<3 x [!dgemm.tile<256x128xf8E4M3FN, swizzle = 128>, !a8, !dgemm.tile<1x256xf32>]>
!ring_nb = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// One block is promoted before the next is multiplied; the last promotion
// follows the release, since nothing reads the slot any more, and the question
// whether the next slot is full, whose answer comes meanwhile.
// CHECK-LABEL: dgemm.kernel @two_m_blocks
// CHECK: %[[ROW0:.*]] = arith.muli %{{.*}}, %c128
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW0]], %c64
// CHECK: scf.for {{.*}} iter_args(%[[SUM0:[^ ]*]] = %{{[^ ]*}}, %[[SUM1:[^ ]*]] = %{{[^ ]*}}, %[[SLOT:[^ ]*]] = %{{[^ ]*}}, %[[PHASE:[^ ]*]] = %{{[^ ]*}}, %[[SEEN:[^ ]*]] = %{{[^ ]*}})
// CHECK: %[[COL:.*]] = dgemm.lane_scale
// CHECK-NEXT: dgemm.wait {{.*}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] :
// CHECK: %[[P0:.*]] = dgemm.mma {{.*}} rows %[[ROW0]] cols 0 into %{{.*}} fresh
// CHECK-NEXT: %[[U0:.*]], %[[D0:.*]] = dgemm.row_scales {{.*}} rows %[[ROW0]]
// CHECK-NEXT: %[[U1:.*]], %[[D1:.*]] = dgemm.row_scales {{.*}} rows %[[ROW1]]
// CHECK-NEXT: %[[Y0:.*]] = dgemm.promote %[[SUM0]], %[[P0]] rows{{ ?}}(%[[U0]], %[[D0]]) cols{{ ?}}(%[[COL]]) :
// CHECK: %[[P1:.*]] = dgemm.mma {{.*}} rows %[[ROW1]] cols 0 into %{{.*}} fresh
// CHECK-NEXT: dgemm.release {{.*}}[%[[SLOT]]] :
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance {{.*}}, %[[SLOT]], %[[PHASE]] :
// CHECK-NEXT: %[[SEES:.*]] = dgemm.peek {{.*}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: %[[Y1:.*]] = dgemm.promote %[[SUM1]], %[[P1]] rows{{ ?}}(%[[U1]], %[[D1]]) cols{{ ?}}(%[[COL]]) :
// CHECK-NEXT: scf.yield %[[Y0]], %[[Y1]], %[[NS]], %[[NP]], %[[SEES]] :
// CHECK: dgemm.tile_store %{{.*}}#0, %{{.*}}#1 at
dgemm.kernel @two_m_blocks(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 256x128x128, stages = 3, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_m2
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <256x128xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<256x128xf32>, i32, i32) : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %5 = arith.xori %phase, %c1_i32_1 : i32
        %c128_i32 = arith.constant 128 : i32
        %6 = arith.muli %kb, %c128_i32 : i32
        %c128_i32_2 = arith.constant 128 : i32
        %7 = arith.muli %kb, %c128_i32_2 : i32
        %c1_i32_3 = arith.constant 1 : i32
        %8 = arith.muli %kb, %c1_i32_3 : i32
        dgemm.wait %0[%slot] parity %phase : !ring_m2
        %9 = dgemm.slot %0[%slot] member 0 : !ring_m2 -> <256x128xf8E4M3FN, swizzle = 128>
        %10 = dgemm.slot %0[%slot] member 1 : !ring_m2 -> !a8
        %11 = dgemm.slot %0[%slot] member 2 : !ring_m2 -> <1x256xf32>
        %12 = dgemm.tile_mma %9, %10 : <256x128xf8E4M3FN, swizzle = 128>, <128x128xf8E4M3FN, swizzle = 128> -> <256x128xf32>
        %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x256xf32> : <256x128xf32>
        dgemm.release %0[%slot] : !ring_m2
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_m2
        scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<256x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<256x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// Overlapped: the second block is issued before the first is promoted.
// CHECK-LABEL: dgemm.kernel @overlapped
// CHECK: dgemm.lane_scale
// CHECK-NEXT: dgemm.wait {{.*}} unless
// CHECK-NEXT: {{.*}} = dgemm.row_scales
// CHECK: %[[P0:.*]] = dgemm.mma {{.*}} cols 0 into %{{.*}} fresh {{.*}} <64x64xf32>
// CHECK: %[[P1:.*]] = dgemm.mma {{.*}} cols 64 into %{{.*}} fresh
// CHECK-NEXT: dgemm.promote %{{.*}}, %[[P0]]
// CHECK-NEXT: dgemm.release
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance
// CHECK-NEXT: dgemm.peek {{.*}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: dgemm.promote %{{.*}}, %[[P1]]
dgemm.kernel @overlapped(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, n_blocks = 2 overlapped, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_nb
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
        dgemm.wait %0[%slot] parity %phase : !ring_nb
        %9 = dgemm.slot %0[%slot] member 0 : !ring_nb -> !a8
        %10 = dgemm.slot %0[%slot] member 1 : !ring_nb -> !a8
        %11 = dgemm.slot %0[%slot] member 2 : !ring_nb -> <1x128xf32>
        %12 = dgemm.tile_mma %9, %10 : !a8, !a8 -> <128x128xf32>
        %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%slot] : !ring_nb
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_nb
        scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}
