// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Consumers in turn: each waits for its turn, issues its product in two halves,
// and lets the next one begin when only the second half may still run.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @in_turn
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: dgemm.tiles
// CHECK: %[[UP:.*]] = arith.addi %[[WG]], %c1
// CHECK: %[[NEXT:.*]] = arith.remui %[[UP]], %c2
// CHECK: scf.for
// CHECK: dgemm.wait
// CHECK-NEXT: %[[U:.*]] = dgemm.wgmma_undef
// CHECK-NEXT: dgemm.order_wait %[[WG]]{{$}}
// CHECK-NEXT: %[[FIRST:.*]] = dgemm.mma {{.*}} into %[[U]] fresh {half = 0 : i32, k_block = 0 : i32}
// CHECK-NEXT: %[[ALL:.*]] = dgemm.mma {{.*}} into %[[FIRST]] {half = 1 : i32, k_block = 0 : i32}
// CHECK-NEXT: dgemm.order_arrive %[[NEXT]] {pending = 1 : i32}
// CHECK: dgemm.promote %{{.*}}, %[[ALL]]
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
      %3 = dgemm.zero : <128x128xf32>
      %c1_i32_0 = arith.constant 1 : i32
      %c0_i32_1 = arith.constant 0 : i32
      %4 = dgemm.k_blocks : i32
      %5:3 = scf.for %arg15 = %c0_i32_1 to %4 step %c1_i32_0 iter_args(%arg16 = %3, %arg17 = %arg13, %arg18 = %arg14) -> (!dgemm.fragment<128x128xf32>, i32, i32)  : i32 {
        %c1_i32_2 = arith.constant 1 : i32
        %6 = arith.xori %arg18, %c1_i32_2 : i32
        %c128_i32 = arith.constant 128 : i32
        %7 = arith.muli %arg15, %c128_i32 : i32
        %c128_i32_3 = arith.constant 128 : i32
        %8 = arith.muli %arg15, %c128_i32_3 : i32
        %c1_i32_4 = arith.constant 1 : i32
        %9 = arith.muli %arg15, %c1_i32_4 : i32
        dgemm.wait %0[%arg17] parity %arg18 : !ring
        %10 = dgemm.slot %0[%arg17] member 0 : !ring -> <128x128xf8E4M3FN, swizzle = 128>
        %11 = dgemm.slot %0[%arg17] member 1 : !ring -> <128x128xf8E4M3FN, swizzle = 128>
        %12 = dgemm.slot %0[%arg17] member 2 : !ring -> <1x128xf32>
        %13 = dgemm.tile_mma %10, %11 : <128x128xf8E4M3FN, swizzle = 128>, <128x128xf8E4M3FN, swizzle = 128> -> <128x128xf32>
        %14 = dgemm.tile_promote %arg16, %13 at[%arg11, %arg12, %arg15] row_scales %12 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%arg17] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %arg17, %arg18 : !ring
        scf.yield %14, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %5#0 at[%arg11, %arg12] : !dgemm.fragment<128x128xf32>
      dgemm.next %5#1, %5#2 : i32, i32
    }
  }
}
