// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels are named after their function as far as PTX takes the name.
//
// RUN: dgemm-opt %s --dgemm-create-kernel | FileCheck %s

// CHECK-LABEL: func @"layer.0::proj"
// CHECK: dgemm.launch @layer_0__proj_kernel ins(
func.func @"layer.0::proj"(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}
  return
}

// CHECK-LABEL: func @"2nd"
// CHECK: dgemm.launch @gemm_2nd_kernel ins(
func.func @"2nd"(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}
  return
}

// Outside any function.
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: dgemm.launch @gemm_kernel ins(%[[A]],
%a = memref.alloc() : memref<256x256xbf16>
%d = memref.alloc() : memref<256x256xbf16>
dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}

// CHECK: dgemm.kernel @layer_0__proj_kernel(
// CHECK: dgemm.kernel @gemm_2nd_kernel(
// CHECK: dgemm.kernel @gemm_kernel(
