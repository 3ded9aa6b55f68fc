// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the column scales of a promotion may change; the hint of a copy.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @first_column(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{boundaries must be increasing multiples of 8 inside the 16 columns, found 0}}
  %y = dgemm.promote %x, %x cols(%s, %s) {boundaries = array<i32: 0>} : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @within_a_group(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{boundaries must be increasing multiples of 8 inside the 16 columns, found 4}}
  %y = dgemm.promote %x, %x cols(%s, %s) {boundaries = array<i32: 4>} : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @behind_the_last(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{boundaries must be increasing multiples of 8 inside the 16 columns, found 16}}
  %y = dgemm.promote %x, %x cols(%s, %s) {boundaries = array<i32: 16>} : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @not_increasing(%x: !dgemm.fragment<64x24xf32>, %s: f32) {
  // expected-error @+1 {{boundaries must be increasing multiples of 8 inside the 24 columns, found 8}}
  %y = dgemm.promote %x, %x cols(%s, %s, %s) {boundaries = array<i32: 8, 8>} : !dgemm.fragment<64x24xf32> -> !dgemm.fragment<64x24xf32>
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @load_hint(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{hint must be evict_first, evict_last or evict_normal, found evict_never}}
  dgemm.tma_load %map[%i, %i] to %ring[%i] member 0 {hint = "evict_never"} : !ring
  return
}
