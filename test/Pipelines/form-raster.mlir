// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The raster along N: across a group of columns first. A cluster takes blocks of
// tiles, and a group holds whole blocks.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s

// 3 x 5 tiles: what divides is columns, and the row comes last.
// CHECK-LABEL: llvm.func @along_n_kernel
// CHECK-SAME: %[[G:[^:, ]*]]: i32) attributes
// CHECK: %[[PER:.*]] = arith.muli %[[G]], %c3_i32
// CHECK: arith.maxui %[[PER]], %c1_i32
// CHECK: arith.uitofp %[[G]] : i32 to f32
// CHECK: arith.mului_extended %{{.*}}, %c5_i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %c15_i32
// CHECK: %{{.*}}, %[[OUTER:.*]] = arith.mului_extended
// CHECK: %{{.*}}, %{{.*}} = arith.mului_extended
// CHECK: %[[QUOTIENT:.*]] = arith.select
// CHECK: %[[REST:.*]] = arith.select
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[REST]]
// CHECK: arith.muli %[[QUOTIENT]], %c128_i32
// CHECK: arith.muli %[[COLUMN]], %c64_i32
func.func @along_n(%a: memref<384x256xbf16>, %b: memref<320x256xbf16>, %d: memref<384x320xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<384x256xbf16>, memref<320x256xbf16>) outs(%d : memref<384x320xbf16>)
    {schedule = #dgemm.schedule<tile = 128x64x64, raster = along_n group 2>, source = "user"}
  return
}

// One column of tiles: a tile's number is its row.
// CHECK-LABEL: llvm.func @one_column_kernel
// CHECK-NOT: arith.mului_extended
// CHECK: llvm.return
func.func @one_column(%a: memref<384x256xbf16>, %b: memref<64x256xbf16>, %d: memref<384x64xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<384x256xbf16>, memref<64x256xbf16>) outs(%d : memref<384x64xbf16>)
    {schedule = #dgemm.schedule<tile = 128x64x64, raster = along_n group 2>, source = "user"}
  return
}

// 2 x 5 blocks of two tiles, half as many in a group and at least one.
// CHECK-LABEL: llvm.func @blocks_kernel
// CHECK-SAME: %[[G:[^:, ]*]]: i32) attributes
// CHECK: %[[ROW:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: %[[HALF:.*]] = arith.divui %[[G]], %c2_i32
// CHECK: %[[SIZE:.*]] = arith.maxui %[[HALF]], %c1_i32
// CHECK: arith.muli %[[SIZE]], %c5_i32
// CHECK: arith.uitofp %[[SIZE]] : i32 to f32
// CHECK: arith.mului_extended %{{.*}}, %c2_i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %c10_i32
// CHECK: arith.muli %{{.*}}, %c256_i32
// CHECK: arith.muli %[[ROW]], %c128_i32
func.func @blocks(%a: memref<384x256xbf16>, %b: memref<640x256xbf16>, %d: memref<384x640xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<384x256xbf16>, memref<640x256xbf16>) outs(%d : memref<384x640xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, cluster = 2x1, raster = along_m group 2>, source = "user"}
  return
}
