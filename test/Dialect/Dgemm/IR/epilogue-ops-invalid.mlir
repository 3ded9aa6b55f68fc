// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of staging, and what the types of the other epilogue ops refuse.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @source_end(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{columns 32 to 95 must be groups of 8 inside the fragment's 88}}
  dgemm.stage %x cols 32 width 64 to %wg box 64 at 0 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @source_group(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{columns 4 to 11 must be groups of 8 inside the fragment's 88}}
  dgemm.stage %x cols 4 width 8 to %wg box 64 at 0 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @width_group(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{columns 0 to 11 must be groups of 8 inside the fragment's 88}}
  dgemm.stage %x cols 0 width 12 to %wg box 64 at 0 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @no_width(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{must be groups of 8 inside the fragment's 88}}
  dgemm.stage %x cols 8 width 0 to %wg box 64 at 0 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @box_end(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{columns 40 to 71 of a box with 64 columns}}
  dgemm.stage %x cols 0 width 32 to %wg box 64 at 40 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @box_group(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{columns 4 to 11 of a box with 64 columns}}
  dgemm.stage %x cols 0 width 8 to %wg box 64 at 4 offset 0 bf16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @rows(%x: !dgemm.fragment<128x88xf32>, %wg: i32) {
  // expected-error @+1 {{expected a fragment of 64 rows, found '!dgemm.fragment<128x88xf32>'}}
  dgemm.stage %x cols 0 width 8 to %wg box 64 at 0 offset 0 bf16 : !dgemm.fragment<128x88xf32>
  return
}

// -----

func.func @element(%x: !dgemm.fragment<64x88xf32>, %wg: i32) {
  // expected-error @+1 {{elements must be bf16 or f32, found 'f16'}}
  dgemm.stage %x cols 0 width 8 to %wg box 64 at 0 offset 0 f16 : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @in_flight(%x: !dgemm.inflight<64x88xf32>, %wg: i32) {
  // An accumulator that is still being written has no op to store it.
  // expected-error @+1 {{invalid kind of type specified: expected dgemm.fragment, but found '!dgemm.inflight<64x88xf32>'}}
  dgemm.stage %x cols 0 width 8 to %wg box 64 at 0 offset 0 bf16 : !dgemm.inflight<64x88xf32>
  return
}

// -----

func.func @in_flight(%x: !dgemm.inflight<64x88xf32>, %s: f32) {
  // expected-error @+1 {{operand #0 must be a tile of accumulators spread over the registers of warps, but got '!dgemm.inflight<64x88xf32>'}}
  %y = "dgemm.scale_fragment"(%x, %s) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!dgemm.inflight<64x88xf32>, f32) -> !dgemm.inflight<64x88xf32>
  return
}

// -----

func.func @row_scales(%x: !dgemm.fragment<64x88xf32>, %s: f32) {
  // expected-error @+1 {{expected an upper and a lower row scale, found 1}}
  %y = dgemm.scale_fragment %x rows(%s) : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @column_scales(%x: !dgemm.fragment<64x88xf32>, %s: f32) {
  // expected-error @+1 {{expected one column scale or 22, two for every 8 columns, found 2}}
  %y = dgemm.scale_fragment %x cols(%s, %s) : !dgemm.fragment<64x88xf32>
  return
}

// -----

func.func @sums(%x: !dgemm.fragment<64x88xf32>, %p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{results must have the operands' types}}
  %sum, %last = dgemm.workspace_reduce %x of %i part %i of %i at %i through %p : !llvm.ptr<1>, !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x80xf32>
  return
}
