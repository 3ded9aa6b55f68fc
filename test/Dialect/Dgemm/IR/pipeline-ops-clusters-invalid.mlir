// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of multicast copies and of where tile numbers come from.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @ring() {
  // expected-error @+1 {{expected at least one consumer and one CTA, found 2 and 0}}
  %ring = dgemm.ring consumers 2 ctas 0 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @nobody() {
  // expected-error @+1 {{expected at least one consumer and one CTA, found 0 and 1}}
  %ring = dgemm.ring consumers 0 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @which(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected a part of 2}}
  "dgemm.tma_load"(%map, %i, %ring, %i) <{member = 0 : i32, parts = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (!dgemm.tensor_map, i32, !ring, i32) -> ()
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @one(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected 2 or more parts of whole groups of 8 rows, found 1 of 64 rows}}
  dgemm.tma_load %map[%i] to %ring[%i] member 0 part %i of 1 : !ring
  return
}

// -----

!t = !dgemm.tile<24x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @broken(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected 2 or more parts of whole groups of 8 rows, found 2 of 24 rows}}
  dgemm.tma_load %map[%i] to %ring[%i] member 0 part %i of 2 : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @last_part(%map: !dgemm.tensor_map, %ring: !ring, %i: i32, %c: i1) {
  // expected-error @+1 {{only a whole tile of A or B (members 0 and 1) has a map for its last rows, found a part of a tile}}
  dgemm.tma_load %map[%i] to %ring[%i] member 0 part %i of 2 last %map if %c : !ring
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t]>
func.func @last_always(%map: !dgemm.tensor_map, %ring: !ring, %i: i32) {
  // expected-error @+1 {{expected a map for the last rows and when to use it, or neither}}
  "dgemm.tma_load"(%map, %i, %ring, %i, %map) <{member = 0 : i32, parts = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>}> : (!dgemm.tensor_map, i32, !ring, i32, !dgemm.tensor_map) -> ()
  return
}

// -----

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<2 x [!t, !t, !dgemm.tile<1x64xf32>]>
func.func @last_scales(%map: !dgemm.tensor_map, %ring: !ring, %i: i32, %c: i1) {
  // expected-error @+1 {{only a whole tile of A or B (members 0 and 1) has a map for its last rows, found member 2}}
  dgemm.tma_load %map[%i] to %ring[%i] member 2 last %map if %c : !ring
  return
}

// -----

func.func @numbers() {
  // expected-error @+1 {{numbers must be fetch or receive, found guess}}
  dgemm.tiles (%m0, %n0) attributes {numbers = "guess"} {
    dgemm.next
  }
  return
}
