// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tile coordinates: divisions stand in front of the loop over tiles, where
// they happen once; with one row of tiles there is nothing to divide.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=nvvm" | FileCheck %s

// The number of K steps is hidden, so that nobody unrolls the loop.
// CHECK-LABEL: llvm.func @grid_kernel
// CHECK: %[[STEPS:.*]] = nvvm.shfl.sync idx %{{.*}}, %c4_i32, %c0_i32
// CHECK: nvvm.setmaxregister decrease
// CHECK-NOT: arith.{{divui|remui}}
// Reciprocals of a group's tiles, of its rows, and of the last group's: a step
// of Newton from what the hardware estimates.
// CHECK: %[[PER_GROUP:.*]] = arith.maxui
// CHECK: %[[REAL:.*]] = arith.uitofp %[[PER_GROUP]] : i32 to f32
// CHECK: %[[RCP:.*]] = nvvm.rcp.approx.ftz.f %[[REAL]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[RCP]]
// CHECK: %[[FIRST:.*]] = arith.fptoui %[[SCALED]] : f32 to i32
// CHECK: %[[ALL:.*]] = arith.muli %[[FIRST]], %[[PER_GROUP]]
// CHECK: %[[MISSING:.*]] = arith.subi %c0_i32, %[[ALL]]
// CHECK: %{{.*}}, %[[MORE:.*]] = arith.mului_extended %[[FIRST]], %[[MISSING]]
// CHECK: %[[BY_GROUP:.*]] = arith.addi %[[FIRST]], %[[MORE]]
// CHECK: arith.uitofp %[[GROUP:.*]] : i32 to f32
// CHECK: arith.mului_extended
// CHECK: %[[INVERSE:.*]] = arith.addi
// CHECK: arith.mului_extended %[[INVERSE]], %c8_i32
// CHECK: %[[LAST:.*]] = arith.maxui %{{.*}}, %c1_i32
// CHECK: arith.uitofp %[[LAST]] : i32 to f32
// CHECK: arith.mului_extended
// CHECK: %[[LAST_INVERSE:.*]] = arith.addi
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %c64_i32
// CHECK-NOT: arith.{{divui|remui}}
// CHECK: arith.mului_extended %[[TILE]], %[[BY_GROUP]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi ult
// CHECK: %[[D:.*]] = arith.select %[[WHOLE]], %[[GROUP]], %[[LAST]]
// CHECK: %[[R:.*]] = arith.select %[[WHOLE]], %[[INVERSE]], %[[LAST_INVERSE]]
// CHECK: %{{.*}}, %[[Q:.*]] = arith.mului_extended %{{.*}}, %[[R]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[Q]], %[[D]]
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[STEPS]]
// CHECK-NOT: arith.{{divui|remui}}
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
func.func @grid(%a: memref<1000x256xbf16>, %b: memref<1024x256xbf16>, %d: memref<1000x1024xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<1000x256xbf16>, memref<1024x256xbf16>) outs(%d : memref<1000x1024xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}

// CHECK-LABEL: llvm.func @row_kernel
// CHECK-NOT: arith.{{divui|remui|mului_extended}}
// CHECK: llvm.return
func.func @row(%a: memref<100x256xbf16>, %b: memref<1024x256xbf16>, %d: memref<100x1024xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<100x256xbf16>, memref<1024x256xbf16>) outs(%d : memref<100x1024xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}
