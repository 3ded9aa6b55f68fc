// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream-K: both roles walk over the same shares of tiles.
//
// RUN: dgemm-opt %s --dgemm-specialize-warps | FileCheck %s
// RUN: dgemm-opt %s --dgemm-specialize-warps --dgemm-specialize-warps | FileCheck %s

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>

// CHECK-LABEL: dgemm.kernel @dealt
// CHECK: dgemm.role producer
// CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}, %{{.*}}) iter_args
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: dgemm.role consumer
// CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}, %{{.*}}) iter_args
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
dgemm.kernel @dealt(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %w: !llvm.ptr<1>, %m: i32, %n: i32,
                      %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, split_k = 4 stream_k>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %1:2 = dgemm.tiles (%m0, %n0) shares(%first, %end, %part, %parts, %place) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
    %2 = dgemm.zero : <128x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %4:3 = scf.for %kb = %first to %end step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
      dgemm.acquire %0[%slot] parity %phase : !ring
      dgemm.expect %0[%slot] bytes 32768 : !ring
      dgemm.tma_load %a[%kb, %m0] to %0[%slot] member 0 : !ring
      dgemm.tma_load %b[%kb, %n0] to %0[%slot] member 1 : !ring
      dgemm.wait %0[%slot] parity %phase : !ring
      %5 = dgemm.slot %0[%slot] member 0 : !ring -> !t
      %6 = dgemm.slot %0[%slot] member 1 : !ring -> !t
      %7 = dgemm.tile_mma %5, %6, %sum : !t, !t -> <128x128xf32>
      dgemm.release %0[%slot] : !ring
      %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
      scf.yield %7, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
    }
    dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next %4#1, %4#2 : i32, i32
  }
}
