// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// form = swap_ab: rows of B are WGMMA's rows, so that few rows of A fill a
// whole product. Each thread scales its own columns, and D is stored turned.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @swapped_kernel
// CHECK: dgemm.ring consumers 2 : <4 x{{ ?}}[!dgemm.tile<16x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>
// CHECK: dgemm.role consumer registers 232 (%[[WG:.*]]) {
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// Warpgroup w has 64 rows of B, which lie within one scale block.
// CHECK: %[[BELOW:.*]] = arith.muli %[[WG]], %c64
// CHECK: %[[ROW:.*]] = arith.addi %[[N0]], %[[BELOW]]
// CHECK: %[[GROUP:.*]] = arith.divui %[[ROW]], %c128
// CHECK: %[[HELD:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: dgemm.col_scale %{{.*}}[%[[GROUP]], %{{.*}}] {{.*}} lanes 32 to %c3
// A column is not one of four neighbours': A's scales are read one step ahead and
// carried by the loop.
// CHECK: %[[FIRST:.*]]:4 = scf.if
// CHECK: dgemm.global_column_scales
// CHECK: scf.for %[[KB:[^ ]*]] = {{.*}} iter_args(%[[SUM:[^ ]*]] = %{{[^ ]*}}, %[[SLOT:[^ ]*]] = %{{[^ ]*}}, %[[PHASE:[^ ]*]] = %{{[^ ]*}}, %[[SEEN:[^ ]*]] = %false{{[^ ]*}}, %[[A0:[^ ]*]] = %[[FIRST]]#0, %[[A1:[^ ]*]] = %[[FIRST]]#1, %[[A2:[^ ]*]] = %[[FIRST]]#2, %[[A3:[^ ]*]] = %[[FIRST]]#3)
// CHECK-NEXT: %[[B:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%[[KB]]] of 32
// CHECK-NEXT: %[[BEYOND:.*]] = arith.addi %[[KB]], %c1
// CHECK-NEXT: %[[NEXT:.*]] = arith.minui %[[BEYOND]], %c3
// CHECK-NEXT: %[[AHEAD:.*]]:4 = dgemm.global_column_scales %{{.*}}[%[[M0]], %[[NEXT]]] {{.*}} -> f32, f32, f32, f32
// CHECK-NEXT: dgemm.wait {{.*}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] :
// CHECK: %[[P:.*]] = dgemm.mma {{.*}} rows %[[BELOW]] cols 0 into %{{.*}} fresh {{.*}}swapped{{.*}} <64x16xf32>
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %[[R:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[P]]
// CHECK-NEXT: dgemm.release
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance
// CHECK-NEXT: %[[SEES:.*]] = dgemm.peek {{.*}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: %[[Y:.*]] = dgemm.promote %[[SUM]], %[[R]] rows{{ ?}}(%[[B]], %[[B]]) cols{{ ?}}(%[[A0]], %[[A1]], %[[A2]], %[[A3]]) each_column
// CHECK-NEXT: scf.yield %[[Y]], %[[NS]], %[[NP]], %[[SEES]], %[[AHEAD]]#0, %[[AHEAD]]#1, %[[AHEAD]]#2, %[[AHEAD]]#3 :
// CHECK: dgemm.store_global %{{.*}}, %{{.*}}[%[[ROW]], %[[M0]]] {{.*}} transposed

// NVVM-LABEL: llvm.func @swapped_kernel
// NVVM: dgemm.wgmma %{{.*}} {a_type = f8E4M3FN, b_type = f8E4M3FN, k = 32 : i32, n = 16 : i32, scale_d = "zero"}
func.func @swapped(%a: memref<?x512xf8E4M3FN>, %b: memref<256x512xf8E4M3FN>, %sa: memref<?x4xf32>, %sb: memref<2x4xf32>, %d: memref<?x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x512xf8E4M3FN>, memref<256x512xf8E4M3FN>) scales(%sa by 1x128, %sb by 128x128 : memref<?x4xf32>, memref<2x4xf32>)
    outs(%d : memref<?x256xbf16>) {schedule = #dgemm.schedule<tile = 16x128x128, consumers = 2 cooperative, promote = 128, form = swap_ab, store = vector>, source = "user"}
  return
}
