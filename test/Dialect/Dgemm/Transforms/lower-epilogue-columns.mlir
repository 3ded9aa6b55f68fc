// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes where they do not divide the tile, and tiles that end inside D's last 16
// bytes: those are stored from registers, each row and column checked.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue | FileCheck %s
// RUN: dgemm-opt %s --dgemm-lower-epilogue --dgemm-lower-epilogue | FileCheck %s

!ring_ragged = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>
!ring_res9 = !dgemm.ring<4 x [!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<176x128xf8E4M3FN, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @ragged
// CHECK-SAME: %[[MAP:[^:,(]*]]: !dgemm.tensor_map, %[[D:[^:,]*]]: !llvm.ptr<1>, %[[LDD:[^:,]*]]: i64, %{{[^:,]*}}: i32, %[[N:[^:,]*]]: i32
// CHECK: dgemm.tiles (%{{.*}}, %[[N0:.*]]) iter_args
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: %[[REST:.*]] = arith.remui %[[N]], %c8
// CHECK: %[[RAGGED:.*]] = arith.cmpi ne, %[[REST]], %c0
// CHECK: %[[END:.*]] = arith.addi %[[N0]], %c128
// CHECK-NEXT: %[[BEYOND:.*]] = arith.cmpi sgt, %[[END]], %[[N]]
// CHECK-NEXT: %[[CHECKED:.*]] = arith.andi %[[RAGGED]], %[[BEYOND]]
// CHECK-NEXT: scf.if %[[CHECKED]] {
// CHECK-NEXT: dgemm.store_global %[[DONE]], %[[D]]{{ ?}}[%{{.*}}, %{{.*}}] stride %[[LDD]] within{{ ?}}[%c256{{.*}}, %[[N]]] bf16
// CHECK-NEXT: } else {
// CHECK: dgemm.warpgroup_barrier
// CHECK: dgemm.tma_store %[[MAP]]
// CHECK: dgemm.store_commit
dgemm.kernel @ragged(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %dptr: !llvm.ptr<1>,
                    %ldd: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x?x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_ragged
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
        dgemm.wait %0[%slot] parity %phase : !ring_ragged
        %10 = dgemm.mma %0[%slot] rows %3 cols 0 into %sum : !ring_ragged, <64x128xf32>
        %c0_i32_6 = arith.constant 0 : i32
        %11 = arith.cmpi sgt, %kb, %c0_i32_6 : i32
        scf.if %11 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring_ragged
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_ragged
        scf.yield %10, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%8#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %c0_i32_5 = arith.constant 0 : i32
      %9 = arith.cmpi sgt, %2, %c0_i32_5 : i32
      scf.if %9 {
        dgemm.release %0[%8#3] : !ring_ragged
      }
      dgemm.tile_store %resolved at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>
      dgemm.next %8#1, %8#2 : i32, i32
    }
  }
}

// 176 columns: two boxes of 64 and a last one from column 112 on, which repeats
// what its neighbour holds. Columns 64 to 127 come from both n-blocks.
// CHECK-LABEL: dgemm.kernel @last_box_overlaps
// CHECK: dgemm.tiles (%{{.*}}, %[[N0:.*]]) iter_args
// CHECK: dgemm.stage %[[X:.*]] cols 0 width 64 to %{{.*}} box 64 at 0 offset 0
// CHECK-NEXT: dgemm.stage %[[X]] cols 64 width 24 to %{{.*}} box 64 at 0 offset 8192
// CHECK-NEXT: dgemm.stage %[[Y:.*]] cols 0 width 40 to %{{.*}} box 64 at 24 offset 8192
// CHECK-NEXT: dgemm.stage %[[Y]] cols 24 width 64 to %{{.*}} box 64 at 0 offset 16384
// CHECK: %[[LAST:.*]] = arith.addi %[[N0]], %c112
// CHECK-NEXT: dgemm.tma_store %{{.*}}[%[[LAST]], %{{.*}}] from %{{.*}} offset 16384
dgemm.kernel @last_box_overlaps(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x352x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = tensor f32, scale_b = tensor f32>, schedule = #dgemm.schedule<tile = 128x176x128, n_blocks = 2, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_res9
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
      %7 = dgemm.zero : <64x88xf32>
      %8 = dgemm.zero : <64x88xf32>
      %9:4 = scf.for %kb = %c0_i32_0 to %2 step %c1_i32 iter_args(%sum0 = %7, %sum1 = %8, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring_res9
        %10 = dgemm.wgmma_undef : <64x88xf32>
        %11 = dgemm.mma %0[%slot] rows %3 cols 0 into %10 fresh {k_block = 0 : i32} : !ring_res9, <64x88xf32>
        %12 = dgemm.promote %sum0, %11 : !dgemm.inflight<64x88xf32> -> <64x88xf32>
        %13 = dgemm.wgmma_undef : <64x88xf32>
        %14 = dgemm.mma %0[%slot] rows %3 cols 88 into %13 fresh {k_block = 0 : i32} : !ring_res9, <64x88xf32>
        dgemm.release %0[%slot] : !ring_res9
        %15 = dgemm.promote %sum1, %14 : !dgemm.inflight<64x88xf32> -> <64x88xf32>
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_res9
        scf.yield %12, %15, %next_slot, %next_phase : !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>, i32, i32
      }
      dgemm.tile_store %9#0, %9#1 at [%m0, %n0] of %wg : !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>
      dgemm.next %9#2, %9#3 : i32, i32
    }
  }
}
