// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Each accumulating product becomes a fresh product of one K block and its
// promotion. Row scales come with the tiles where M is contiguous in the scale
// matrix, else the promotion reads them from memory.
//
// RUN: dgemm-opt %s --dgemm-insert-scaling | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-scaling --dgemm-insert-scaling | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>

// CHECK-LABEL: dgemm.kernel @row_scales_by_tma
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) {
// CHECK: scf.for %[[KB:[^ ]*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK-NEXT: %[[A:.*]] = dgemm.load "a"
// CHECK-NEXT: %[[B:.*]] = dgemm.load "b"
// CHECK-NEXT: %[[S:.*]] = dgemm.load "scale_a"{{ ?}}[%[[M0]], %[[KB]]] : <1x128xf32>
// CHECK-NEXT: %[[P:.*]] = dgemm.tile_mma %[[A]], %[[B]] :
// CHECK-NEXT: %[[Y:.*]] = dgemm.tile_promote %[[SUM]], %[[P]] at{{ ?}}[%[[M0]], %[[N0]], %[[KB]]] row_scales %[[S]]
// CHECK-NEXT: scf.yield %[[Y]]
dgemm.kernel @row_scales_by_tma(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map,
                    %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a8, !a8 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}

// CHECK-LABEL: dgemm.kernel @row_scales_from_memory
// CHECK-NOT: "scale_a"
// CHECK: %[[P:.*]] = dgemm.tile_mma %{{.*}}, %{{.*}} :
// CHECK-NEXT: dgemm.tile_promote %{{.*}}, %[[P]] at{{ ?}}[%{{.*}}] : <128x128xf32>
dgemm.kernel @row_scales_from_memory(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a8, !a8 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}

// One scale for each operand waits for the epilogue; the promotion only adds.
// CHECK-LABEL: dgemm.kernel @tensor_scales
// CHECK-NOT: "scale_a"
// CHECK: %[[P:.*]] = dgemm.tile_mma %{{.*}}, %{{.*}} :
// CHECK-NEXT: dgemm.tile_promote %{{.*}}, %[[P]] at{{ ?}}[%{{.*}}] : <128x128xf32>
dgemm.kernel @tensor_scales(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = tensor f32, scale_b = tensor f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %0 = dgemm.zero : <128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %1 = dgemm.k_blocks : i32
    %2 = scf.for %kb = %c0_i32 to %1 step %c1_i32 iter_args(%sum = %0) -> (!dgemm.fragment<128x128xf32>) : i32 {
      %3 = dgemm.load "a" [%m0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %4 = dgemm.load "b" [%n0, %kb] : <128x128xf8E4M3FN, swizzle = 128>
      %5 = dgemm.tile_mma %3, %4, %sum : !a8, !a8 -> <128x128xf32>
      scf.yield %5 : !dgemm.fragment<128x128xf32>
    }
    dgemm.tile_store %2 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
    dgemm.next
  }
}
