// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Ping-pong: each consumer visits every second tile, skips the K blocks of the
// other's, and multiplies only while it holds the tensor core.
//
// RUN: dgemm-opt %s --dgemm-specialize-warps | FileCheck %s
// RUN: dgemm-opt %s --dgemm-specialize-warps --dgemm-specialize-warps | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!dgemm.tile<64x64xbf16, swizzle = 128>, !a16]>

// CHECK-LABEL: dgemm.kernel @pingpong
// CHECK: %[[RING:.*]] = dgemm.ring consumers 1
// The producer fills the slots of every tile.
// CHECK: dgemm.role producer registers 40 {
// CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) iter_args(
// CHECK-NOT: dgemm.order_
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK-NEXT: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK-NEXT: %[[AHEAD:.*]] = arith.muli %[[BLOCKS]], %[[WG]]
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = dgemm.advance %[[RING]], %c0{{.*}}, %c0{{.*}} by %[[AHEAD]]
// Warpgroup 1 lets warpgroup 0 begin.
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[WG]], %c1
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK: dgemm.order_arrive %c0
// CHECK: %[[OTHER:.*]] = arith.xori %[[WG]], %c1
// CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) lane %[[WG]] of 2 iter_args(%[[S0:.*]] = %[[S]] : i32, %[[P0:.*]] = %[[P]] : i32)
// CHECK: dgemm.order_wait %[[WG]]
// CHECK-NEXT: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[S0]], %{{.*}} = %[[P0]])
// CHECK: dgemm.wait
// The tensor core is handed over before this tile is stored.
// CHECK: dgemm.order_arrive %[[OTHER]]
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[LOOP]]#1, %[[LOOP]]#2 by %[[BLOCKS]]
// CHECK-NEXT: dgemm.tile_store %[[LOOP]]#0
// CHECK-NEXT: dgemm.next %[[NS]], %[[NP]]
dgemm.kernel @pingpong(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 64x128x64, consumers = 2 pingpong>, source = "user"} {
  %0 = dgemm.ring consumers 1 : !ring
  %c0_i32 = arith.constant 0 : i32
  %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
    %2 = dgemm.zero : <64x128xf32>
    %c0_i32_0 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %3 = dgemm.k_blocks : i32
    %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, i32, i32) : i32 {
      %c1_i32_1 = arith.constant 1 : i32
      %5 = arith.xori %phase, %c1_i32_1 : i32
      dgemm.acquire %0[%slot] parity %5 : !ring
      dgemm.expect %0[%slot] bytes 24576 : !ring
      %c64_i32 = arith.constant 64 : i32
      %6 = arith.muli %kb, %c64_i32 : i32
      dgemm.tma_load %a[%6, %m0] to %0[%slot] member 0 : !ring
      %c64_i32_2 = arith.constant 64 : i32
      %7 = arith.muli %kb, %c64_i32_2 : i32
      dgemm.tma_load %b[%7, %n0] to %0[%slot] member 1 : !ring
      dgemm.wait %0[%slot] parity %phase : !ring
      %8 = dgemm.slot %0[%slot] member 0 : !ring -> <64x64xbf16, swizzle = 128>
      %9 = dgemm.slot %0[%slot] member 1 : !ring -> !a16
      %10 = dgemm.tile_mma %8, %9, %sum : <64x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128> -> <64x128xf32>
      dgemm.release %0[%slot] : !ring
      %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
      scf.yield %10, %next_slot, %next_phase : !dgemm.fragment<64x128xf32>, i32, i32
    }
    dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<64x128xf32>
    dgemm.next %4#1, %4#2 : i32, i32
  }
}
