// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-reduce drops what a matmul can be without: here everything but the
// matmul itself, which the tester asks for.
//
// RUN: dgemm-reduce %s --reduction-tree="traversal-mode=0 test=%S/Inputs/has-matmul.sh" | FileCheck %s

// CHECK: dgemm.matmul nt
// CHECK-NOT: schedule
// CHECK-NOT: epilogue
func.func @f(%a: tensor<64x64xbf16>, %x: tensor<64xf32>, %d: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %r = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) epilogue_ins(%x : tensor<64xf32>)
    outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16> {schedule = #dgemm.schedule<tile = 128x64x64>, source = "user"}
    epilogue (%acc: f32, %y: f32) {
      %0 = arith.addf %acc, %y : f32
      dgemm.yield %0 : f32
    }
  return %r : tensor<64x64xbf16>
}
