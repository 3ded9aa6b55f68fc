// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan is attached, and nothing else changes.
//
// RUN: dgemm-opt %s --dgemm-plan-smem | FileCheck %s
// RUN: dgemm-opt %s --dgemm-plan-smem --dgemm-plan-smem | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @bf16
// CHECK-SAME: smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768{{ ?}}(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>
// CHECK-NEXT: %{{.*}} = dgemm.ring consumers 2
// CHECK: dgemm.role producer registers 40 {
dgemm.kernel @bf16(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %kb = %c0_i32_0 to %2 step %c1_i32 iter_args(%slot = %s0, %phase = %p0) -> (i32, i32) : i32 {
        %c1_i32_1 = arith.constant 1 : i32
        %4 = arith.xori %phase, %c1_i32_1 : i32
        dgemm.acquire %0[%slot] parity %4 : !ring
        dgemm.expect %0[%slot] bytes 32768 : !ring
        %c64_i32 = arith.constant 64 : i32
        %5 = arith.muli %kb, %c64_i32 : i32
        dgemm.tma_load %a[%5, %m0] to %0[%slot] member 0 : !ring
        %c64_i32_2 = arith.constant 64 : i32
        %6 = arith.muli %kb, %c64_i32_2 : i32
        dgemm.tma_load %b[%6, %n0] to %0[%slot] member 1 : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %next_slot, %next_phase : i32, i32
      }
      dgemm.next %3#0, %3#1 : i32, i32
    }
  }
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
      %c63_i32 = arith.constant 63 : i32
      %5 = arith.addi %c256_i32_2, %c63_i32 : i32
      %c64_i32_3 = arith.constant 64 : i32
      %6 = arith.divui %5, %c64_i32_3 : i32
      %c1_i32_4 = arith.constant 1 : i32
      %7 = arith.subi %6, %c1_i32_4 : i32
      %8 = dgemm.zero : <64x128xf32>
      %handed = dgemm.wgmma_fence(%8 : !dgemm.fragment<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
      %9:4 = scf.for %kb = %c0_i32_0 to %3 step %c1_i32 iter_args(%sum = %handed, %slot = %s0, %phase = %p0, %last = %s0) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %handed_10 = dgemm.wgmma_fence(%sum : !dgemm.inflight<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
        %17 = dgemm.mma %0[%slot] rows %4 cols 0 into %handed_10 : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %18 = arith.cmpi sgt, %kb, %c0_i32_0 : i32
        dgemm.wgmma_wait 1
        scf.if %18 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %17, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%9#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %10 = arith.cmpi sgt, %3, %c0_i32_0 : i32
      scf.if %10 {
        dgemm.release %0[%9#3] : !ring
      }
      %c256_i32_5 = arith.constant 256 : i32
      %c256_i32_6 = arith.constant 256 : i32
      %c64_i32_7 = arith.constant 64 : i32
      %11 = arith.muli %wg, %c64_i32_7 : i32
      %12 = arith.addi %m0, %11 : i32
      %c0_i32_8 = arith.constant 0 : i32
      %13 = arith.addi %12, %c0_i32_8 : i32
      %c0_i32_9 = arith.constant 0 : i32
      %14 = arith.addi %n0, %c0_i32_9 : i32
      %15 = dgemm.is_leader : i1
      scf.if %15 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %resolved cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %resolved cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.fence_async
      dgemm.warpgroup_barrier %wg
      %16 = dgemm.is_leader : i1
      scf.if %16 {
        %c0_i32_10 = arith.constant 0 : i32
        %17 = arith.addi %n0, %c0_i32_10 : i32
        dgemm.tma_store %d[%17, %13] from %wg offset 0
        %c64_i32_11 = arith.constant 64 : i32
        %18 = arith.addi %n0, %c64_i32_11 : i32
        dgemm.tma_store %d[%18, %13] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %9#1, %9#2 : i32, i32
    }
    %2 = dgemm.is_leader : i1
    scf.if %2 {
      dgemm.store_wait 0
    }
  }
}

// A kernel without ops has its plan too: problem and schedule imply it. An old
// plan is replaced. A's scales travel through the ring; bigger tiles are
// stored in rounds.
// CHECK-LABEL: dgemm.kernel @fp8
// CHECK-SAME: smem = #dgemm.smem_plan<a = 0 step 32768, b = 131072 step 16384, scale_a = 196608 step 1024, store = 200704 size 16384{{ ?}}(boxes = 4 at_once 1 of 8192 bytes columns = 64), barriers = 217088 size 64, reduce = 0 part 0, total = 217152>
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                  %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>,
                schedule = #dgemm.schedule<tile = 256x128x128, promote = 128>, source = "user",
                smem = #dgemm.smem_plan<a = 1 step 1, b = 1 step 1, scale_a = 1 step 1, store = 1 size 1 (boxes = 1 at_once 1 of 1 bytes columns = 1), barriers = 1 size 1, reduce = 1 part 1, total = 1>} {}
