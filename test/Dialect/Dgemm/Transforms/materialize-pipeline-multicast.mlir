// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A multicast tile is copied in parts: each CTA brings the rows of its own, and
// the bytes it waits for are those of all parts.
//
// RUN: dgemm-opt %s --dgemm-materialize-pipeline | FileCheck %s
// RUN: dgemm-opt %s --dgemm-materialize-pipeline --dgemm-materialize-pipeline | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>

// B among four CTAs along M: the number within the cluster's column.
// CHECK-LABEL: dgemm.kernel @share_b
// CHECK-SAME: (%[[A:.*]]: !dgemm.tensor_map, %[[B:.*]]: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map,
// CHECK: %[[RING:.*]] = dgemm.ring consumers 2 ctas 4 :
// CHECK: %[[RANK:.*]] = dgemm.cluster_rank : i32
// CHECK: %[[PART:.*]] = arith.remui %[[RANK]], %c4
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: dgemm.expect %[[RING]]{{ ?}}[%[[SLOT:.*]]] bytes 32768
// CHECK: dgemm.tma_load %[[A]]{{ ?}}[%{{.*}}, %[[M0]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 0 :
// CHECK: %[[SKIPPED:.*]] = arith.muli %[[PART]], %c32
// CHECK: %[[ROW:.*]] = arith.addi %[[N0]], %[[SKIPPED]]
// CHECK: dgemm.tma_load %[[B]]{{ ?}}[%{{.*}}, %[[ROW]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 1 part %[[PART]] of 4 :
dgemm.kernel @share_b(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                      %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, cluster = 4x1 multicast b>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x64xbf16, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x64xbf16, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a16, !a16 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
  dgemm.cluster_sync
}

// A among two CTAs along N: the number of the cluster's column. In ping-pong
// one warpgroup reads a slot, in each of the two.
// CHECK-LABEL: dgemm.kernel @share_a
// CHECK-SAME: (%[[A:.*]]: !dgemm.tensor_map, %[[B:.*]]: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map,
// CHECK: %[[RING:.*]] = dgemm.ring consumers 1 ctas 2 :
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c1
// CHECK: dgemm.tma_load %[[A]]{{.*}} member 0 part %[[PART]] of 2 :
// CHECK: dgemm.tma_load %[[B]]{{.*}} member 1 :
dgemm.kernel @share_a(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                      %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, consumers = 2 pingpong, cluster = 1x2 multicast a>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x64xbf16, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x64xbf16, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a16, !a16 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
  dgemm.cluster_sync
}
