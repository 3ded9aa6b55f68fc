// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-select-schedule decides where nothing is decided, keeps what is, and
// touches nothing else.
//
// RUN: dgemm-opt %s --dgemm-select-schedule | FileCheck %s
// RUN: dgemm-opt %s --dgemm-select-schedule --dgemm-select-schedule | FileCheck %s
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(func.func(dgemm-select-schedule))" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-select-schedule="device=h20" | FileCheck %s

// CHECK-LABEL: func @static
func.func @static(%a: tensor<4096x7168xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  // CHECK: dgemm.matmul nt
  // CHECK-SAME: {schedule = #dgemm.schedule<tile = {{.*}}>, source = "model"}
  %r = dgemm.matmul nt ins(%a, %a : tensor<4096x7168xbf16>, tensor<4096x7168xbf16>) outs(%d : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}

// CHECK-LABEL: func @run_time_m
func.func @run_time_m(%a: memref<?x7168xbf16>, %b: memref<2112x7168xbf16>, %d: memref<?x2112xbf16>) {
  // CHECK: dgemm.matmul nt
  // CHECK-SAME: {schedule = #dgemm.{{schedule|dispatch}}<{{.*}}>, source = "model"}
  dgemm.matmul nt ins(%a, %b : memref<?x7168xbf16>, memref<2112x7168xbf16>) outs(%d : memref<?x2112xbf16>)
  return
}

// CHECK-LABEL: func @everything_dynamic
func.func @everything_dynamic(%a: memref<?x?xbf16>, %d: memref<?x?xf32>) {
  // CHECK: source = "model"
  dgemm.matmul nt ins(%a, %a : memref<?x?xbf16>, memref<?x?xbf16>) outs(%d : memref<?x?xf32>)
  return
}

// CHECK-LABEL: func @empty
func.func @empty(%a: memref<0x0xbf16>, %d: memref<0x0xf32>) {
  // CHECK: source = "model"
  dgemm.matmul nt ins(%a, %a : memref<0x0xbf16>, memref<0x0xbf16>) outs(%d : memref<0x0xf32>)
  return
}

// CHECK-LABEL: func @fp8
func.func @fp8(%a: tensor<4096x7168xf8E4M3FN>, %b: tensor<2048x7168xf8E4M3FN>, %sa: tensor<4096x56xf32>,
               %sb: tensor<16x56xf32>, %d: tensor<4096x2048xbf16>) {
  // CHECK: promote = 128
  // CHECK-SAME: source = "model"
  %r = dgemm.matmul nt ins(%a, %b : tensor<4096x7168xf8E4M3FN>, tensor<2048x7168xf8E4M3FN>)
    scales(%sa by 1x128, %sb by 128x128 : tensor<4096x56xf32>, tensor<16x56xf32>)
    outs(%d : tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  return
}

// CHECK-LABEL: func @decided
func.func @decided(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64>, source = "tuned"}
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x64x64>, source = "tuned"}
  // A schedule without a source has none afterwards either.
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64>}
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x64x64>}
  return
}

// CHECK-LABEL: func @unrelated
func.func @unrelated(%x: f32) -> f32 {
  // CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} : f32
  // CHECK-NEXT: return
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
