// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream-K: slot and phase travel from share to share, whatever K steps those
// have.
//
// RUN: dgemm-opt %s --dgemm-materialize-pipeline | FileCheck %s

!t = !dgemm.tile<128x64xbf16, swizzle = 128>

// CHECK-LABEL: dgemm.kernel @dealt
// CHECK: %[[T:.*]]:2 = dgemm.tiles (%[[M0:.*]], %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}, %{{.*}}) iter_args(%[[S0:.*]] = %{{.*}} : i32, %[[P0:.*]] = %{{.*}} : i32)
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[KB:.*]] = %[[FIRST]] to %[[END]] {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[S:.*]] = %[[S0]], %[[P:.*]] = %[[P0]])
// CHECK: %[[K:.*]] = arith.muli %[[KB]], %c64
// CHECK: dgemm.tma_load %{{.*}}{{ ?}}[%[[K]], %[[M0]]]
// CHECK: dgemm.next %[[LOOP]]#1, %[[LOOP]]#2
dgemm.kernel @dealt(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %w: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, split_k = 4 stream_k>, source = "user"} {
  dgemm.tiles (%m0, %n0) shares(%first, %end, %part, %parts, %place) {
    %0 = dgemm.zero : <128x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %1 = scf.for %kb = %first to %end step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %2 = dgemm.load "a" [%m0, %kb] : !t
      %3 = dgemm.load "b" [%n0, %kb] : !t
      %4 = dgemm.tile_mma %2, %3, %sum : !t, !t -> <128x128xf32>
      scf.yield %4 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %1 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}
