// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads become copies into a ring; slot and phase are carried by both loops. The
// producer's part stands before the consumer's, still in one loop.
//
// RUN: dgemm-opt %s --dgemm-materialize-pipeline | FileCheck %s
// RUN: dgemm-opt %s --dgemm-materialize-pipeline --dgemm-materialize-pipeline | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>
!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>

// CHECK-LABEL: dgemm.kernel @fp8
// CHECK-SAME: (%[[A:.*]]: !dgemm.tensor_map, %[[B:.*]]: !dgemm.tensor_map, %[[SA:.*]]: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map,
// CHECK-NEXT: %[[RING:.*]] = dgemm.ring consumers 2 : <4 x{{ ?}}[!dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<1x128xf32>]>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args(%[[S0:.*]] = %[[ZERO]] : i32, %[[P0:.*]] = %[[ZERO]] : i32)
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[KB:[^ ]*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %[[S0]], %[[PHASE:.*]] = %[[P0]])

// A fresh barrier counts as complete for phase 1: the producer starts there.
// CHECK: %[[FREE:.*]] = arith.xori %[[PHASE]], %c1
// CHECK-NEXT: dgemm.acquire %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[FREE]]
// CHECK-NEXT: dgemm.expect %[[RING]]{{ ?}}[%[[SLOT]]] bytes 33280
// CHECK: %[[K:.*]] = arith.muli %[[KB]], %c128
// CHECK-NEXT: dgemm.tma_load %[[A]]{{ ?}}[%[[K]], %[[M0]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 0
// CHECK: %[[K:.*]] = arith.muli %[[KB]], %c128
// CHECK-NEXT: dgemm.tma_load %[[B]]{{ ?}}[%[[K]], %[[N0]]] to %[[RING]]{{ ?}}[%[[SLOT]]] member 1
// A's scales: M is contiguous, and one row of them belongs to a K block.
// CHECK: dgemm.tma_load %[[SA]]{{ ?}}[%[[M0]], %{{.*}}] to %[[RING]]{{ ?}}[%[[SLOT]]] member 2

// CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]]
// CHECK-NEXT: %[[TA:.*]] = dgemm.slot %[[RING]]{{ ?}}[%[[SLOT]]] member 0
// CHECK-NEXT: %[[TB:.*]] = dgemm.slot %[[RING]]{{ ?}}[%[[SLOT]]] member 1
// CHECK-NEXT: %[[TS:.*]] = dgemm.slot %[[RING]]{{ ?}}[%[[SLOT]]] member 2
// CHECK-NEXT: %[[P:.*]] = dgemm.tile_mma %[[TA]], %[[TB]] :
// CHECK-NEXT: %[[Y:.*]] = dgemm.tile_promote %[[SUM]], %[[P]] {{.*}} row_scales %[[TS]]
// CHECK-NEXT: dgemm.release %[[RING]]{{ ?}}[%[[SLOT]]] :
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]] :
// CHECK-NEXT: scf.yield %[[Y]], %[[NS]], %[[NP]]
// CHECK: dgemm.next %[[LOOP]]#1, %[[LOOP]]#2
dgemm.kernel @fp8(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %5 = dgemm.load "scale_a" [%m0, %kb] : <1x128xf32>
      %6 = dgemm.tile_mma %3, %4 : !a8, !a8 -> <128x128xf32>
      %7 = dgemm.tile_promote %sum, %6 at [%m0, %n0, %kb] row_scales %5 : !dgemm.tile<1x128xf32> : <128x128xf32>
      scf.yield %7 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}

// CHECK-LABEL: dgemm.kernel @bf16
// CHECK-NEXT: dgemm.ring consumers 2 : <4 x{{ ?}}[!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>
// CHECK: dgemm.expect %{{.*}} bytes 32768
// CHECK: arith.muli %{{.*}}, %c64
// CHECK-NOT: member 2
dgemm.kernel @bf16(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
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
}

// In ping-pong a slot has one reader: the warpgroup whose tile it feeds.
// CHECK-LABEL: dgemm.kernel @pingpong
// CHECK-NEXT: dgemm.ring consumers 1 :
// CHECK: dgemm.expect %{{.*}} bytes 24576
dgemm.kernel @pingpong(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 64x128x64, consumers = 2 pingpong>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <64x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<64x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <64x64xbf16, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x64xbf16, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : <64x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128> -> <64x128xf32>
      scf.yield %5 : !dgemm.fragment<64x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<64x128xf32>
    dgemm.next
  }
}

// CHECK-LABEL: dgemm.kernel @nothing_to_load
// CHECK-NOT: dgemm.ring
dgemm.kernel @nothing_to_load(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    dgemm.next
  }
}

// The last tile along a dynamic M, or along an N that is no multiple of the tile,
// has fewer rows than the slot: those are copied through a map of their own.
// CHECK-LABEL: dgemm.kernel @last_rows
// CHECK-SAME: (%[[A:.*]]: !dgemm.tensor_map, %[[B:.*]]: !dgemm.tensor_map, %[[LAST_A:.*]]: !dgemm.tensor_map, %[[LAST_B:.*]]: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map, %[[M:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32)
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: %[[LEFT_A:.*]] = arith.subi %[[M]], %[[M0]]
// CHECK: %[[IS_A:.*]] = arith.cmpi slt, %[[LEFT_A]], %c128_i32
// CHECK: %[[ABSENT:.*]] = arith.subi %c128_i32{{.*}}, %[[LEFT_A]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[ABSENT]], %c128_i32
// CHECK: %[[MISSING_A:.*]] = arith.select %[[IS_A]], %[[BYTES]], %c0
// CHECK: %[[LEFT_B:.*]] = arith.subi %c200_i32, %[[N0]]
// CHECK: %[[IS_B:.*]] = arith.cmpi slt, %[[LEFT_B]],
// CHECK: %[[MISSING_B:.*]] = arith.select %[[IS_B]],
// CHECK: scf.for
// CHECK: %[[MISSING:.*]] = arith.addi %[[MISSING_A]], %[[MISSING_B]]
// CHECK: dgemm.expect %{{.*}} bytes 32768 missing %[[MISSING]]
// CHECK: dgemm.tma_load %[[A]]{{.*}} member 0 last %[[LAST_A]] if %[[IS_A]]
// CHECK: dgemm.tma_load %[[B]]{{.*}} member 1 last %[[LAST_B]] if %[[IS_B]]
dgemm.kernel @last_rows(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_a: !dgemm.tensor_map, %last_b: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, ?x200x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
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
}
