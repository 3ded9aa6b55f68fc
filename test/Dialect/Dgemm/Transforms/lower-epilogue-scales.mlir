// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One scale for each row of A and of B: where they are read, and what a value is
// multiplied by.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue | FileCheck %s
// RUN: dgemm-opt %s --dgemm-lower-epilogue --dgemm-lower-epilogue | FileCheck %s

// Read while the last products run.
// CHECK-LABEL: dgemm.kernel @both
// CHECK-SAME: %[[SA:[^:,]*]]: !llvm.ptr<1>, %[[LDA:[^:,]*]]: i64, %[[SB:[^:,]*]]: !llvm.ptr<1>, %[[LDB:[^:,]*]]: i64
// CHECK: dgemm.tiles{{ ?}}(%[[M0:.*]], %[[N0:.*]]) {
// CHECK: %[[FLYING:.*]] = dgemm.wgmma_undef
// CHECK: %[[MLIMIT:.*]] = arith.constant 200 : i32
// CHECK: %[[NLIMIT:.*]] = arith.constant 256 : i32
// CHECK: %[[BELOW:.*]] = arith.muli
// CHECK: %[[ROW:.*]] = arith.addi %[[M0]], %[[BELOW]]
// CHECK: %[[BLOCK:.*]] = arith.addi %[[ROW]], %c0
// CHECK: %[[COL:.*]] = arith.addi %[[N0]], %c0
// CHECK: %[[UPPER:.*]], %[[LOWER:.*]] = dgemm.global_row_scales %[[SA]]{{ ?}}[%[[BLOCK]], %c0{{.*}}] strides{{ ?}}[%[[LDA]], %c0{{.*}}] limit %[[MLIMIT]]
// CHECK: %[[C:[^:]*]]:4 = dgemm.global_column_scales %[[SB]]{{ ?}}[%[[COL]], %c0{{.*}}] strides{{ ?}}[%[[LDB]], %c0{{.*}}] limit %[[NLIMIT]]
// CHECK-NEXT: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve(%[[FLYING]]
// CHECK-NEXT: %[[Y:.*]] = dgemm.scale_fragment %[[DONE]] rows(%[[UPPER]], %[[LOWER]]) cols(%[[C]]#0, %[[C]]#1, %[[C]]#2, %[[C]]#3)
// CHECK: dgemm.stage %[[Y]]
dgemm.kernel @both(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_a: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 200x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = row f32, scale_b = row f32, fast_accumulate>, schedule = #dgemm.schedule<tile = 128x16x128, swizzle = [128, 128, 32]>, source = "user"} {
  dgemm.role consumer registers 232 (%wg) {
    dgemm.tiles (%m0, %n0) {
      %0 = dgemm.wgmma_undef : <64x16xf32>
      %1 = dgemm.wgmma_wait 0 resolve(%0 : !dgemm.inflight<64x16xf32>) -> (!dgemm.fragment<64x16xf32>)
      dgemm.tile_store %1 at [%m0, %n0] of %wg : !dgemm.fragment<64x16xf32>
      dgemm.next
    }
  }
}

// Without registers for them beside the accumulators, only when needed.
// CHECK-LABEL: dgemm.kernel @late
// CHECK: dgemm.wgmma_wait 0 resolve
// CHECK: dgemm.global_row_scales
// CHECK: dgemm.global_column_scales
// CHECK: dgemm.scale_fragment
dgemm.kernel @late(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_a: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 200x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = row f32, scale_b = row f32, fast_accumulate>, schedule = #dgemm.schedule<tile = 128x16x128, swizzle = [128, 128, 32], regs = [24, 32]>, source = "user"} {
  dgemm.role consumer registers 32 (%wg) {
    dgemm.tiles (%m0, %n0) {
      %0 = dgemm.wgmma_undef : <64x16xf32>
      %1 = dgemm.wgmma_wait 0 resolve(%0 : !dgemm.inflight<64x16xf32>) -> (!dgemm.fragment<64x16xf32>)
      dgemm.tile_store %1 at [%m0, %n0] of %wg : !dgemm.fragment<64x16xf32>
      dgemm.next
    }
  }
}

