// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// load_rows: copies bring so many rows of A, which hold all of M. The slot keeps
// the size of the tile, and its K blocks lie as close as the copies put them.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @few_kernel
// CHECK: !dgemm.tile<64x128xbf16, swizzle = 128>
// 2 x (16 + 32) rows of 128 bytes.
// CHECK: dgemm.expect {{.*}} bytes 12288

// NVVM-LABEL: llvm.func @few_kernel
// NVVM-SAME: box\22: [\0A            64,\0A            16,\0A            2\0A
// The second K block of A lies 16 rows behind the first, that of B 32.
// NVVM: arith.addi %{{.*}}, %c128_i64
// NVVM-NEXT: arith.addi %{{.*}}, %c256_i64
func.func @few(%a: memref<13x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<13x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<13x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<13x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x32x64, consumers = 1 cooperative, regs = [0, 0], kblocks_per_stage = 2, swizzle = [128, 128, 64], load_rows = 16>, source = "user"}
  return
}
