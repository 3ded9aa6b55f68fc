// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Round trip of the kernel and machine types, in full and where the op's form
// leaves the mnemonic out.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!ring = !dgemm.ring<2 x [!dgemm.tile<64x64xbf16, swizzle = 128>, !dgemm.tile<8x64xbf16, swizzle = 128>]>

// CHECK-LABEL: func @fragment
// CHECK-SAME: !dgemm.fragment<64x8xf32>
// CHECK-SAME: !dgemm.fragment<256x512xf32>
func.func @fragment(%a: !dgemm.fragment<64x8xf32>, %b: !dgemm.fragment<256x512xf32>) { return }

// CHECK-LABEL: func @inflight
// CHECK-SAME: !dgemm.inflight<64x8xf32>
// CHECK-SAME: !dgemm.inflight<64x256xf32>
func.func @inflight(%a: !dgemm.inflight<64x8xf32>, %b: !dgemm.inflight<64x256xf32>) { return }

// A swizzle of 0 is not printed.
// CHECK-LABEL: func @tile
// CHECK-SAME: !dgemm.tile<1x128xf32>,
// CHECK-SAME: !dgemm.tile<1x128xf32>,
// CHECK-SAME: !dgemm.tile<8x32xi8, swizzle = 32>
// CHECK-SAME: !dgemm.tile<16x64xf8E5M2, swizzle = 64>
// CHECK-SAME: !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
func.func @tile(%a: !dgemm.tile<1x128xf32>, %b: !dgemm.tile<1x128xf32, swizzle = 0>, %c: !dgemm.tile<8x32xi8, swizzle = 32>,
                %d: !dgemm.tile<16x64xf8E5M2, swizzle = 64>, %e: !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>) { return }

// CHECK-LABEL: func @ring
// CHECK-SAME: !dgemm.ring<2 x{{ ?}}[!dgemm.tile<64x64xbf16, swizzle = 128>, !dgemm.tile<8x64xbf16, swizzle = 128>]>
func.func @ring(%a: !ring) { return }

// CHECK-LABEL: func @tensor_map
// CHECK-SAME: !dgemm.tensor_map
func.func @tensor_map(%a: !dgemm.tensor_map) { return }

// The op's form takes the type with and without its mnemonic.
// CHECK-LABEL: func @stripped
func.func @stripped() {
  // CHECK-COUNT-2: dgemm.zero : <64x88xf32>
  %0 = dgemm.zero : <64x88xf32>
  %1 = dgemm.zero : !dgemm.fragment<64x88xf32>
  return
}
