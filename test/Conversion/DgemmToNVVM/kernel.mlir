// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel becomes a function of the gpu.module of all kernels: launch bounds,
// metadata, shared memory, barriers, and one branch for each role.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm | FileCheck %s
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --convert-dgemm-to-nvvm | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-NOT: dgemm.kernel
// CHECK: gpu.module @dgemm_kernels {
// CHECK-NEXT: llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-NEXT: llvm.func @bf16(%[[A:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME: dgemm.launch_metadata = "{
// CHECK-SAME: gpu.kernel
// CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @smem
// The thread that will load initialises the barriers and goes on; the consumers
// wait for it. A slot is full with one arrival and free with one from each of
// 8 warps.
// CHECK: scf.if
// CHECK: nvvm.elect.sync
// CHECK-COUNT-3: nvvm.prefetch tensormap in_param_space
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
// CHECK-COUNT-6: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier.arrive id = %[[ZERO:.*]] number_of_threads = %[[ALL:[^ ]*]]
// CHECK-NEXT: } else {
// CHECK-NEXT: nvvm.barrier id = %[[ZERO]] number_of_threads = %[[ALL]]
// The last warpgroup produces, with one thread.
// CHECK: scf.if
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.elect.sync
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: } else {
// CHECK: nvvm.setmaxregister increase 232
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: dgemm.wgmma_fence
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: llvm.return
dgemm.kernel @bf16(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>, source = "user"} {
  %c64_i32 = arith.constant 64 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %kb = %c0_i32 to %2 step %c1_i32 iter_args(%slot = %s0, %phase = %p0) -> (i32, i32) : i32 {
        %4 = arith.xori %phase, %c1_i32 : i32
        dgemm.acquire %0[%slot] parity %4 : !ring
        dgemm.expect %0[%slot] bytes 32768 : !ring
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
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %3 = dgemm.k_blocks : i32
      %4 = arith.muli %wg, %c64_i32 : i32
      %5 = dgemm.zero : <64x128xf32>
      %handed = dgemm.wgmma_fence(%5 : !dgemm.fragment<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
      %6:4 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %handed, %slot = %s0, %phase = %p0, %last = %s0) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %handed_0 = dgemm.wgmma_fence(%sum : !dgemm.inflight<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
        %10 = dgemm.mma %0[%slot] rows %4 cols 0 into %handed_0 : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %11 = arith.cmpi sgt, %kb, %c0_i32 : i32
        dgemm.wgmma_wait 1
        scf.if %11 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %10, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%6#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %7 = arith.cmpi sgt, %3, %c0_i32 : i32
      scf.if %7 {
        dgemm.release %0[%6#3] : !ring
      }
      %8 = arith.addi %m0, %4 : i32
      %9 = dgemm.is_leader : i1
      scf.if %9 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %resolved cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %resolved cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.fence_async
      dgemm.warpgroup_barrier %wg
      scf.if %9 {
        dgemm.tma_store %d[%n0, %8] from %wg offset 0
        %10 = arith.addi %n0, %c64_i32 : i32
        dgemm.tma_store %d[%10, %8] from %wg offset 8192
        dgemm.store_commit
      }
      dgemm.next %6#1, %6#2 : i32, i32
    }
    %2 = dgemm.is_leader : i1
    scf.if %2 {
      dgemm.store_wait 0
    }
  }
}
