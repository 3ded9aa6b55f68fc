// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How many lanes may hold the scales of K blocks, and that the last block is
// known where several do.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @lane_scale(%held: f32, %i: i32) {
  // expected-error @+1 {{lanes: expected 4 or 32, found 5}}
  %s = dgemm.lane_scale %held[%i] of 5
  return
}

// -----

func.func @own_scale(%held: f32, %i: i32) {
  // expected-error @+1 {{lanes: expected 4 or 32, found 1}}
  %s = dgemm.lane_scale %held[%i] of 1
  return
}

// -----

func.func @col_scale(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{lanes: expected 4 or 32 with a last K block, found 8}}
  %s = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i lanes 8 to %i : !llvm.ptr<1>
  return
}

// -----

func.func @col_scale_alone(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{lanes: expected 4 or 32 with a last K block, found 1}}
  %s = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i lanes 1 to %i : !llvm.ptr<1>
  return
}

// -----

func.func @col_scale_without_last(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{lanes: expected 1 without a last K block, found 32}}
  %s = dgemm.col_scale %base[%i, %i] strides [%l, %l] groups %i {lanes = 32 : i32} : !llvm.ptr<1>
  return
}

// -----

// Four lanes have the same rows, no more.
func.func @row_scales(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{lanes: expected 4 with a last K block, found 32}}
  %u, %d = dgemm.global_row_scales %base[%i, %i] strides [%l, %l] limit %i lanes 32 to %i : !llvm.ptr<1>
  return
}

// -----

func.func @row_scales_without_last(%base: !llvm.ptr<1>, %i: i32, %l: i64) {
  // expected-error @+1 {{lanes: expected 1 without a last K block, found 4}}
  %u, %d = dgemm.global_row_scales %base[%i, %i] strides [%l, %l] limit %i {lanes = 4 : i32} : !llvm.ptr<1>
  return
}
