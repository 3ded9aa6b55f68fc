// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A product in halves has one fence and two groups; the next consumer's turn
// comes when the first of them has run, the promotion when both have.
//
// RUN: dgemm-opt %s --dgemm-insert-fences | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-fences --dgemm-insert-fences | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @in_turn
// CHECK: dgemm.role consumer
// No group has to end before the first turn.
// CHECK: scf.if
// CHECK-NOT: dgemm.wgmma_wait
// CHECK: dgemm.order_arrive
// CHECK: scf.for
// CHECK: dgemm.order_wait
// CHECK-NEXT: dgemm.wgmma_fence{{$}}
// CHECK-NEXT: %[[FIRST:.*]] = dgemm.mma {{.*}} fresh {half = 0
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %[[ALL:.*]] = dgemm.mma {{.*}} into %[[FIRST]] {half = 1
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: dgemm.wgmma_wait 1{{$}}
// CHECK-NEXT: dgemm.order_arrive
// CHECK: %[[R:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[ALL]] : !dgemm.inflight<64x128xf32>)
// CHECK: dgemm.promote %{{.*}}, %[[R]]
dgemm.kernel @in_turn(%arg0: !dgemm.tensor_map, %arg1: !dgemm.tensor_map, %arg2: !dgemm.tensor_map, %arg3: !dgemm.tensor_map, %arg4: !llvm.ptr<1>, %arg5: i64, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, consumers = 2 cooperative in_turn, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.grid_wait
  dgemm.grid_launch
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%arg10, %arg11) iter_args(%arg12 = %c0_i32 : i32, %arg13 = %c0_i32 : i32) {
      %c1_i32 = arith.constant 1 : i32
      %c0_i32_0 = arith.constant 0 : i32
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %arg14 = %c0_i32_0 to %2 step %c1_i32 iter_args(%arg15 = %arg12, %arg16 = %arg13) -> (i32, i32)  : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %4 = arith.xori %arg16, %c1_i32_1 : i32
        dgemm.acquire %0[%arg15] parity %4 : !ring
        dgemm.expect %0[%arg15] bytes 33280 : !ring
        %c128_i32 = arith.constant 128 : i32
        %5 = arith.muli %arg14, %c128_i32 : i32
        dgemm.tma_load %arg0[%5, %arg10] to %0[%arg15] member 0 : !ring
        %c128_i32_2 = arith.constant 128 : i32
        %6 = arith.muli %arg14, %c128_i32_2 : i32
        dgemm.tma_load %arg1[%6, %arg11] to %0[%arg15] member 1 : !ring
        %c1_i32_3 = arith.constant 1 : i32
        %7 = arith.muli %arg14, %c1_i32_3 : i32
        dgemm.tma_load %arg2[%arg10, %7] to %0[%arg15] member 2 : !ring
        %next_slot, %next_phase = dgemm.advance %0, %arg15, %arg16 : !ring
        scf.yield %next_slot, %next_phase : i32, i32
      }
      dgemm.next %3#0, %3#1 : i32, i32
    }
  }
  dgemm.role consumer registers 232 (%arg10) {
    %c1_i32 = arith.constant 1 : i32
    %1 = arith.cmpi eq, %arg10, %c1_i32 : i32
    scf.if %1 {
      %c0_i32_0 = arith.constant 0 : i32
      dgemm.order_arrive %c0_i32_0
    }
    %2:2 = dgemm.tiles (%arg11, %arg12) iter_args(%arg13 = %c0_i32 : i32, %arg14 = %c0_i32 : i32) {
      %c1_i32_0 = arith.constant 1 : i32
      %c0_i32_1 = arith.constant 0 : i32
      %3 = dgemm.k_blocks : i32
      %c0_i32_2 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %4 = arith.muli %arg10, %c64_i32 : i32
      %c1_i32_3 = arith.constant 1 : i32
      %5 = arith.addi %arg10, %c1_i32_3 : i32
      %c2_i32 = arith.constant 2 : i32
      %6 = arith.remui %5, %c2_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_4 = arith.constant 256 : i32
      %c127_i32 = arith.constant 127 : i32
      %7 = arith.addi %c256_i32_4, %c127_i32 : i32
      %c128_i32 = arith.constant 128 : i32
      %8 = arith.divui %7, %c128_i32 : i32
      %c1_i32_5 = arith.constant 1 : i32
      %9 = arith.subi %8, %c1_i32_5 : i32
      %c128_i32_6 = arith.constant 128 : i32
      %10 = arith.divui %arg12, %c128_i32_6 : i32
      %c256_i32_7 = arith.constant 256 : i32
      %c127_i32_8 = arith.constant 127 : i32
      %11 = arith.addi %c256_i32_7, %c127_i32_8 : i32
      %c128_i32_9 = arith.constant 128 : i32
      %12 = arith.divui %11, %c128_i32_9 : i32
      %c0_i32_10 = arith.constant 0 : i32
      %13 = arith.addi %10, %c0_i32_10 : i32
      %14 = arith.cmpi sgt, %3, %c0_i32_1 : i32
      %15 = scf.if %14 -> (f32) {
        %c1_i32_11 = arith.constant 1 : i32
        %18 = arith.muli %c0_i32_1, %c1_i32_11 : i32
        %c1_i64 = arith.constant 1 : i64
        %19 = dgemm.col_scale %arg4[%13, %18] strides[%arg5, %c1_i64] groups %12 lanes 32 to %9 : <1>
        scf.yield %19 : f32
      } else {
        %cst = arith.constant 0.000000e+00 : f32
        scf.yield %cst : f32
      }
      %16 = dgemm.zero : <64x128xf32>
      %false = arith.constant false
      %17:4 = scf.for %arg15 = %c0_i32_1 to %3 step %c1_i32_0 iter_args(%arg16 = %16, %arg17 = %arg13, %arg18 = %arg14, %arg19 = %false) -> (!dgemm.fragment<64x128xf32>, i32, i32, i1)  : i32 {
        %18 = arith.subi %arg15, %c0_i32_1 : i32
        %c1_i32_11 = arith.constant 1 : i32
        %19 = arith.muli %18, %c1_i32_11 : i32
        %c0_i32_12 = arith.constant 0 : i32
        %20 = arith.addi %19, %c0_i32_12 : i32
        %21 = dgemm.lane_scale %15[%20] of 32
        dgemm.wait %0[%arg17] parity %arg18 unless %arg19 : !ring
        %22 = dgemm.wgmma_undef : <64x128xf32>
        dgemm.order_wait %arg10
        %23 = dgemm.mma %0[%arg17] rows %4 cols 0 into %22 fresh {half = 0 : i32, k_block = 0 : i32} : !ring, <64x128xf32>
        %24 = dgemm.mma %0[%arg17] rows %4 cols 0 into %23 {half = 1 : i32, k_block = 0 : i32} : !ring, <64x128xf32>
        dgemm.order_arrive %6 {pending = 1 : i32}
        %upper, %lower = dgemm.row_scales %0[%arg17] member 2 rows %4 : !ring
        dgemm.release %0[%arg17] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %arg17, %arg18 : !ring
        %25 = dgemm.peek %0[%next_slot] parity %next_phase : !ring
        %26 = dgemm.promote %arg16, %24 rows(%upper, %lower) cols(%21) : !dgemm.inflight<64x128xf32> -> <64x128xf32>
        scf.yield %26, %next_slot, %next_phase, %25 : !dgemm.fragment<64x128xf32>, i32, i32, i1
      }
      dgemm.tile_store %17#0 at[%arg11, %arg12] of %arg10 : !dgemm.fragment<64x128xf32>
      dgemm.next %17#1, %17#2 : i32, i32
    }
  }
}
