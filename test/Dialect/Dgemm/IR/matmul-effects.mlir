// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What generic passes may do with a matmul: one on tensors whose result nobody
// uses goes away, one that writes a memref stays; two that are equal become
// one on tensors only.
//
// RUN: dgemm-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @unused_tensor
// CHECK-NEXT: return
func.func @unused_tensor(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// CHECK-LABEL: func @equal_tensors
// CHECK: %[[R:.*]] = dgemm.matmul
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @equal_tensors(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0, %1 : tensor<64x64xbf16>, tensor<64x64xbf16>
}

// CHECK-LABEL: func @memref
// CHECK: dgemm.matmul
// CHECK: dgemm.matmul
func.func @memref(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  dgemm.matmul nt ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// A constant of the epilogue stays inside: the region captures nothing.
// CHECK-LABEL: func @constant
// CHECK-NEXT: dgemm.matmul
// CHECK: arith.constant
func.func @constant(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %r = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32) {
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %acc, %two : f32
      dgemm.yield %y : f32
    }
  return %r : tensor<64x64xbf16>
}
