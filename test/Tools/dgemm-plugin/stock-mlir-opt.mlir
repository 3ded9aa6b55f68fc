// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The distribution's own mlir-opt reads our dialect and runs our passes once
// the plugin is loaded, and knows neither without it.
//
// RUN: not %llvm_tools/mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: %llvm_tools/mlir-opt --load-dialect-plugin=%dgemm_libs/DgemmPlugin.so --load-pass-plugin=%dgemm_libs/DgemmPlugin.so --pass-pipeline="builtin.module(dgemm-verify-target,dgemm-select-schedule,canonicalize)" %s | FileCheck %s
// RUN: %llvm_tools/mlir-opt --load-dialect-plugin=%dgemm_libs/DgemmPlugin.so %s --emit-bytecode | dgemm-opt | FileCheck %s --check-prefix=BYTECODE

// WITHOUT: error: {{.*}}dgemm
// CHECK: module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80>}
// CHECK: dgemm.matmul nt
// CHECK-SAME: source = "model"
// BYTECODE: dgemm.matmul nt
func.func @f(%a: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %r = dgemm.matmul nt ins(%a, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}
