// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits and arrivals on the slots' barriers, copies into the slots.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>

// CHECK-LABEL: llvm.func @fp8
// The producer: wait until the slot is free, announce its bytes, copy.
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK: %[[FREE:.*]] = arith.xori %{{.*}}, %c1
// CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[FREE]], %{{.*}} : !llvm.ptr<3>, i32, i32
// CHECK: %[[FULL:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c33280{{.*}} : !llvm.ptr<3>, i32
// CHECK: %[[TO:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr<7>
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %{{.*}}, %[[FULL]], box{{ ?}}[%{{.*}}, %{{.*}}] : !llvm.ptr<7>, !llvm.ptr
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// The next slot: wrapped, and the phase flips when it does.
// CHECK: %[[UP:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[UP]], %c4
// CHECK: %[[NS:.*]] = arith.select %[[WRAPS]], %c0{{.*}}, %[[UP]]
// CHECK: %[[FLIP:.*]] = arith.extui %[[WRAPS]] : i1 to i32
// CHECK: %[[NP:.*]] = arith.xori %{{.*}}, %[[FLIP]]
// CHECK: scf.yield %[[NS]], %[[NP]]
// The consumer: wait for the copies, read the scales, multiply, and let go
// with one lane of every warp.
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: dgemm.wgmma_wait 0
// CHECK: %[[LANE0:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[LANE0]] {
// CHECK-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT: }
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 512, store = 133120 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 165888 size 64, reduce = 0 part 0, total = 165952>, source = "user"} {
  %c2_i32 = arith.constant 2 : i32
  %cst = arith.constant 0.000000e+00 : f32
  %c1_i64 = arith.constant 1 : i64
  %c64_i32 = arith.constant 64 : i32
  %c128_i32 = arith.constant 128 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %kb = %c0_i32 to %2 step %c1_i32 iter_args(%slot = %s0, %phase = %p0) -> (i32, i32) : i32 {
        %4 = arith.xori %phase, %c1_i32 : i32
        dgemm.acquire %0[%slot] parity %4 : !ring
        dgemm.expect %0[%slot] bytes 33280 : !ring
        %5 = arith.muli %kb, %c128_i32 : i32
        dgemm.tma_load %a[%5, %m0] to %0[%slot] member 0 : !ring
        dgemm.tma_load %b[%5, %n0] to %0[%slot] member 1 : !ring
        dgemm.tma_load %sa[%m0, %kb] to %0[%slot] member 2 : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %next_slot, %next_phase : i32, i32
      }
      dgemm.next %3#0, %3#1 : i32, i32
    }
  }
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %3 = dgemm.k_blocks : i32
      %4 = arith.muli %wg, %c64_i32 : i32
      %5 = arith.divui %n0, %c128_i32 : i32
      %6 = dgemm.zero : <64x128xf32>
      %7 = arith.cmpi sgt, %3, %c0_i32 : i32
      %8 = scf.if %7 -> (f32) {
        %12 = dgemm.col_scale %sb[%5, %c0_i32] strides [%ldsb, %c1_i64] groups %c2_i32 : <1>
        scf.yield %12 : f32
      } else {
        scf.yield %cst : f32
      }
      %9:4 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum0 = %6, %sum1 = %8, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, f32, i32, i32) : i32 {
        %12 = arith.addi %kb, %c1_i32 : i32
        %13 = arith.minui %12, %c1_i32 : i32
        %14 = dgemm.col_scale %sb[%5, %13] strides [%ldsb, %c1_i64] groups %c2_i32 : <1>
        dgemm.wait %0[%slot] parity %phase : !ring
        %upper, %lower = dgemm.row_scales %0[%slot] member 2 rows %4 : !ring
        %15 = dgemm.wgmma_undef : <64x128xf32>
        dgemm.wgmma_fence
        %16 = dgemm.mma %0[%slot] rows %4 cols 0 into %15 fresh {k_block = 0 : i32} : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %resolved = dgemm.wgmma_wait 0 resolve(%16 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
        dgemm.release %0[%slot] : !ring
        %17 = dgemm.promote %sum0, %resolved rows(%upper, %lower) cols(%sum1) : !dgemm.fragment<64x128xf32> -> <64x128xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %17, %14, %next_slot, %next_phase : !dgemm.fragment<64x128xf32>, f32, i32, i32
      }
      %10 = arith.addi %m0, %4 : i32
      %11 = dgemm.is_leader : i1
      scf.if %11 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %9#0 cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %9#0 cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.fence_async
      dgemm.warpgroup_barrier %wg
      scf.if %11 {
        dgemm.tma_store %d[%n0, %10] from %wg offset 0
        %12 = arith.addi %n0, %c64_i32 : i32
        dgemm.tma_store %d[%12, %10] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %9#2, %9#3 : i32, i32
    }
    %2 = dgemm.is_leader : i1
    scf.if %2 {
      dgemm.store_wait 0
    }
  }
}
