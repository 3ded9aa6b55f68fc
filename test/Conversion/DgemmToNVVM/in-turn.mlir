// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Consumers in turn: a chain of four WGMMAs in two halves between the named
// barriers of both warpgroups.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: llvm.func @in_turn
// CHECK: scf.if
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c256
// CHECK: dgemm.wgmma_fence
// CHECK: dgemm.wgmma %{{.*}} scale_d = "zero"
// CHECK: dgemm.wgmma %{{.*}} scale_d = "one"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: dgemm.wgmma %{{.*}} scale_d = "one"
// CHECK: dgemm.wgmma %{{.*}} scale_d = "one"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: dgemm.wgmma_wait 1
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256
// CHECK: dgemm.wgmma_wait 0 resolve
dgemm.kernel @in_turn(%arg0: !dgemm.tensor_map, %arg1: !dgemm.tensor_map, %arg2: !dgemm.tensor_map, %arg3: !dgemm.tensor_map, %arg4: !llvm.ptr<1>, %arg5: i64, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, consumers = 2 cooperative in_turn, promote = 128>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 512, store = 133120 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 165888 size 64, reduce = 0 part 0, total = 165952>, source = "user"} {
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
      %4 = dgemm.k_blocks : i32
      %c0_i32_2 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %5 = arith.muli %arg10, %c64_i32 : i32
      %c1_i32_3 = arith.constant 1 : i32
      %6 = arith.addi %arg10, %c1_i32_3 : i32
      %c2_i32 = arith.constant 2 : i32
      %7 = arith.remui %6, %c2_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_4 = arith.constant 256 : i32
      %c127_i32 = arith.constant 127 : i32
      %8 = arith.addi %c256_i32_4, %c127_i32 : i32
      %c128_i32 = arith.constant 128 : i32
      %9 = arith.divui %8, %c128_i32 : i32
      %c1_i32_5 = arith.constant 1 : i32
      %10 = arith.subi %9, %c1_i32_5 : i32
      %c128_i32_6 = arith.constant 128 : i32
      %11 = arith.divui %arg12, %c128_i32_6 : i32
      %c256_i32_7 = arith.constant 256 : i32
      %c127_i32_8 = arith.constant 127 : i32
      %12 = arith.addi %c256_i32_7, %c127_i32_8 : i32
      %c128_i32_9 = arith.constant 128 : i32
      %13 = arith.divui %12, %c128_i32_9 : i32
      %c0_i32_10 = arith.constant 0 : i32
      %14 = arith.addi %11, %c0_i32_10 : i32
      %15 = arith.cmpi sgt, %4, %c0_i32_1 : i32
      %16 = scf.if %15 -> (f32) {
        %c1_i32_16 = arith.constant 1 : i32
        %25 = arith.muli %c0_i32_1, %c1_i32_16 : i32
        %c1_i64 = arith.constant 1 : i64
        %26 = dgemm.col_scale %arg4[%14, %25] strides[%arg5, %c1_i64] groups %13 lanes 32 to %10 : <1>
        scf.yield %26 : f32
      } else {
        %cst = arith.constant 0.000000e+00 : f32
        scf.yield %cst : f32
      }
      %17 = dgemm.zero : <64x128xf32>
      %false = arith.constant false
      %18:4 = scf.for %arg15 = %c0_i32_1 to %4 step %c1_i32_0 iter_args(%arg16 = %17, %arg17 = %arg13, %arg18 = %arg14, %arg19 = %false) -> (!dgemm.fragment<64x128xf32>, i32, i32, i1)  : i32 {
        %25 = arith.subi %arg15, %c0_i32_1 : i32
        %c1_i32_16 = arith.constant 1 : i32
        %26 = arith.muli %25, %c1_i32_16 : i32
        %c0_i32_17 = arith.constant 0 : i32
        %27 = arith.addi %26, %c0_i32_17 : i32
        %28 = dgemm.lane_scale %16[%27] of 32
        dgemm.wait %0[%arg17] parity %arg18 unless %arg19 : !ring
        %29 = dgemm.wgmma_undef : <64x128xf32>
        dgemm.order_wait %arg10
        dgemm.wgmma_fence
        %30 = dgemm.mma %0[%arg17] rows %5 cols 0 into %29 fresh {half = 0 : i32, k_block = 0 : i32} : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %31 = dgemm.mma %0[%arg17] rows %5 cols 0 into %30 {half = 1 : i32, k_block = 0 : i32} : !ring, <64x128xf32>
        dgemm.wgmma_commit
        dgemm.wgmma_wait 1
        dgemm.order_arrive %7 {pending = 1 : i32}
        %upper, %lower = dgemm.row_scales %0[%arg17] member 2 rows %5 : !ring
        %resolved = dgemm.wgmma_wait 0 resolve(%31 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
        dgemm.release %0[%arg17] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %arg17, %arg18 : !ring
        %32 = dgemm.peek %0[%next_slot] parity %next_phase : !ring
        %33 = dgemm.promote %arg16, %resolved rows(%upper, %lower) cols(%28) : !dgemm.fragment<64x128xf32> -> <64x128xf32>
        scf.yield %33, %next_slot, %next_phase, %32 : !dgemm.fragment<64x128xf32>, i32, i32, i1
      }
      %c256_i32_11 = arith.constant 256 : i32
      %c256_i32_12 = arith.constant 256 : i32
      %c64_i32_13 = arith.constant 64 : i32
      %19 = arith.muli %arg10, %c64_i32_13 : i32
      %20 = arith.addi %arg11, %19 : i32
      %c0_i32_14 = arith.constant 0 : i32
      %21 = arith.addi %20, %c0_i32_14 : i32
      %c0_i32_15 = arith.constant 0 : i32
      %22 = arith.addi %arg12, %c0_i32_15 : i32
      %23 = dgemm.is_leader : i1
      scf.if %23 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %arg10
      dgemm.stage %18#0 cols 0 width 64 to %arg10 box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %18#0 cols 64 width 64 to %arg10 box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.warpgroup_barrier %arg10
      %24 = dgemm.is_leader : i1
      scf.if %24 {
        %c0_i32_16 = arith.constant 0 : i32
        %25 = arith.addi %arg12, %c0_i32_16 : i32
        dgemm.tma_store %arg3[%25, %21] from %arg10 offset 0
        %c64_i32_17 = arith.constant 64 : i32
        %26 = arith.addi %arg12, %c64_i32_17 : i32
        dgemm.tma_store %arg3[%26, %21] from %arg10 offset 8192
        dgemm.store_commit
      }
      dgemm.next %18#1, %18#2 : i32, i32
    }
    %3 = dgemm.is_leader : i1
    scf.if %3 {
      dgemm.store_wait 0
    }
  }
}
