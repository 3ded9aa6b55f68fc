// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the ops on the ring and on partial products.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @slot_member(%ring: !ring, %i: i32) {
  // expected-error @+1 {{member 2 of a ring with 2 members}}
  %x = dgemm.slot %ring[%i] member 2 : !ring -> !t
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @slot_negative(%ring: !ring, %i: i32) {
  // expected-error @+1 {{member 4294967295 of a ring with 2 members}}
  %x = dgemm.slot %ring[%i] member -1 : !ring -> !t
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @slot_type(%ring: !ring, %i: i32) {
  // expected-error @+1 {{member 1 is '!dgemm.tile<64x64xbf16, swizzle = 128>', not '!dgemm.tile<64x64xbf16>'}}
  %x = dgemm.slot %ring[%i] member 1 : !ring -> !dgemm.tile<64x64xbf16>
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @load_coordinates(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected 1 to 5 coordinates, found 0}}
  dgemm.tma_load %map[] to %ring[%i] member 0 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @load_coordinates(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected 1 to 5 coordinates, found 6}}
  dgemm.tma_load %map[%i, %i, %i, %i, %i, %i] to %ring[%i] member 0 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @load_member(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{member 3 of a ring with 2 members}}
  dgemm.tma_load %map[%i, %i] to %ring[%i] member 3 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @mma_columns(%ring: !ring, %i: i32, %x: !dgemm.inflight<64x40xf32>) {
  // expected-error @+1 {{columns 32 to 71 of a B tile with 64 rows}}
  %y = dgemm.mma %ring[%i] rows %i cols 32 into %x : !ring, !dgemm.inflight<64x40xf32>
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @mma_misaligned(%ring: !ring, %i: i32, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{columns 4 to 11 of a B tile with 64 rows}}
  %y = dgemm.mma %ring[%i] rows %i cols 4 into %x : !ring, !dgemm.inflight<64x8xf32>
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @mma_third_half(%ring: !ring, %i: i32, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{half must be 0 or 1, found 2}}
  %y = dgemm.mma %ring[%i] rows %i cols 0 into %x {half = 2 : i32} : !ring, !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @promote_struct(%x: !dgemm.fragment<64x8xf32>, %p: !llvm.struct<(f32, f32, f32, f32)>) {
  // expected-error @+1 {{the partial product must be a fragment or in flight, found '!llvm.struct<(f32, f32, f32, f32)>'}}
  %y = dgemm.promote %x, %p : !llvm.struct<(f32, f32, f32, f32)> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @promote_columns(%x: !dgemm.fragment<64x8xf32>, %p: !dgemm.inflight<64x16xf32>) {
  // expected-error @+1 {{expected a partial product of the shape of '!dgemm.fragment<64x8xf32>', found '!dgemm.inflight<64x16xf32>'}}
  %y = dgemm.promote %x, %p : !dgemm.inflight<64x16xf32> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @promote_rows(%x: !dgemm.fragment<64x8xf32>, %p: !dgemm.fragment<128x8xf32>) {
  // expected-error @+1 {{expected a partial product of the shape of '!dgemm.fragment<64x8xf32>', found '!dgemm.fragment<128x8xf32>'}}
  %y = dgemm.promote %x, %p : !dgemm.fragment<128x8xf32> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @one_row_scale(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{expected an upper and a lower row scale, found 1}}
  %y = dgemm.promote %x, %x rows(%s) : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @missing_boundary(%x: !dgemm.fragment<64x16xf32>, %s: f32) {
  // expected-error @+1 {{expected 1 boundaries for 2 column scales, found 0}}
  %y = dgemm.promote %x, %x cols(%s, %s) : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}

// -----

func.func @boundary_without_scales(%x: !dgemm.fragment<64x16xf32>) {
  // expected-error @+1 {{expected 0 boundaries for 0 column scales, found 1}}
  %y = dgemm.promote %x, %x {boundaries = array<i32: 8>} : !dgemm.fragment<64x16xf32> -> !dgemm.fragment<64x16xf32>
  return
}
