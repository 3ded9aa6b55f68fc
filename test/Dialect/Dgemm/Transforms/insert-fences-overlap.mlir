// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Overlapped n-blocks: two groups run at once, and each promotion waits for its
// own only.
//
// RUN: dgemm-opt %s --dgemm-insert-fences | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-fences --dgemm-insert-fences | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @overlapped
// CHECK: dgemm.wgmma_fence{{$}}
// CHECK-NEXT: %[[P0:.*]] = dgemm.mma {{.*}} cols 0
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %{{.*}} = dgemm.wgmma_undef
// CHECK-NEXT: %[[P1:.*]] = dgemm.mma {{.*}} cols 64
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %[[R0:.*]] = dgemm.wgmma_wait 1 resolve{{ ?}}(%[[P0]]
// CHECK-NEXT: %[[Y0:.*]] = dgemm.promote %{{.*}}, %[[R0]]
// CHECK-NEXT: %[[R1:.*]], %[[PINNED:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[P1]] : {{.*}} pin{{ ?}}(%[[Y0]]
// CHECK-NEXT: dgemm.release
// CHECK-NEXT: %[[Y1:.*]] = dgemm.promote %{{.*}}, %[[R1]]
// CHECK: scf.yield %[[PINNED]], %[[Y1]]
dgemm.kernel @overlapped(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, n_blocks = 2 overlapped, promote = 128>, source = "user"} {
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
      %11 = dgemm.zero : <64x64xf32>
      %12 = dgemm.zero : <64x64xf32>
      %c0_i32_8 = arith.constant 0 : i32
      %13 = arith.cmpi sgt, %3, %c0_i32_8 : i32
      %14 = scf.if %13 -> (f32) {
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_15 = arith.constant 1 : i32
        %23 = arith.muli %c0_i32_8, %c1_i32_15 : i32
        %c0_i32_16 = arith.constant 0 : i32
        %24 = arith.addi %23, %c0_i32_16 : i32
        %25 = arith.minui %24, %7 : i32
        %c0_i32_17 = arith.constant 0 : i32
        %26 = arith.addi %8, %c0_i32_17 : i32
        %27 = dgemm.col_scale %sb[%26, %25] strides [%ldsb, %c1_i64] groups %10 : <1>
        scf.yield %27 : f32
      } else {
        %cst = arith.constant 0.000000e+00 : f32
        scf.yield %cst : f32
      }
      %15:5 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum0 = %11, %sum1 = %12, %sum2 = %14, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x64xf32>, !dgemm.fragment<64x64xf32>, f32, i32, i32) : i32 {
        %c1_i32_15 = arith.constant 1 : i32
        %23 = arith.addi %kb, %c1_i32_15 : i32
        %c1_i64 = arith.constant 1 : i64
        %c1_i32_16 = arith.constant 1 : i32
        %24 = arith.muli %23, %c1_i32_16 : i32
        %c0_i32_17 = arith.constant 0 : i32
        %25 = arith.addi %24, %c0_i32_17 : i32
        %26 = arith.minui %25, %7 : i32
        %c0_i32_18 = arith.constant 0 : i32
        %27 = arith.addi %8, %c0_i32_18 : i32
        %28 = dgemm.col_scale %sb[%27, %26] strides [%ldsb, %c1_i64] groups %10 : <1>
        dgemm.wait %0[%slot] parity %phase : !ring
        %upper, %lower = dgemm.row_scales %0[%slot] member 2 rows %4 : !ring
        %29 = dgemm.wgmma_undef : <64x64xf32>
        %30 = dgemm.mma %0[%slot] rows %4 cols 0 into %29 fresh {k_block = 0 : i32} : !ring, <64x64xf32>
        %31 = dgemm.wgmma_undef : <64x64xf32>
        %32 = dgemm.mma %0[%slot] rows %4 cols 64 into %31 fresh {k_block = 0 : i32} : !ring, <64x64xf32>
        %33 = dgemm.promote %sum0, %30 rows(%upper, %lower) cols(%sum2) : !dgemm.inflight<64x64xf32> -> <64x64xf32>
        dgemm.release %0[%slot] : !ring
        %34 = dgemm.promote %sum1, %32 rows(%upper, %lower) cols(%sum2) : !dgemm.inflight<64x64xf32> -> <64x64xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %33, %34, %28, %next_slot, %next_phase : !dgemm.fragment<64x64xf32>, !dgemm.fragment<64x64xf32>, f32, i32, i32
      }
      %c256_i32_9 = arith.constant 256 : i32
      %c256_i32_10 = arith.constant 256 : i32
      %c64_i32_11 = arith.constant 64 : i32
      %16 = arith.muli %wg, %c64_i32_11 : i32
      %17 = arith.addi %m0, %16 : i32
      %c0_i32_12 = arith.constant 0 : i32
      %18 = arith.addi %17, %c0_i32_12 : i32
      %c0_i32_13 = arith.constant 0 : i32
      %19 = arith.addi %n0, %c0_i32_13 : i32
      %c64_i32_14 = arith.constant 64 : i32
      %20 = arith.addi %n0, %c64_i32_14 : i32
      %21 = dgemm.is_leader : i1
      scf.if %21 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %15#0 cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x64xf32>
      dgemm.stage %15#1 cols 0 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x64xf32>
      dgemm.warpgroup_barrier %wg
      %22 = dgemm.is_leader : i1
      scf.if %22 {
        %c0_i32_15 = arith.constant 0 : i32
        %23 = arith.addi %n0, %c0_i32_15 : i32
        dgemm.tma_store %d[%23, %18] from %wg offset 0
        %c64_i32_16 = arith.constant 64 : i32
        %24 = arith.addi %n0, %c64_i32_16 : i32
        dgemm.tma_store %d[%24, %18] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %15#3, %15#4 : i32, i32
    }
    %2 = dgemm.is_leader : i1
    scf.if %2 {
      dgemm.store_wait 0
    }
  }
}