// One scale for all of B, and M-major scales of A, which lie side by side.
// CHECK-LABEL: dgemm.kernel @rows_only
// CHECK-SAME: %[[SA:[^:,]*]]: !llvm.ptr<1>, %{{[^:,]*}}: i64, %[[SB:[^:,]*]]: !llvm.ptr<1>
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: %[[UPPER:.*]], %[[LOWER:.*]] = dgemm.global_row_scales %[[SA]]{{.*}} strides{{ ?}}[%[[ONE]], %c0
// CHECK: %[[B:.*]] = llvm.load %[[SB]] : !llvm.ptr<1> -> f32
// CHECK: dgemm.scale_fragment %{{.*}} rows(%[[UPPER]], %[[LOWER]]) cols(%[[B]])
dgemm.kernel @rows_only(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_a: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 200x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = row f32 mn_major, scale_b = tensor f32, fast_accumulate>, schedule = #dgemm.schedule<tile = 128x16x128, swizzle = [128, 128, 32]>, source = "user"} {
  dgemm.role consumer registers 232 (%wg) {
    dgemm.tiles (%m0, %n0) {
      %0 = dgemm.wgmma_undef : <64x16xf32>
      %1 = dgemm.wgmma_wait 0 resolve(%0 : !dgemm.inflight<64x16xf32>) -> (!dgemm.fragment<64x16xf32>)
      dgemm.tile_store %1 at [%m0, %n0] of %wg : !dgemm.fragment<64x16xf32>
      dgemm.next
    }
  }
}

// Swapped, the rows are those of B and the columns those of A; with one scale
// for all of B the columns' scales take it in.
// CHECK-LABEL: dgemm.kernel @swapped
// CHECK-SAME: !llvm.ptr<1>, %{{[^:,]*}}: i64, %[[SA:[^:,]*]]: !llvm.ptr<1>, %[[LDA:[^:,]*]]: i64, %[[SB:[^:,]*]]: !llvm.ptr<1>
// CHECK: dgemm.tiles{{ ?}}(%[[M0:.*]], %{{.*}}) {
// CHECK: %[[COL:.*]] = arith.addi %[[M0]], %c0
// CHECK: %[[B:.*]] = llvm.load %[[SB]] : !llvm.ptr<1> -> f32
// CHECK: %[[C:[^:]*]]:2 = dgemm.global_column_scales %[[SA]]{{ ?}}[%[[COL]], %c0{{.*}}] strides{{ ?}}[%[[LDA]],
// CHECK: %[[C0:.*]] = arith.mulf %[[B]], %[[C]]#0
// CHECK: %[[C1:.*]] = arith.mulf %[[B]], %[[C]]#1
// CHECK: %[[Y:.*]] = dgemm.scale_fragment %{{.*}} cols(%[[C0]], %[[C1]])
// CHECK: dgemm.store_global %[[Y]], {{.*}} transposed
dgemm.kernel @swapped(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !llvm.ptr<1>, %ldd: i64,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 8x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = row f32, scale_b = tensor f32, fast_accumulate>, schedule = #dgemm.schedule<tile = 8x64x128, consumers = 1 cooperative, regs = [0, 0], form = swap_ab, store = vector, persistent = false>, source = "user"} {
  dgemm.role consumer registers 0 (%wg) {
    dgemm.tiles (%m0, %n0) {
      %0 = dgemm.wgmma_undef : <64x8xf32>
      %1 = dgemm.wgmma_wait 0 resolve(%0 : !dgemm.inflight<64x8xf32>) -> (!dgemm.fragment<64x8xf32>)
      dgemm.tile_store %1 at [%m0, %n0] of %wg : !dgemm.fragment<64x8xf32>
      dgemm.next
    }
  }
}
