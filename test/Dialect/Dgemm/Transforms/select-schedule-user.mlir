// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The option `schedule` goes to every matmul that has none, and to no other.
//
// RUN: dgemm-opt %s --dgemm-select-schedule="schedule='tile = 128x64x64, stages = 5'" | FileCheck %s
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(dgemm-select-schedule{schedule={tile = 128x64x64, stages = 5}})" | FileCheck %s

// CHECK-LABEL: func @undecided
func.func @undecided(%a: memref<512x512xbf16>, %b: memref<?x512xbf16>, %d: memref<?x512xbf16>, %e: memref<512x512xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "user"}
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%e : memref<512x512xbf16>)
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "user"}
  dgemm.matmul nt ins(%b, %a : memref<?x512xbf16>, memref<512x512xbf16>) outs(%d : memref<?x512xbf16>)
  return
}

// CHECK-LABEL: func @decided
func.func @decided(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x128x64>, source = "model"}
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "model"}
  return
}
