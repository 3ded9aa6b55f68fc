// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Upstream's bufferization turns a matmul on tensors into one on memrefs.
//
// RUN: dgemm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s

// D is written in place: its old content is not read, and nothing is copied.
// CHECK-LABEL: func @in_place
// CHECK-SAME: (%[[A:.*]]: memref<64x128xbf16>, %[[B:.*]]: memref<32x128xbf16>, %[[X:.*]]: memref<32xf32>, %[[D:.*]]: memref<64x32xbf16>)
func.func @in_place(%a: tensor<64x128xbf16>, %b: tensor<32x128xbf16>, %x: tensor<32xf32>,
                    %d: tensor<64x32xbf16> {bufferization.writable = true}) -> tensor<64x32xbf16> {
  // CHECK-NEXT: dgemm.matmul nt ins(%[[A]], %[[B]] : memref<64x128xbf16>, memref<32x128xbf16>)
  // CHECK-SAME: epilogue_ins(%[[X]] : memref<32xf32>) outs(%[[D]] : memref<64x32xbf16>)
  // CHECK-SAME: {schedule = #dgemm.schedule<tile = 128x64x64>, source = "user"}
  // CHECK-SAME: epilogue (%[[ACC:.*]]: f32, %[[E:.*]]: f32)
  // CHECK-NEXT: arith.addf %[[ACC]], %[[E]]
  %r = dgemm.matmul nt ins(%a, %b : tensor<64x128xbf16>, tensor<32x128xbf16>) epilogue_ins(%x : tensor<32xf32>)
    outs(%d : tensor<64x32xbf16>) -> tensor<64x32xbf16>
    {schedule = #dgemm.schedule<tile = 128x64x64>, source = "user"}
    epilogue (%acc: f32, %e: f32) {
      %0 = arith.addf %acc, %e : f32
      dgemm.yield %0 : f32
    }
  // CHECK: return %[[D]]
  return %r : tensor<64x32xbf16>
}

// -----

// D is read later as it was, so the result goes elsewhere; nothing is copied,
// for the matmul fills all of it.
// CHECK-LABEL: func @read_later
// CHECK-SAME: (%[[A:.*]]: memref<64x64xbf16>, %[[D:.*]]: memref<64x64xbf16>)
func.func @read_later(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  // CHECK: %[[NEW:.*]] = memref.alloc()
  // CHECK-NOT: memref.copy
  // CHECK: dgemm.matmul nt ins(%[[A]], %[[A]] : memref<64x64xbf16>, memref<64x64xbf16>) acc(%[[D]] : memref<64x64xbf16>) outs(%[[NEW]] : memref<64x64xbf16>)
  %r = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) acc(%d : tensor<64x64xbf16>)
    outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  // CHECK: return %[[NEW]], %[[D]]
  return %r, %d : tensor<64x64xbf16>, tensor<64x64xbf16>
}

// -----

func.func private @kernel()
// CHECK-LABEL: func @launch
// CHECK-SAME: (%[[A:.*]]: memref<64x64xbf16>, %[[D:.*]]: memref<64x64xbf16>)
func.func @launch(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16> {bufferization.writable = true}) -> tensor<64x64xbf16> {
  // CHECK-NEXT: dgemm.launch @kernel ins(%[[A]], %[[A]] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%[[D]] : memref<64x64xbf16>)
  // CHECK-NEXT: return %[[D]]
  %r = dgemm.launch @kernel ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %r : tensor<64x64xbf16>
}
