// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Scales and the matrix that is added go away when the fault stays without.
//
// RUN: dgemm-reduce %s --reduction-tree="traversal-mode=0 test=%S/Inputs/has-matmul.sh" | FileCheck %s

// CHECK: dgemm.matmul nt ins(%{{[^ ,]*}}, %{{[^ ,]*}} : memref<64x128xf8E4M3FN>, memref<64x128xf8E4M3FN>) outs(
func.func @f(%a: memref<64x128xf8E4M3FN>, %sa: memref<64x1xf32>, %sb: memref<1x1xf32>, %c: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<64x128xf8E4M3FN>, memref<64x128xf8E4M3FN>)
    scales(%sa by 1x128, %sb by 128x128 : memref<64x1xf32>, memref<1x1xf32>)
    acc(%c : memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}
