// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A function that holds a matmul can be inlined, epilogue included.
//
// RUN: dgemm-opt %s --inline | FileCheck %s

func.func private @gemm(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
    epilogue (%acc: f32) {
      %0 = arith.addf %acc, %acc : f32
      dgemm.yield %0 : f32
    }
  return
}

// CHECK-LABEL: func @caller
// CHECK-NOT: call
// CHECK: dgemm.matmul nt
// CHECK: dgemm.yield
func.func @caller(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  call @gemm(%a, %d) : (memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
