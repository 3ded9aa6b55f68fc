// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Both roles walk the same tiles and K blocks with their own slot and phase: the
// producer keeps the copies, the consumer the arithmetic and the store.
//
// RUN: dgemm-opt %s --dgemm-specialize-warps | FileCheck %s
// RUN: dgemm-opt %s --dgemm-specialize-warps --dgemm-specialize-warps | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @fp8
// CHECK: %[[RING:.*]] = dgemm.ring
// CHECK: dgemm.role producer registers 40 {
// CHECK-NEXT: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args(%[[S0:.*]] = %c0{{.*}} : i32, %[[P0:.*]] = %c0{{.*}} : i32)
// The producer carries no accumulator.
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[SLOT:.*]] = %[[S0]], %[[PHASE:.*]] = %[[P0]]) -> (i32, i32)
// CHECK: dgemm.acquire
// CHECK-NEXT: dgemm.expect
// CHECK-COUNT-3: dgemm.tma_load
// CHECK-NOT: dgemm.{{wait|slot|tile_mma|tile_promote|release}}
// CHECK: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]] :
// CHECK-NEXT: scf.yield %[[NS]], %[[NP]] : i32, i32
// CHECK-NOT: dgemm.tile_store
// CHECK: dgemm.next %[[LOOP]]#0, %[[LOOP]]#1

// CHECK: dgemm.role consumer registers 232 (%{{.*}}) {
// CHECK-NEXT: %{{.*}}:2 = dgemm.tiles (%{{.*}}, %{{.*}}) iter_args(
// CHECK-NOT: dgemm.{{acquire|expect|tma_load}}
// CHECK: dgemm.wait
// CHECK: dgemm.tile_mma
// CHECK-NEXT: dgemm.tile_promote
// CHECK-NEXT: dgemm.release
// CHECK-NEXT: dgemm.advance
// CHECK: dgemm.tile_store
// CHECK-NOT: dgemm.{{role|tiles}}
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
    %2 = dgemm.zero : <128x128xf32>
    %c0_i32_0 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %3 = dgemm.k_blocks : i32
    %4:3 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
      %c1_i32_1 = arith.constant 1 : i32
      %5 = arith.xori %phase, %c1_i32_1 : i32
      dgemm.acquire %0[%slot] parity %5 : !ring
      dgemm.expect %0[%slot] bytes 33280 : !ring
      %c128_i32 = arith.constant 128 : i32
      %6 = arith.muli %kb, %c128_i32 : i32
      dgemm.tma_load %a[%6, %m0] to %0[%slot] member 0 : !ring
      %c128_i32_2 = arith.constant 128 : i32
      %7 = arith.muli %kb, %c128_i32_2 : i32
      dgemm.tma_load %b[%7, %n0] to %0[%slot] member 1 : !ring
      %c1_i32_3 = arith.constant 1 : i32
      %8 = arith.muli %kb, %c1_i32_3 : i32
      dgemm.tma_load %sa[%m0, %8] to %0[%slot] member 2 : !ring
      dgemm.wait %0[%slot] parity %phase : !ring
      %9 = dgemm.slot %0[%slot] member 0 : !ring -> !a8
      %10 = dgemm.slot %0[%slot] member 1 : !ring -> !a8
      %11 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
      %12 = dgemm.tile_mma %9, %10 : !a8, !a8 -> <128x128xf32>
      %13 = dgemm.tile_promote %sum, %12 at [%m0, %n0, %kb] row_scales %11 : !dgemm.tile<1x128xf32> : <128x128xf32>
      dgemm.release %0[%slot] : !ring
      %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
      scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
    }
    dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next %4#1, %4#2 : i32, i32
  }
}

// Without a ring there is nothing to split.
// CHECK-LABEL: dgemm.kernel @no_ring
// CHECK-NOT: dgemm.role
dgemm.kernel @no_ring(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    dgemm.next
  }
}

// Nor without a K loop.
// CHECK-LABEL: dgemm.kernel @no_loop
// CHECK-NOT: dgemm.role
dgemm.kernel @no_loop(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %ring = dgemm.ring consumers 2 : !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>
  dgemm.tiles (%m0, %n0) {
    dgemm.next
  }
}
