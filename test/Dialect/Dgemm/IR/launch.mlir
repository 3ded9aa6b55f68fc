// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm.launch round trip.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s

func.func private @small()
func.func private @large()
gpu.module @kernels {
  gpu.func @nested() kernel { gpu.return }
}

// CHECK-LABEL: func @table
func.func @table(%a: tensor<?x7168xf8E4M3FN>, %b: tensor<4096x7168xf8E4M3FN>,
                 %sa: tensor<?x56xf32>, %sb: tensor<32x56xf32>, %c: tensor<?x4096xbf16>,
                 %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  // CHECK: %{{[^ ]*}} = dgemm.launch [M upto 64 : @small, _ : @large]
  // CHECK-SAME: ins(%{{[^ ,]*}}, %{{[^ ,]*}} : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
  // CHECK-SAME: scales(%{{[^ ,]*}}, %{{[^ ,]*}} : tensor<?x56xf32>, tensor<32x56xf32>)
  // CHECK-SAME: acc(%{{[^ ,]*}} : tensor<?x4096xbf16>)
  // CHECK-SAME: outs(%{{[^ ,]*}} : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  %r = dgemm.launch [M upto 64 : @small, _ : @large]
    ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
    scales(%sa, %sb : tensor<?x56xf32>, tensor<32x56xf32>)
    acc(%c : tensor<?x4096xbf16>)
    outs(%d : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %r : tensor<?x4096xbf16>
}

// CHECK-LABEL: func @one
func.func @one(%a: memref<64x64xbf16>, %sb: memref<f32>, %d: memref<64x64xbf16>) {
  // CHECK: dgemm.launch @large ins(%{{[^ ,]*}}, %{{[^ ,]*}} : memref<64x64xbf16>, memref<64x64xbf16>) outs(%{{[^ ,]*}} : memref<64x64xbf16>) {test.mark}
  dgemm.launch @large ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>) {test.mark}
  // CHECK: dgemm.launch @kernels::@nested ins({{.*}}) scales(_, %{{[^ ,]*}} : memref<f32>)
  dgemm.launch @kernels::@nested ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) scales(_, %sb : memref<f32>) outs(%d : memref<64x64xbf16>)
  return
}
