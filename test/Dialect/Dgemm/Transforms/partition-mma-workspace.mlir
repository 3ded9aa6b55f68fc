// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// K split through the workspace: a tile's parts meet there, and only who comes
// last stores.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: dgemm.kernel @split
// CHECK-SAME: !llvm.ptr<1>, %{{[^:,]*}}: i64, %[[WORKSPACE:[^:,]*]]: !llvm.ptr<1>
// CHECK: dgemm.role consumer registers 232{{ ?}}(%[[WG:.*]]) {
// CHECK: dgemm.tiles{{ ?}}(%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// The slot goes back before the others are waited for.
// CHECK: dgemm.release
// CHECK: %[[PART:.*]] = dgemm.split_part : i32
// The parts of a tile are neighbours.
// CHECK: %[[ROW:.*]] = arith.divui %[[M0]], %c128
// CHECK: %[[COLUMN:.*]] = arith.divui %[[N0]], %c128
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROW]], %
// CHECK: %[[TILE:.*]] = arith.addi %[[BEFORE]], %[[COLUMN]]
// CHECK: %[[PLACE:.*]] = arith.muli %[[TILE]], %[[PARTS:c3.*]] :
// CHECK-NEXT: %[[SUM:.*]], %[[LAST:.*]] = dgemm.workspace_reduce %[[DONE]] of %[[WG]] part %[[PART]] of %[[PARTS]] at %[[PLACE]] through %[[WORKSPACE]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NEXT: dgemm.tile_store %[[SUM]] at{{ ?}}[%[[M0]], %[[N0]]] of %[[WG]]
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.next
dgemm.kernel @split(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !llvm.ptr<1>, %ldd: i64, %workspace: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 128x256x2048, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, split_k = 3 workspace, store = vector, persistent = false>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4 = dgemm.split_part : i32
      %5 = arith.minui %4, %3 : i32
      %6:3 = scf.for %kb = %5 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %7 = dgemm.slot %0[%slot] member 0 : !ring -> <128x64xbf16, swizzle = 128>
        %8 = dgemm.slot %0[%slot] member 1 : !ring -> <128x64xbf16, swizzle = 128>
        %9 = dgemm.tile_mma %7, %8, %sum : <128x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128> -> <128x128xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %6#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %6#1, %6#2 : i32, i32
    }
  }
}

// Stream-K: which part this is, and where the first one lies, comes from the
// tile loop.
// CHECK-LABEL: dgemm.kernel @dealt
// CHECK-SAME: !dgemm.tensor_map, %[[WORKSPACE:[^:,]*]]: !llvm.ptr<1>
// CHECK: dgemm.role consumer registers 232{{ ?}}(%[[WG:.*]]) {
// CHECK: dgemm.tiles{{ ?}}(%[[M0:.*]], %[[N0:.*]]) shares(%[[FIRST:.*]], %[[END:.*]], %[[PART:.*]], %[[PARTS:.*]], %[[PLACE:.*]]) iter_args
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: %[[SUM:.*]], %[[LAST:.*]] = dgemm.workspace_reduce %[[DONE]] of %[[WG]] part %[[PART]] of %[[PARTS]] at %[[PLACE]] through %[[WORKSPACE]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NEXT: dgemm.tile_store %[[SUM]] at{{ ?}}[%[[M0]], %[[N0]]] of %[[WG]]
dgemm.kernel @dealt(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %workspace: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 128x256x2048, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, split_k = 3 stream_k>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) shares(%first, %end, %part, %parts, %place) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3:3 = scf.for %kb = %first to %end step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %4 = dgemm.slot %0[%slot] member 0 : !ring -> <128x64xbf16, swizzle = 128>
        %5 = dgemm.slot %0[%slot] member 1 : !ring -> <128x64xbf16, swizzle = 128>
        %6 = dgemm.tile_mma %4, %5, %sum : <128x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128> -> <128x128xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %6, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %3#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %3#1, %3#2 : i32, i32
    }
  }
}
