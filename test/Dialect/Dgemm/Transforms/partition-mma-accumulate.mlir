// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Without promotion the sum stays in the tensor core's accumulators for all of K.
// A slot is released one iteration late, so that its product may still run while
// the next is issued.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring_bf16 = !dgemm.ring<4 x [!a16, !a16]>
!ring_pp = !dgemm.ring<4 x [!dgemm.tile<64x64xbf16, swizzle = 128>, !a16]>

// CHECK-LABEL: dgemm.kernel @bf16
// CHECK: %[[RING:.*]] = dgemm.ring
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args(%[[S0:.*]] = %{{.*}} : i32, %[[P0:.*]] = %{{.*}} : i32)
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[ZERO:.*]] = dgemm.zero : <64x128xf32>
// CHECK-NEXT: %[[HANDED:.*]] = dgemm.wgmma_fence{{ ?}}(%[[ZERO]] :
// CHECK-NEXT: %[[LOOP:.*]]:4 = scf.for %[[KB:[^ ]*]] = {{.*}} iter_args(%[[SUM:.*]] = %[[HANDED]], %[[SLOT:.*]] = %[[S0]], %[[PHASE:.*]] = %[[P0]], %[[PREVIOUS:.*]] = %[[S0]]) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32)
// CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]]
// CHECK-NEXT: %[[Y:.*]] = dgemm.mma %[[RING]]{{ ?}}[%[[SLOT]]] rows %[[ROW]] cols 0 into %[[SUM]] :
// CHECK: %[[HAS:.*]] = arith.cmpi sgt, %[[KB]], %c0
// CHECK-NEXT: scf.if %[[HAS]] {
// CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[PREVIOUS]]] {pending = 1 : i32}
// CHECK: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]]
// CHECK-NEXT: scf.yield %[[Y]], %[[NS]], %[[NP]], %[[SLOT]]
// The last slot, if there was one: with K = 0 nothing was waited for.
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[LOOP]]#0 :
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[BLOCKS]], %c0
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[LOOP]]#3] :
// CHECK: dgemm.tile_store %[[DONE]] at{{ ?}}[%[[M0]], %[[N0]]] of
// CHECK-NEXT: dgemm.next %[[LOOP]]#1, %[[LOOP]]#2
dgemm.kernel @bf16(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_bf16
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
        %c64_i32 = arith.constant 64 : i32
        %6 = arith.muli %kb, %c64_i32 : i32
        %c64_i32_2 = arith.constant 64 : i32
        %7 = arith.muli %kb, %c64_i32_2 : i32
        dgemm.wait %0[%slot] parity %phase : !ring_bf16
        %8 = dgemm.slot %0[%slot] member 0 : !ring_bf16 -> !a16
        %9 = dgemm.slot %0[%slot] member 1 : !ring_bf16 -> !a16
        %10 = dgemm.tile_mma %8, %9, %sum : !a16, !a16 -> <128x128xf32>
        dgemm.release %0[%slot] : !ring_bf16
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_bf16
        scf.yield %10, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// Ping-pong: every warpgroup has the whole tile, and the other may multiply
// while this one waits for its last product.
// CHECK-LABEL: dgemm.kernel @pingpong
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: dgemm.mma {{.*}} rows %c0{{[_a-z0-9]*}} cols 0 into
// CHECK: dgemm.order_arrive
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance {{.*}} by
// CHECK-NEXT: dgemm.wgmma_wait 0 resolve
// CHECK: dgemm.release
// CHECK: dgemm.tile_store {{.*}} of %[[WG]]
// CHECK-NEXT: dgemm.next %[[NS]], %[[NP]]
dgemm.kernel @pingpong(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 64x128x64, consumers = 2 pingpong>, source = "user"} {
  %0 = dgemm.ring consumers 1 : !ring_pp
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1 = dgemm.k_blocks : i32
    %2 = arith.muli %1, %wg : i32
    %next_slot, %next_phase = dgemm.advance %0, %c0_i32, %c0_i32 by %2 : !ring_pp
    %c1_i32 = arith.constant 1 : i32
    %3 = arith.cmpi eq, %wg, %c1_i32 : i32
    scf.if %3 {
      %c0_i32_0 = arith.constant 0 : i32
      dgemm.order_arrive %c0_i32_0
    }
    %4 = arith.xori %wg, %c1_i32 : i32
    %5:2 = dgemm.tiles (%m0, %n0) lane %wg of 2 iter_args(%s0 = %next_slot : i32, %p0 = %next_phase : i32) {
      %6 = dgemm.zero : <64x128xf32>
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32_1 = arith.constant 1 : i32
      %7 = dgemm.k_blocks : i32
      dgemm.order_wait %wg
      %8:3 = scf.for %kb = %c0_i32_0 to %7 step %c1_i32_1 iter_args(%sum = %6, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, i32, i32) : i32 {
        %c1_i32_4 = arith.constant 1 : i32
        %9 = arith.xori %phase, %c1_i32_4 : i32
        %c64_i32 = arith.constant 64 : i32
        %10 = arith.muli %kb, %c64_i32 : i32
        %c64_i32_5 = arith.constant 64 : i32
        %11 = arith.muli %kb, %c64_i32_5 : i32
        dgemm.wait %0[%slot] parity %phase : !ring_pp
        %12 = dgemm.slot %0[%slot] member 0 : !ring_pp -> <64x64xbf16, swizzle = 128>
        %13 = dgemm.slot %0[%slot] member 1 : !ring_pp -> !a16
        %14 = dgemm.tile_mma %12, %13, %sum : <64x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128> -> <64x128xf32>
        dgemm.release %0[%slot] : !ring_pp
        %next_slot_6, %next_phase_7 = dgemm.advance %0, %slot, %phase : !ring_pp
        scf.yield %14, %next_slot_6, %next_phase_7 : !dgemm.fragment<64x128xf32>, i32, i32
      }
      dgemm.order_arrive %4
      %next_slot_2, %next_phase_3 = dgemm.advance %0, %8#1, %8#2 by %1 : !ring_pp
      dgemm.tile_store %8#0 at [%m0, %n0] : !dgemm.fragment<64x128xf32>
      dgemm.next %next_slot_2, %next_phase_3 : i32, i32
    }
  }
}
