// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits and arrivals on the slots' barriers, copies into the slots, scales that
// lanes hold.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>
!ring_kmajor = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>

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

// CHECK-LABEL: llvm.func @lanes
// CHECK-SAME: %{{[^:,]*}}: !llvm.ptr<1>, %[[LDSA:[^:,]*]]: i64, %{{[^:,]*}}: !llvm.ptr<1>, %[[LDSB:[^:,]*]]: i64, %[[M:[^:,]*]]: i32, %{{[^:,]*}}: i32, %[[LAST:[^:,]*]]: i32, %{{[^:,]*}}: i32)
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31
// Four neighbours read the scales of four K blocks for the same rows, none behind
// the last.
// CHECK: %[[OF4:.*]] = arith.andi %[[LANE]], %c3_i32
// CHECK-NEXT: %[[KB4:.*]] = arith.addi %[[M]], %[[OF4]]
// CHECK-NEXT: %[[IN4:.*]] = arith.minui %[[KB4]], %[[LAST]]
// CHECK: %[[UP:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[DOWN:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> f32
// 32 lanes read those of 32 K blocks.
// CHECK: %[[KB32:.*]] = arith.addi %[[M]], %[[LANE]]
// CHECK-NEXT: %[[IN32:.*]] = arith.minui %[[KB32]], %[[LAST]]
// CHECK: arith.extui %[[IN32]] : i32 to i64
// CHECK: %[[COL:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> f32
// 7199 = 28 << 8 | 31: segments of four lanes.
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK-DAG: %{{.*}} = nvvm.shfl.sync idx %c-1_i32, %[[UP]], %[[I]], %c7199_i32 : f32 -> f32
// CHECK-DAG: %{{.*}} = nvvm.shfl.sync idx %c-1_i32, %[[DOWN]], %[[I]], %c7199_i32 : f32 -> f32
// CHECK-DAG: %{{.*}} = nvvm.shfl.sync idx %c-1_i32, %[[COL]], %[[I]], %c31_i32 : f32 -> f32
dgemm.kernel @lanes(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c1_i64 = arith.constant 1 : i64
  %0 = dgemm.ring consumers 2 : !ring_kmajor
  %up, %down = dgemm.global_row_scales %sa[%c0, %m] strides [%ldsa, %c1_i64] limit %c4 lanes 4 to %k : !llvm.ptr<1>
  %col = dgemm.col_scale %sb[%c0, %m] strides [%ldsb, %c1_i64] groups %c2 lanes 32 to %k : !llvm.ptr<1>
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %u = dgemm.lane_scale %up[%i] of 4
    %l = dgemm.lane_scale %down[%i] of 4
    %c = dgemm.lane_scale %col[%i] of 32
    llvm.store volatile %u, %sa : f32, !llvm.ptr<1>
    llvm.store volatile %l, %sa : f32, !llvm.ptr<1>
    llvm.store volatile %c, %sa : f32, !llvm.ptr<1>
  }
}

// Asking does not wait, and who has been told that a slot is full does not either.
// CHECK-LABEL: llvm.func @peek
// CHECK-SAME: %[[SLOT:[^:,]*]]: i32, %[[PHASE:[^:,]*]]: i32, %{{[^:,]*}}: i32)
// CHECK-NOT: try_wait
// CHECK: %[[FULL:.*]] = llvm.getelementptr {{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NEXT: %[[SEEN:.*]] = nvvm.mbarrier.test.wait %[[FULL]], %[[PHASE]] : !llvm.ptr<3>, i32 -> i1
// CHECK-NOT: try_wait
// CHECK: %[[NEEDED:.*]] = arith.xori %[[SEEN]], %true
// CHECK-NEXT: scf.if %[[NEEDED]] {
// CHECK-NEXT: nvvm.mbarrier.try_wait.parity %[[FULL]], %[[PHASE]], %{{.*}} : !llvm.ptr<3>, i32, i32
// CHECK-NEXT: }
// CHECK-NOT: {{try_wait|test.wait}}
dgemm.kernel @peek(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_kmajor
  %seen = dgemm.peek %0[%n] parity %k : !ring_kmajor
  dgemm.wait %0[%n] parity %k unless %seen : !ring_kmajor
}
