// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What is done to the values before they are stored: scales that wait for the
// epilogue, then C, then the conversion in the store itself.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue | FileCheck %s
// RUN: dgemm-opt %s --dgemm-lower-epilogue --dgemm-lower-epilogue | FileCheck %s

!ring_tensor = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>
!ring_acc = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @tensor_scales
// CHECK-SAME: %[[SA:[^:,]*]]: !llvm.ptr<1>, %{{[^:,]*}}: i64, %[[SB:[^:,]*]]: !llvm.ptr<1>
// CHECK: %[[LOOP:[^ ]*]]:{{[0-9]+}} = scf.for
// CHECK: %[[A:.*]] = llvm.load %[[SA]] : !llvm.ptr<1> -> f32
// CHECK: %[[B:.*]] = llvm.load %[[SB]] : !llvm.ptr<1> -> f32
// CHECK: %[[AB:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[Y:.*]] = dgemm.scale_fragment %[[LOOP]]#0 cols(%[[AB]])
// CHECK: dgemm.stage %[[Y]]
dgemm.kernel @tensor_scales(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = tensor f32, scale_b = tensor f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_tensor
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %2 = dgemm.k_blocks : i32
      %c0_i32_1 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %3 = arith.muli %wg, %c64_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_2 = arith.constant 256 : i32
      %c127_i32 = arith.constant 127 : i32
      %4 = arith.addi %c256_i32_2, %c127_i32 : i32
      %c128_i32 = arith.constant 128 : i32
      %5 = arith.divui %4, %c128_i32 : i32
      %c1_i32_3 = arith.constant 1 : i32
      %6 = arith.subi %5, %c1_i32_3 : i32
      %7 = dgemm.zero : <64x128xf32>
      %8:3 = scf.for %kb = %c0_i32_0 to %2 step %c1_i32 iter_args(%sum = %7, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring_tensor
        %9 = dgemm.wgmma_undef : <64x128xf32>
        %10 = dgemm.mma %0[%slot] rows %3 cols 0 into %9 fresh {k_block = 0 : i32} : !ring_tensor, <64x128xf32>
        dgemm.release %0[%slot] : !ring_tensor
        %11 = dgemm.promote %sum, %10 : !dgemm.inflight<64x128xf32> -> <64x128xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_tensor
        scf.yield %11, %next_slot, %next_phase : !dgemm.fragment<64x128xf32>, i32, i32
      }
      dgemm.tile_store %8#0 at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>
      dgemm.next %8#1, %8#2 : i32, i32
    }
  }
}

// CHECK-LABEL: dgemm.kernel @accumulate
// CHECK-SAME: %[[C:[^:,]*]]: !llvm.ptr<1>, %[[LDC:[^:,]*]]: i64
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: %[[Y:.*]] = dgemm.add_global %[[DONE]], %[[C]]{{ ?}}[%{{.*}}, %{{.*}}] stride %[[LDC]] within{{ ?}}[%c256{{.*}}, %c256{{.*}}] bf16
// CHECK: dgemm.stage %[[Y]]
dgemm.kernel @accumulate(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %c: !llvm.ptr<1>,
                    %ldc: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16, accumulate>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_acc
  %c0_i32 = arith.constant 0 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %c0_i32_0 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %2 = dgemm.k_blocks : i32
      %c0_i32_1 = arith.constant 0 : i32
      %c64_i32 = arith.constant 64 : i32
      %3 = arith.muli %wg, %c64_i32 : i32
      %c256_i32 = arith.constant 256 : i32
      %c256_i32_2 = arith.constant 256 : i32
      %c63_i32 = arith.constant 63 : i32
      %4 = arith.addi %c256_i32_2, %c63_i32 : i32
      %c64_i32_3 = arith.constant 64 : i32
      %5 = arith.divui %4, %c64_i32_3 : i32
      %c1_i32_4 = arith.constant 1 : i32
      %6 = arith.subi %5, %c1_i32_4 : i32
      %7 = dgemm.zero : <64x128xf32>
      %handed = dgemm.wgmma_fence(%7 : !dgemm.fragment<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
      %8:4 = scf.for %kb = %c0_i32_0 to %2 step %c1_i32 iter_args(%sum = %handed, %slot = %s0, %phase = %p0, %last = %s0) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring_acc
        %10 = dgemm.mma %0[%slot] rows %3 cols 0 into %sum : !ring_acc, <64x128xf32>
        %c0_i32_6 = arith.constant 0 : i32
        %11 = arith.cmpi sgt, %kb, %c0_i32_6 : i32
        scf.if %11 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring_acc
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_acc
        scf.yield %10, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%8#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %c0_i32_5 = arith.constant 0 : i32
      %9 = arith.cmpi sgt, %2, %c0_i32_5 : i32
      scf.if %9 {
        dgemm.release %0[%8#3] : !ring_acc
      }
      dgemm.tile_store %resolved at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>
      dgemm.next %8#1, %8#2 : i32, i32
    }
  }
}
