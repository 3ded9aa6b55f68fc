// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// kblocks_per_stage = 2: a slot holds two K blocks, brought by one copy of a
// map with three dimensions; each block has its product and its promotion, with
// the scale of its own K block.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s

// CHECK-LABEL: dgemm.kernel @blocks_kernel
// CHECK: dgemm.role producer
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: scf.for %[[STEP:[^ ]*]] =
// 2 x (64 + 64) rows of 128 bytes and 2 x 64 scales.
// CHECK: dgemm.expect %{{.*}} bytes 33280
// CHECK: %[[KB:.*]] = arith.muli %[[STEP]], %c2
// CHECK: dgemm.tma_load %{{.*}}[%c0{{.*}}, %[[M0]], %[[KB]]] to %{{.*}} member 0
// CHECK: dgemm.tma_load %{{.*}}[%c0{{.*}}, %[[N0]], %[[KB]]] to %{{.*}} member 1
// CHECK: dgemm.tma_load %{{.*}}[%[[M0]], %[[KB]]] to %{{.*}} member 2
// CHECK: dgemm.role consumer
// CHECK: %[[HELD:.*]] = scf.if
// CHECK: dgemm.col_scale {{.*}} lanes 32 to %c3
// CHECK: scf.for %[[STEP:[^ ]*]] = {{.*}} iter_args(%[[SUM:[^ ]*]] = %{{[^ ]*}}, %[[SLOT:[^ ]*]] = %{{[^ ]*}}, %[[PHASE:[^ ]*]] = %{{[^ ]*}}, %[[SEEN:[^ ]*]] = %false
// CHECK-NEXT: %[[L0:.*]] = arith.muli %[[STEP]], %c2
// CHECK-NEXT: %[[B0:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%[[L0]]] of 32
// CHECK-NEXT: %[[L1:.*]] = arith.addi %[[L0]], %c1
// CHECK-NEXT: %[[B1:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%[[L1]]] of 32
// CHECK-NEXT: dgemm.wait {{.*}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] :
// CHECK: dgemm.mma {{.*}} fresh {k_block = 0 : i32}
// CHECK: %[[U0:.*]], %[[D0:.*]] = dgemm.row_scales
// CHECK: %[[U1:.*]], %[[D1:.*]] = dgemm.row_scales {{.*}} {k_block = 1 : i32}
// CHECK: %[[R0:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK-NEXT: %[[Y0:.*]] = dgemm.promote %[[SUM]], %[[R0]] rows{{ ?}}(%[[U0]], %[[D0]]) cols{{ ?}}(%[[B0]])
// CHECK-NEXT: %{{.*}}, %[[PINNED:.*]] = dgemm.wgmma_fence{{ ?}}(%[[R0]] : {{.*}} pin{{ ?}}(%[[Y0]]
// CHECK-NEXT: dgemm.mma {{.*}} fresh {k_block = 1 : i32}
// The slot is free after the last product only.
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK-NEXT: %[[R1:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK-NEXT: dgemm.release {{.*}}[%[[SLOT]]] :
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance {{.*}}, %[[SLOT]], %[[PHASE]] :
// CHECK-NEXT: %[[SEES:.*]] = dgemm.peek {{.*}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: %[[Y1:.*]] = dgemm.promote %[[PINNED]], %[[R1]] rows{{ ?}}(%[[U1]], %[[D1]]) cols{{ ?}}(%[[B1]])
// CHECK-NEXT: scf.yield %[[Y1]], %[[NS]], %[[NP]], %[[SEES]] :
// CHECK-NOT: dgemm.release
func.func @blocks(%a: memref<256x512xf8E4M3FN>, %b: memref<256x512xf8E4M3FN>, %sa: memref<4x256xf32>, %sb: memref<2x4xf32>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x512xf8E4M3FN>, memref<256x512xf8E4M3FN>) scales(%sa by 1x128 mn_major, %sb by 128x128 : memref<4x256xf32>, memref<2x4xf32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 64x64x128, consumers = 1 cooperative, regs = [0, 0], kblocks_per_stage = 2, promote = 128>, source = "user"}
  return
}

// Overlapped: both products are issued before the first is promoted.
// CHECK-LABEL: dgemm.kernel @overlapped_kernel
// CHECK: dgemm.role consumer
// CHECK: dgemm.wait
// CHECK: %[[P0:.*]] = dgemm.mma {{.*}} fresh {k_block = 0 : i32}
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK: %[[P1:.*]] = dgemm.mma {{.*}} fresh {k_block = 1 : i32}
// CHECK-NEXT: dgemm.wgmma_commit
// CHECK: %[[R0:.*]] = dgemm.wgmma_wait 1 resolve{{ ?}}(%[[P0]] :
// CHECK-NEXT: %[[Y0:.*]] = dgemm.promote %{{.*}}, %[[R0]]
// CHECK-NEXT: %[[R1:.*]], %[[PINNED:.*]] = dgemm.wgmma_wait 0 resolve{{ ?}}(%[[P1]] : {{.*}} pin{{ ?}}(%[[Y0]]
// CHECK-NEXT: dgemm.release
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance
// CHECK-NEXT: dgemm.peek {{.*}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: dgemm.promote %[[PINNED]], %[[R1]]
func.func @overlapped(%a: memref<256x512xf8E4M3FN>, %b: memref<256x512xf8E4M3FN>, %sa: memref<4x256xf32>, %sb: memref<2x4xf32>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x512xf8E4M3FN>, memref<256x512xf8E4M3FN>) scales(%sa by 1x128 mn_major, %sb by 128x128 : memref<4x256xf32>, memref<2x4xf32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 64x64x128, consumers = 1 cooperative, n_blocks = 1 overlapped, regs = [0, 0], kblocks_per_stage = 2, promote = 128>, source = "user"}
  return
}
