// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch follows its kernels into their module; a module without kernels and
// the ops around are left alone. Its gpu.module is used when there is one.
//
// RUN: dgemm-opt %s --split-input-file --convert-dgemm-to-nvvm | FileCheck %s

// CHECK-LABEL: func @gemm
// CHECK-NEXT: dgemm.launch @dgemm_kernels::@kernel ins(
// CHECK: gpu.module @dgemm_kernels
// CHECK: llvm.func @kernel(
func.func @gemm(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.launch @kernel ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
  return
}
dgemm.kernel @kernel(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>,
                smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768
                  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>, source = "user"} {}

// -----

// CHECK-LABEL: func @host
// CHECK-NEXT: arith.addi
// CHECK-NOT: gpu.module
func.func @host(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
// CHECK: llvm.func @other()
llvm.func @other()
