// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// store = vector: from registers, for every tile.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue | FileCheck %s
// RUN: dgemm-opt %s --dgemm-lower-epilogue --dgemm-lower-epilogue | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @from_registers
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: dgemm.store_global %[[DONE]], {{.*}} f32
// CHECK-NOT: dgemm.{{stage|store_wait|tma_store|warpgroup_barrier}}
dgemm.kernel @from_registers(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %dptr: !llvm.ptr<1>, %ldd: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = f32>, schedule = #dgemm.schedule<tile = 128x128x64, store = vector>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
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
        dgemm.wait %0[%slot] parity %phase : !ring
        %10 = dgemm.mma %0[%slot] rows %3 cols 0 into %sum : !ring, <64x128xf32>
        %c0_i32_6 = arith.constant 0 : i32
        %11 = arith.cmpi sgt, %kb, %c0_i32_6 : i32
        scf.if %11 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %10, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%8#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %c0_i32_5 = arith.constant 0 : i32
      %9 = arith.cmpi sgt, %2, %c0_i32_5 : i32
      scf.if %9 {
        dgemm.release %0[%8#3] : !ring
      }
      dgemm.tile_store %resolved at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>
      dgemm.next %8#1, %8#2 : i32, i32
    }
  }
}
