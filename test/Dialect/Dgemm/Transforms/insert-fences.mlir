// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A product is fenced, committed and waited for before its sum or its slot is
// touched; writes to shared memory are fenced before TMA reads them.
//
// RUN: dgemm-opt %s --dgemm-insert-fences | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-fences --dgemm-insert-fences | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @fp8
// CHECK: dgemm.wait %{{.*}}[%[[SLOT:.*]]] parity
// CHECK: dgemm.row_scales
// CHECK-NEXT: %[[U:.*]] = dgemm.wgmma_undef
// CHECK-NEXT: dgemm.wgmma_fence{{$}}
// CHECK-NEXT: %[[P:.*]] = dgemm.mma {{.*}} into %[[U]] fresh
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %[[R:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[P]] : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
// CHECK-NEXT: dgemm.release %{{.*}}[%[[SLOT]]]
// CHECK-NEXT: dgemm.promote %{{.*}}, %[[R]] {{.*}} : !dgemm.fragment<64x128xf32> ->
// The first barrier lets the staging begin and needs no fence.
// CHECK: dgemm.store_wait 0 read
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.warpgroup_barrier
// CHECK-NEXT: dgemm.stage
// CHECK-NEXT: dgemm.stage
// CHECK-NEXT: dgemm.fence_async
// CHECK-NEXT: dgemm.warpgroup_barrier
// CHECK: dgemm.tma_store
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %3 = dgemm.k_blocks : i32
      %c0_i32_1 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %4 = arith.muli %wg, %c64_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_2 = arith.constant 256 : i32
      %c127_i32 = arith.constant 127 : i32
      %5 = arith.addi %c256_i32_2, %c127_i32 : i32
      %c128_i32 = arith.constant 128 : i32
      %6 = arith.divui %5, %c128_i32 : i32
      %c1_i32_3 = arith.constant 1 : i32
      %7 = arith.subi %6, %c1_i32_3 : i32
      %c128_i32_4 = arith.constant 128 : i32
      %8 = arith.divui %n0, %c128_i32_4 : i32
      %c256_i32_5 = arith.constant 256 : i32
      %c127_i32_6 = arith.constant 127 : i32
      %9 = arith.addi %c256_i32_5, %c127_i32_6 : i32
      %c128_i32_7 = arith.constant 128 : i32
      %10 = arith.divui %9, %c128_i32_7 : i32
      %11 = dgemm.zero : <64x128xf32>
      %c0_i32_8 = arith.constant 0 : i32
      %12 = arith.cmpi sgt, %3, %c0_i32_8 : i32
      %13 = scf.if %12 -> (f32) {
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_14 = arith.constant 1 : i32
        %21 = arith.muli %c0_i32_8, %c1_i32_14 : i32
        %c0_i32_15 = arith.constant 0 : i32
        %22 = arith.addi %21, %c0_i32_15 : i32
        %23 = arith.minui %22, %7 : i32
        %c0_i32_16 = arith.constant 0 : i32
        %24 = arith.addi %8, %c0_i32_16 : i32
        %25 = dgemm.col_scale %sb[%24, %23] strides [%ldsb, %c1_i64] groups %10 : <1>
        scf.yield %25 : f32
      } else {
        %cst = arith.constant 0.000000e+00 : f32
        scf.yield %cst : f32
      }
      %14:4 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum0 = %11, %sum1 = %13, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, f32, i32, i32) : i32 {
        %c1_i32_14 = arith.constant 1 : i32
        %21 = arith.addi %kb, %c1_i32_14 : i32
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_15 = arith.constant 1 : i32
        %22 = arith.muli %21, %c1_i32_15 : i32
        %c0_i32_16 = arith.constant 0 : i32
        %23 = arith.addi %22, %c0_i32_16 : i32
        %24 = arith.minui %23, %7 : i32
        %c0_i32_17 = arith.constant 0 : i32
        %25 = arith.addi %8, %c0_i32_17 : i32
        %26 = dgemm.col_scale %sb[%25, %24] strides [%ldsb, %c1_i64] groups %10 : <1>
        dgemm.wait %0[%slot] parity %phase : !ring
        %upper, %lower = dgemm.row_scales %0[%slot] member 2 rows %4 : !ring
        %27 = dgemm.wgmma_undef : <64x128xf32>
        %28 = dgemm.mma %0[%slot] rows %4 cols 0 into %27 fresh {k_block = 0 : i32} : !ring, <64x128xf32>
        dgemm.release %0[%slot] : !ring
        %29 = dgemm.promote %sum0, %28 rows(%upper, %lower) cols(%sum1) : !dgemm.inflight<64x128xf32> -> <64x128xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %29, %26, %next_slot, %next_phase : !dgemm.fragment<64x128xf32>, f32, i32, i32
      }
      %c256_i32_9 = arith.constant 256 : i32
      %c256_i32_10 = arith.constant 256 : i32
      %c64_i32_11 = arith.constant 64 : i32
      %15 = arith.muli %wg, %c64_i32_11 : i32
      %16 = arith.addi %m0, %15 : i32
      %c0_i32_12 = arith.constant 0 : i32
      %17 = arith.addi %16, %c0_i32_12 : i32
      %c0_i32_13 = arith.constant 0 : i32
      %18 = arith.addi %n0, %c0_i32_13 : i32
      %19 = dgemm.is_leader : i1
      scf.if %19 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %14#0 cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %14#0 cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.warpgroup_barrier %wg
      %20 = dgemm.is_leader : i1
      scf.if %20 {
        %c0_i32_14 = arith.constant 0 : i32
        %21 = arith.addi %n0, %c0_i32_14 : i32
        dgemm.tma_store %d[%21, %17] from %wg offset 0
        %c64_i32_15 = arith.constant 64 : i32
        %22 = arith.addi %n0, %c64_i32_15 : i32
        dgemm.tma_store %d[%22, %17] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %14#2, %14#3 : i32, i32
    }
    %2 = dgemm.is_leader : i1
    scf.if %2 {
      dgemm.store_wait 0
    }
  }
}
