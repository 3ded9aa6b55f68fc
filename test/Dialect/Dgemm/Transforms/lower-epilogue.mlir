// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A finished tile goes to memory by staged boxes and TMA; the staging area is
// free again when the copies of the tile before have read it.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue | FileCheck %s
// RUN: dgemm-opt %s --dgemm-lower-epilogue --dgemm-lower-epilogue | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring_fp8 = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @fp8
// CHECK-SAME: %[[MAP:[^:,(]*]]: !dgemm.tensor_map, %{{[^:]*}}: !llvm.ptr<1>
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: %[[LOOP:[^ ]*]]:{{[0-9]+}} = scf.for
// CHECK: %[[BELOW:.*]] = arith.muli %[[WG]], %c64
// CHECK: %[[ROW:.*]] = arith.addi %[[M0]], %[[BELOW]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %c0
// CHECK: %[[LEADER:.*]] = dgemm.is_leader
// CHECK-NEXT: scf.if %[[LEADER]] {
// CHECK-NEXT: dgemm.store_wait 0 read
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.warpgroup_barrier %[[WG]]
// CHECK-NEXT: dgemm.stage %[[LOOP]]#0 cols 0 width 64 to %[[WG]] box 64 at 0 offset 0 bf16
// CHECK-NEXT: dgemm.stage %[[LOOP]]#0 cols 64 width 64 to %[[WG]] box 64 at 0 offset 8192 bf16
// CHECK-NEXT: dgemm.warpgroup_barrier %[[WG]]
// CHECK-NEXT: %[[LEADER:.*]] = dgemm.is_leader
// CHECK-NEXT: scf.if %[[LEADER]] {
// CHECK: dgemm.tma_store %[[MAP]]{{ ?}}[%{{.*}}, %[[FIRST]]] from %[[WG]] offset 0
// CHECK: %[[COL:.*]] = arith.addi %[[N0]], %c64
// CHECK-NEXT: dgemm.tma_store %[[MAP]]{{ ?}}[%[[COL]], %[[FIRST]]] from %[[WG]] offset 8192
// CHECK-NEXT: dgemm.store_commit
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.next
// Shared memory must outlive the last copies.
// CHECK: scf.if
// CHECK-NEXT: dgemm.store_wait 0 read{{$}}
// CHECK-NOT: dgemm.{{tile_store|store_global}}
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_fp8
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %2 = dgemm.k_blocks : i32
      %c0_i32_1 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %3 = arith.muli %wg, %c64_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_2 = arith.constant 256 : i32
      %c127_i32 = arith.constant 127 : i32
      %4 = arith.addi %c256_i32_2, %c127_i32 : i32
      %c128_i32 = arith.constant 128 : i32
      %5 = arith.divui %4, %c128_i32 : i32
      %c1_i32_3 = arith.constant 1 : i32
      %6 = arith.subi %5, %c1_i32_3 : i32
      %c128_i32_4 = arith.constant 128 : i32
      %7 = arith.divui %n0, %c128_i32_4 : i32
      %c256_i32_5 = arith.constant 256 : i32
      %c127_i32_6 = arith.constant 127 : i32
      %8 = arith.addi %c256_i32_5, %c127_i32_6 : i32
      %c128_i32_7 = arith.constant 128 : i32
      %9 = arith.divui %8, %c128_i32_7 : i32
      %10 = dgemm.zero : <64x128xf32>
      %c0_i32_8 = arith.constant 0 : i32
      %11 = arith.cmpi sgt, %2, %c0_i32_8 : i32
      %12 = scf.if %11 -> (f32) {
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_9 = arith.constant 1 : i32
        %14 = arith.muli %c0_i32_8, %c1_i32_9 : i32
        %c0_i32_10 = arith.constant 0 : i32
        %15 = arith.addi %14, %c0_i32_10 : i32
        %16 = arith.minui %15, %6 : i32
        %c0_i32_11 = arith.constant 0 : i32
        %17 = arith.addi %7, %c0_i32_11 : i32
        %18 = dgemm.col_scale %sb[%17, %16] strides [%ldsb, %c1_i64] groups %9 : <1>
        scf.yield %18 : f32
      } else {
        %cst = arith.constant 0.000000e+00 : f32
        scf.yield %cst : f32
      }
      %13:4 = scf.for %kb = %c0_i32_0 to %2 step %c1_i32 iter_args(%sum0 = %10, %sum1 = %12, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, f32, i32, i32) : i32 {
        %c1_i32_9 = arith.constant 1 : i32
        %14 = arith.addi %kb, %c1_i32_9 : i32
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_10 = arith.constant 1 : i32
        %15 = arith.muli %14, %c1_i32_10 : i32
        %c0_i32_11 = arith.constant 0 : i32
        %16 = arith.addi %15, %c0_i32_11 : i32
        %17 = arith.minui %16, %6 : i32
        %c0_i32_12 = arith.constant 0 : i32
        %18 = arith.addi %7, %c0_i32_12 : i32
        %19 = dgemm.col_scale %sb[%18, %17] strides [%ldsb, %c1_i64] groups %9 : <1>
        dgemm.wait %0[%slot] parity %phase : !ring_fp8
        %upper, %lower = dgemm.row_scales %0[%slot] member 2 rows %3 : !ring_fp8
        %20 = dgemm.wgmma_undef : <64x128xf32>
        %21 = dgemm.mma %0[%slot] rows %3 cols 0 into %20 fresh {k_block = 0 : i32} : !ring_fp8, <64x128xf32>
        dgemm.release %0[%slot] : !ring_fp8
        %22 = dgemm.promote %sum0, %21 rows(%upper, %lower) cols(%sum1) : !dgemm.inflight<64x128xf32> -> <64x128xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_fp8
        scf.yield %22, %19, %next_slot, %next_phase : !dgemm.fragment<64x128xf32>, f32, i32, i32
      }
      dgemm.tile_store %13#0 at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>
      dgemm.next %13#2, %13#3 : i32, i32
    }
  }
}

// Nothing to do in a kernel whose store names no warpgroup yet.
// CHECK-LABEL: dgemm.kernel @not_partitioned
// CHECK: dgemm.tile_store %{{.*}} at
// CHECK-NOT: dgemm.stage
dgemm.kernel @not_partitioned(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32,
                    %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x64xbf16, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x64xbf16, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a16, !a16 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}
