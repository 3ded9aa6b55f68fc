// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Ping-pong: named barriers of both warpgroups hand the tensor core over; a slot
// is free with the arrivals of one warpgroup's four warps.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<64x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: llvm.func @pingpong
// CHECK: nvvm.mbarrier.init %{{.*}}, %c1
// CHECK: nvvm.mbarrier.init %{{.*}}, %c4
// CHECK: nvvm.setmaxregister increase
// K blocks to skip may wrap the ring more than once.
// CHECK: %[[UP:.*]] = arith.muli
// CHECK: %[[SLOT:.*]] = arith.remui %{{.*}}, %c4
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256
// CHECK: scf.for
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c256
// CHECK: scf.for
// CHECK: dgemm.wgmma %
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256
// CHECK: dgemm.wgmma_wait 0 resolve
dgemm.kernel @pingpong(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 64x128x64, consumers = 2 pingpong>, smem = #dgemm.smem_plan<a = 0 step 8192, b = 32768 step 16384, scale_a = 98304 step 0, store = 98304 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 131072 size 80, reduce = 0 part 0, total = 131152>, source = "user"} {
  %c64_i32 = arith.constant 64 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = dgemm.ring consumers 1 : !ring
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %kb = %c0_i32 to %2 step %c1_i32 iter_args(%slot = %s0, %phase = %p0) -> (i32, i32) : i32 {
        %4 = arith.xori %phase, %c1_i32 : i32
        dgemm.acquire %0[%slot] parity %4 : !ring
        dgemm.expect %0[%slot] bytes 24576 : !ring
        %5 = arith.muli %kb, %c64_i32 : i32
        dgemm.tma_load %a[%5, %m0] to %0[%slot] member 0 : !ring
        dgemm.tma_load %b[%5, %n0] to %0[%slot] member 1 : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %next_slot, %next_phase : i32, i32
      }
      dgemm.next %3#0, %3#1 : i32, i32
    }
  }
  dgemm.role consumer registers 232 (%wg) {
    %1 = dgemm.k_blocks : i32
    %2 = arith.muli %1, %wg : i32
    %next_slot, %next_phase = dgemm.advance %0, %c0_i32, %c0_i32 by %2 : !ring
    %3 = arith.cmpi eq, %wg, %c1_i32 : i32
    scf.if %3 {
      dgemm.order_arrive %c0_i32
    }
    %4 = arith.xori %wg, %c1_i32 : i32
    %5:2 = dgemm.tiles (%m0, %n0) lane %wg of 2 iter_args(%s0 = %next_slot : i32, %p0 = %next_phase : i32) {
      dgemm.order_wait %wg
      %7 = dgemm.zero : <64x128xf32>
      %handed = dgemm.wgmma_fence(%7 : !dgemm.fragment<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
      %8:4 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %handed, %slot = %s0, %phase = %p0, %last = %s0) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %handed_2 = dgemm.wgmma_fence(%sum : !dgemm.inflight<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
        %11 = dgemm.mma %0[%slot] rows %c0_i32 cols 0 into %handed_2 : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %12 = arith.cmpi sgt, %kb, %c0_i32 : i32
        dgemm.wgmma_wait 1
        scf.if %12 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot_3, %next_phase_4 = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %11, %next_slot_3, %next_phase_4, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      dgemm.order_arrive %4
      %next_slot_0, %next_phase_1 = dgemm.advance %0, %8#1, %8#2 by %1 : !ring
      %resolved = dgemm.wgmma_wait 0 resolve(%8#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %9 = arith.cmpi sgt, %1, %c0_i32 : i32
      scf.if %9 {
        dgemm.release %0[%8#3] : !ring
      }
      %10 = dgemm.is_leader : i1
      scf.if %10 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %resolved cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %resolved cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.fence_async
      dgemm.warpgroup_barrier %wg
      scf.if %10 {
        dgemm.tma_store %d[%n0, %m0] from %wg offset 0
        %11 = arith.addi %n0, %c64_i32 : i32
        dgemm.tma_store %d[%11, %m0] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %next_slot_0, %next_phase_1 : i32, i32
    }
    %6 = dgemm.is_leader : i1
    scf.if %6 {
      dgemm.store_wait 0
    }
  }
}
