// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// D has 272 columns: of the second tile's n-blocks, 96 columns each, one has
// columns of D. The last tile has a loop of its own with one product.
//
// RUN: dgemm-opt %s --dgemm-partition-mma --canonicalize | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<192x128xf8E4M3FN, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @dead
// CHECK: dgemm.tiles (%{{.*}}, %[[N0:.*]]) iter_args
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[N0]], %c192
// CHECK: scf.if %[[LAST]]
// CHECK: scf.for
// CHECK: dgemm.mma {{.*}} cols 0 into
// CHECK-NOT: dgemm.mma
// CHECK: dgemm.release
// CHECK-NOT: dgemm.mma
// CHECK: dgemm.promote
// CHECK-NOT: dgemm.promote
// CHECK: } else {
// CHECK: scf.for
// CHECK: dgemm.mma {{.*}} cols 0 into
// CHECK: dgemm.mma {{.*}} cols 96 into
// CHECK: dgemm.promote
// CHECK: dgemm.promote
// CHECK: dgemm.tile_store
dgemm.kernel @dead(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 128x272x2048, a = f8E4M3FN, b = f8E4M3FN, d = bf16>, schedule = #dgemm.schedule<tile = 128x192x128, n_blocks = 2 overlapped, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x192xf32>
      %3 = dgemm.k_blocks : i32
      %6:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x192xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %7 = dgemm.slot %0[%slot] member 0 : !ring -> <128x128xf8E4M3FN, swizzle = 128>
        %8 = dgemm.slot %0[%slot] member 1 : !ring -> <192x128xf8E4M3FN, swizzle = 128>
        %9 = dgemm.tile_mma %7, %8 : <128x128xf8E4M3FN, swizzle = 128>, <192x128xf8E4M3FN, swizzle = 128> -> <128x192xf32>
        %10 = dgemm.tile_promote %sum, %9 at [%m0, %n0, %kb] : <128x192xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %10, %next_slot, %next_phase : !dgemm.fragment<128x192xf32>, i32, i32
      }
      dgemm.tile_store %6#0 at [%m0, %n0] : !dgemm.fragment<128x192xf32>
      dgemm.next %6#1, %6#2 : i32, i32
    }
  }
}
