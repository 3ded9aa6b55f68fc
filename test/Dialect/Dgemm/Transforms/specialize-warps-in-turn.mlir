// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Consumers in turn: the last warpgroup lets the first begin, before any tile.
//
// RUN: dgemm-opt %s --dgemm-specialize-warps | FileCheck %s
// RUN: dgemm-opt %s --dgemm-specialize-warps --dgemm-specialize-warps | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: dgemm.kernel @in_turn
// CHECK: dgemm.role producer
// CHECK-NOT: dgemm.order_
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[WG]], %c1
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: dgemm.order_arrive %c0{{[^ ]*$}}
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.tiles
// CHECK-NOT: dgemm.order_
dgemm.kernel @in_turn(%arg0: !dgemm.tensor_map, %arg1: !dgemm.tensor_map, %arg2: !dgemm.tensor_map, %arg3: !dgemm.tensor_map, %arg4: !llvm.ptr<1>, %arg5: i64, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, consumers = 2 cooperative in_turn, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.grid_wait
  dgemm.grid_launch
  %1:2 = dgemm.tiles (%arg10, %arg11) iter_args(%arg12 = %c0_i32 : i32, %arg13 = %c0_i32 : i32) {
    %2 = dgemm.zero : <128x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32_0 = arith.constant 0 : i32
    %3 = dgemm.k_blocks : i32
    %4:3 = scf.for %arg14 = %c0_i32_0 to %3 step %c1_i32 iter_args(%arg15 = %2, %arg16 = %arg12, %arg17 = %arg13) -> (!dgemm.fragment<128x128xf32>, i32, i32)  : i32 {
      %c1_i32_1 = arith.constant 1 : i32
      %5 = arith.xori %arg17, %c1_i32_1 : i32
      dgemm.acquire %0[%arg16] parity %5 : !ring
      dgemm.expect %0[%arg16] bytes 33280 : !ring
      %c128_i32 = arith.constant 128 : i32
      %6 = arith.muli %arg14, %c128_i32 : i32
      dgemm.tma_load %arg0[%6, %arg10] to %0[%arg16] member 0 : !ring
      %c128_i32_2 = arith.constant 128 : i32
      %7 = arith.muli %arg14, %c128_i32_2 : i32
      dgemm.tma_load %arg1[%7, %arg11] to %0[%arg16] member 1 : !ring
      %c1_i32_3 = arith.constant 1 : i32
      %8 = arith.muli %arg14, %c1_i32_3 : i32
      dgemm.tma_load %arg2[%arg10, %8] to %0[%arg16] member 2 : !ring
      dgemm.wait %0[%arg16] parity %arg17 : !ring
      %9 = dgemm.slot %0[%arg16] member 0 : !ring -> <128x128xf8E4M3FN, swizzle = 128>
      %10 = dgemm.slot %0[%arg16] member 1 : !ring -> <128x128xf8E4M3FN, swizzle = 128>
      %11 = dgemm.slot %0[%arg16] member 2 : !ring -> <1x128xf32>
      %12 = dgemm.tile_mma %9, %10 : <128x128xf8E4M3FN, swizzle = 128>, <128x128xf8E4M3FN, swizzle = 128> -> <128x128xf32>
      %13 = dgemm.tile_promote %arg15, %12 at[%arg10, %arg11, %arg14] row_scales %11 : !dgemm.tile<1x128xf32> : <128x128xf32>
      dgemm.release %0[%arg16] : !ring
      %next_slot, %next_phase = dgemm.advance %0, %arg16, %arg17 : !ring
      scf.yield %13, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
    }
    dgemm.tile_store %4#0 at[%arg10, %arg11] : !dgemm.fragment<128x128xf32>
    dgemm.next %4#1, %4#2 : i32, i32
  }
}
