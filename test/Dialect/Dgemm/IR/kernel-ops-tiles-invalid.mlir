// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the tile loop and of the ops on whole tiles.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @arguments(%x: i32) {
  // expected-error @+1 {{the body takes row, column and 1 carried values, found 2 arguments}}
  %r = "dgemm.tiles"(%x) <{lanes = 1 : i32, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%m0: i32, %n0: i32):
    dgemm.next %m0 : i32
  }) : (i32) -> i32
  return
}

// -----

func.func @share() {
  // expected-error @+1 {{the body takes row, column, 5 numbers of its share and 0 carried values, found 2 arguments}}
  "dgemm.tiles"() <{lanes = 1 : i32, operandSegmentSizes = array<i32: 0, 0>, shares}> ({
  ^bb0(%m0: i32, %n0: i32):
    dgemm.next
  }) : () -> ()
  return
}

// -----

func.func @share_type() {
  // expected-error @+1 {{row and column and the share must be i32}}
  "dgemm.tiles"() <{lanes = 1 : i32, operandSegmentSizes = array<i32: 0, 0>, shares}> ({
  ^bb0(%m0: i32, %n0: i32, %0: i32, %1: i32, %2: i32, %3: i32, %4: i64):
    dgemm.next
  }) : () -> ()
  return
}

// -----

func.func @share_count() {
  // expected-error @+1 {{expected 5 arguments, found 1}}
  dgemm.tiles (%m0, %n0) shares(%first) {
    dgemm.next
  }
  return
}

// -----

func.func @share_queued() {
  // expected-error @+1 {{shares follow from the CTA's number alone: expected neither numbers nor a lane}}
  dgemm.tiles (%m0, %n0) shares(%0, %1, %2, %3, %4) attributes {numbers = "fetch"} {
    dgemm.next
  }
  return
}

// -----

func.func @coordinates() {
  // expected-error @+1 {{row and column must be i32}}
  "dgemm.tiles"() <{lanes = 1 : i32, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%m0: i32, %n0: i64):
    dgemm.next
  }) : () -> ()
  return
}

// -----

func.func @carried(%x: i32) {
  // expected-error @+1 {{iter_args, body arguments and results must have the same types}}
  %r = "dgemm.tiles"(%x) <{lanes = 1 : i32, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%m0: i32, %n0: i32, %s: i64):
    dgemm.next %x : i32
  }) : (i32) -> i32
  return
}

// -----

func.func @results(%x: i32) {
  // expected-error @+1 {{iter_args, body arguments and results must have the same types}}
  "dgemm.tiles"(%x) <{lanes = 1 : i32, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%m0: i32, %n0: i32, %s: i32):
    dgemm.next %x : i32
  }) : (i32) -> ()
  return
}

// -----

func.func @next(%x: i32) {
  // expected-error @+1 {{the body must end with dgemm.next of the carried values}}
  %r = dgemm.tiles (%m0, %n0) iter_args(%s = %x : i32) {
    dgemm.next
  }
  return
}

// -----

func.func @lanes(%x: i32) {
  // expected-error @+1 {{lanes must be positive and needs a lane, found 0}}
  dgemm.tiles (%m0, %n0) lane %x of 0 {
    dgemm.next
  }
  return
}

// -----

func.func @lanes_without_lane() {
  // expected-error @+1 {{lanes must be positive and needs a lane, found 2}}
  "dgemm.tiles"() <{lanes = 2 : i32, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%m0: i32, %n0: i32):
    dgemm.next
  }) : () -> ()
  return
}

// -----

func.func @one_coordinate() {
  // expected-error @+1 {{expected 2 arguments, found 1}}
  dgemm.tiles (%m0) { dgemm.next }
  return
}

// -----

func.func @lane_count(%x: i32) {
  // expected-error @+1 {{expected 'of'}}
  dgemm.tiles (%m0, %n0) lane %x { dgemm.next }
  return
}

// -----

func.func @carried_type(%x: i32) {
  // expected-error @+1 {{expected ':'}}
  %r = dgemm.tiles (%m0, %n0) iter_args(%s = %x) { dgemm.next %s : i32 }
  return
}

// -----

func.func @next_outside() {
  // expected-error @+1 {{expects parent op 'dgemm.tiles'}}
  dgemm.next
}

// -----

func.func @operand(%i: i32) {
  // expected-error @+1 {{operand must be "a", "b" or "scale_a", found "c"}}
  %t = dgemm.load "c" [%i, %i] : <64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @depth(%a: !dgemm.tile<64x64xbf16>, %b: !dgemm.tile<64x32xbf16>) {
  // expected-error @+1 {{A and B tiles must agree in K, found 64 and 32}}
  %r = dgemm.tile_mma %a, %b : <64x64xbf16>, <64x32xbf16> -> <64x64xf32>
  return
}

// -----

func.func @shape(%a: !dgemm.tile<128x64xbf16>, %b: !dgemm.tile<64x64xbf16>) {
  // expected-error @+1 {{expected a 128x64 result, found '!dgemm.fragment<64x64xf32>'}}
  %r = dgemm.tile_mma %a, %b : <128x64xbf16>, <64x64xbf16> -> <64x64xf32>
  return
}

// -----

func.func @accumulator(%a: !dgemm.tile<64x64xbf16>, %x: !dgemm.fragment<128x64xf32>) {
  // expected-error @+1 {{failed to verify that the accumulator has the result's type}}
  %r = "dgemm.tile_mma"(%a, %a, %x) : (!dgemm.tile<64x64xbf16>, !dgemm.tile<64x64xbf16>, !dgemm.fragment<128x64xf32>) -> !dgemm.fragment<64x64xf32>
  return
}
