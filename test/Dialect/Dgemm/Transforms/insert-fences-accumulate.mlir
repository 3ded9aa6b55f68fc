// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Accumulators in flight over the loop's back edge: one group may still run when
// the slot before is released, none when the sum is read.
//
// RUN: dgemm-opt %s --dgemm-insert-fences | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-fences --dgemm-insert-fences | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @bf16
// CHECK: %[[LOOP:[^ ]*]]:{{[0-9]+}} = scf.for {{.*}} iter_args(%[[SUM:[^ ]*]] = %{{.*}})
// CHECK: dgemm.wait
// CHECK-NEXT: %[[HANDED:.*]] = dgemm.wgmma_fence{{ ?}}(%[[SUM]] : !dgemm.inflight<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
// CHECK-NEXT: %[[Y:.*]] = dgemm.mma {{.*}} into %[[HANDED]] :
// CHECK-NEXT: dgemm.wgmma_commit
// All threads wait: outside the condition, in front of the release.
// CHECK: dgemm.wgmma_wait 1{{$}}
// CHECK-NEXT: scf.if
// CHECK-NEXT: dgemm.release {{.*}} {pending = 1 : i32}
// CHECK: scf.yield %[[Y]],
// CHECK: dgemm.wgmma_wait 0 resolve{{ ?}}(%[[LOOP]]#0
// CHECK-NOT: dgemm.wgmma_wait
dgemm.kernel @bf16(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
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
        %17 = dgemm.mma %0[%slot] rows %4 cols 0 into %sum : !ring, <64x128xf32>
        %c0_i32_11 = arith.constant 0 : i32
        %18 = arith.cmpi sgt, %kb, %c0_i32_11 : i32
        scf.if %18 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %17, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%9#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %c0_i32_5 = arith.constant 0 : i32
      %10 = arith.cmpi sgt, %3, %c0_i32_5 : i32
      scf.if %10 {
        dgemm.release %0[%9#3] : !ring
      }
      %c256_i32_6 = arith.constant 256 : i32
      %c256_i32_7 = arith.constant 256 : i32
      %c64_i32_8 = arith.constant 64 : i32
      %11 = arith.muli %wg, %c64_i32_8 : i32
      %12 = arith.addi %m0, %11 : i32
      %c0_i32_9 = arith.constant 0 : i32
      %13 = arith.addi %12, %c0_i32_9 : i32
      %c0_i32_10 = arith.constant 0 : i32
      %14 = arith.addi %n0, %c0_i32_10 : i32
      %15 = dgemm.is_leader : i1
      scf.if %15 {
        dgemm.store_wait 0 read
      }
      dgemm.warpgroup_barrier %wg
      dgemm.stage %resolved cols 0 width 64 to %wg box 64 at 0 offset 0 bf16 : <64x128xf32>
      dgemm.stage %resolved cols 64 width 64 to %wg box 64 at 0 offset 8192 bf16 : <64x128xf32>
      dgemm.warpgroup_barrier %wg
      %16 = dgemm.is_leader : i1
      scf.if %16 {
        %c0_i32_11 = arith.constant 0 : i32
        %17 = arith.addi %n0, %c0_i32_11 : i32
        dgemm.tma_store %d[%17, %13] from %wg offset 0
        %c64_i32_12 = arith.constant 64 : i32
        %18 = arith.addi %n0, %c64_i32_12 : i32
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
