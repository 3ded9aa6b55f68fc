// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Without promotion in the schedule, and in bf16, the sum stays in the product.
//
// RUN: dgemm-opt %s --dgemm-insert-scaling | FileCheck %s
// RUN: dgemm-opt %s --dgemm-insert-scaling --dgemm-insert-scaling | FileCheck %s

!a16 = !dgemm.tile<128x64xbf16, swizzle = 128>
!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>

// CHECK-LABEL: dgemm.kernel @no_promotion
// CHECK: iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = dgemm.tile_mma %{{.*}}, %{{.*}}, %[[SUM]] :
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK-NOT: dgemm.tile_promote
dgemm.kernel @no_promotion(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32,
                    %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = tensor f32, scale_b = tensor f32>, schedule = #dgemm.schedule<tile = 128x128x128>, source = "user"} {
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

// CHECK-LABEL: dgemm.kernel @bf16
// CHECK-NOT: dgemm.tile_promote
// CHECK: dgemm.tile_mma %{{.*}}, %{{.*}}, %{{.*}} :
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

// No product at all, and one outside the K loop, which has no block number.
// CHECK-LABEL: dgemm.kernel @odd
// CHECK: dgemm.tile_mma %{{.*}}, %{{.*}}, %{{.*}} :
dgemm.kernel @empty(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {}
dgemm.kernel @odd(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                    %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %zero = dgemm.zero : <128x128xf32>
  %t = dgemm.load "a" [%m, %k] : <128x128xf8E4M3FN, swizzle = 128>
  %y = dgemm.tile_mma %t, %t, %zero : <128x128xf8E4M3FN, swizzle = 128>, <128x128xf8E4M3FN, swizzle = 128> -> <128x128xf32>
}
