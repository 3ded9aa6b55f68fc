// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of the swap-AB form and of clusters.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

!ring = !dgemm.ring<3 x [!dgemm.tile<16x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>
func.func @columns(%ring: !ring, %i: i32, %x: !dgemm.inflight<64x24xf32>) {
  // expected-error @+1 {{columns 0 to 23 of an A tile with 16 rows}}
  %y = dgemm.mma %ring[%i] rows %i cols 0 into %x {swapped} : !ring, !dgemm.inflight<64x24xf32>
  return
}

// -----

!ring = !dgemm.ring<3 x [!dgemm.tile<16x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>
func.func @member(%ring: !ring, %i: i32) {
  // expected-error @+1 {{member 2 of a ring with 2 members}}
  %s:2 = dgemm.column_scales %ring[%i] member 2 cols 0 k_block 0 : !ring -> f32, f32
  return
}

// -----

!ring = !dgemm.ring<3 x [!dgemm.tile<16x128xf8E4M3FN, swizzle = 128>, !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>]>
func.func @odd(%ring: !ring, %i: i32) {
  // expected-error @+1 {{expected two scales for every 8 columns, found 1}}
  %s = dgemm.column_scales %ring[%i] member 1 cols 0 k_block 0 : !ring -> f32
  return
}

// -----

func.func @odd_global(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{expected two scales for every 8 columns, found 3}}
  %s:3 = dgemm.global_column_scales %base[%i, %i] strides [%l, %l] limit %i : !llvm.ptr<1> -> f32, f32, f32
  return
}

// -----

func.func @each_column(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{expected 4 scales, two for every 8 columns, found 2}}
  %y = dgemm.promote %x, %x cols(%s, %s) each_column : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @each_column_boundaries(%x: !dgemm.fragment<64x8xf32>, %s: f32) {
  // expected-error @+1 {{scales of each column have no boundaries}}
  %y = dgemm.promote %x, %x cols(%s, %s) each_column {boundaries = array<i32: 8>} : !dgemm.fragment<64x8xf32> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @reduce_parts(%x: !dgemm.fragment<64x8xf32>, %wg: i32) {
  // expected-error @+1 {{expected at least 2 parts, found 1}}
  %y = dgemm.cluster_reduce %x of %wg parts 1 : !dgemm.fragment<64x8xf32> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @reduce_types(%x: !dgemm.fragment<64x8xf32>, %wg: i32) {
  // expected-error @+1 {{results must have the operands' types}}
  %y = dgemm.cluster_reduce %x of %wg parts 2 : !dgemm.fragment<64x8xf32> -> !dgemm.fragment<64x16xf32>
  return
}
