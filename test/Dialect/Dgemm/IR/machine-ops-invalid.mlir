// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the fence and the wait.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @fence_count(%f: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{accumulators: expected 1 results, found 0}}
  dgemm.wgmma_fence (%f : !dgemm.fragment<64x8xf32>)
  return
}

// -----

func.func @fence_shape(%f: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{accumulators: expected the shape of '!dgemm.fragment<64x8xf32>', found '!dgemm.inflight<64x16xf32>'}}
  %0 = dgemm.wgmma_fence (%f : !dgemm.fragment<64x8xf32>) -> (!dgemm.inflight<64x16xf32>)
  return
}

// -----

func.func @fence_rows(%f: !dgemm.fragment<128x8xf32>) {
  // expected-error @+1 {{accumulators: expected the shape of '!dgemm.fragment<128x8xf32>', found '!dgemm.inflight<64x8xf32>'}}
  %0 = dgemm.wgmma_fence (%f : !dgemm.fragment<128x8xf32>) -> (!dgemm.inflight<64x8xf32>)
  return
}

// -----

func.func @fence_struct_size(%r: !llvm.struct<(f32, f32)>) {
  // expected-error @+1 {{accumulators: expected the shape of '!llvm.struct<(f32, f32)>', found '!dgemm.inflight<64x8xf32>'}}
  %0 = dgemm.wgmma_fence (%r : !llvm.struct<(f32, f32)>) -> (!dgemm.inflight<64x8xf32>)
  return
}

// -----

func.func @fence_struct_type(%r: !llvm.struct<(f32, f32, i32, f32)>) {
  // expected-error @+1 {{accumulators: registers must be a struct of f32}}
  %0 = dgemm.wgmma_fence (%r : !llvm.struct<(f32, f32, i32, f32)>) -> (!dgemm.inflight<64x8xf32>)
  return
}

// -----

func.func @fence_pin(%f: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{pin: results must have the operands' types}}
  %0 = dgemm.wgmma_fence pin(%f : !dgemm.fragment<64x8xf32>) pinned (!dgemm.fragment<64x16xf32>)
  return
}

// -----

func.func @fence_pin_count(%f: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{pin: results must have the operands' types}}
  dgemm.wgmma_fence pin(%f : !dgemm.fragment<64x8xf32>)
  return
}

// -----

func.func @fence_type(%f: i32) {
  // expected-error @+1 {{must be variadic of fragment, inflight accumulators or an LLVM struct of registers, but got 'i32'}}
  %0 = dgemm.wgmma_fence (%f : i32) -> (!dgemm.inflight<64x8xf32>)
  return
}

// -----

func.func @pending() {
  // expected-error @+1 {{pending groups must be between 0 and 7, found 8}}
  dgemm.wgmma_wait 8
  return
}

// -----

func.func @resolve_count(%i: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{resolve: expected 1 results, found 0}}
  dgemm.wgmma_wait 0 resolve(%i : !dgemm.inflight<64x8xf32>)
  return
}

// -----

func.func @resolve_shape(%i: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{resolve: expected the shape of '!dgemm.inflight<64x8xf32>', found '!llvm.struct<(f32, f32)>'}}
  %0 = dgemm.wgmma_wait 0 resolve(%i : !dgemm.inflight<64x8xf32>) -> (!llvm.struct<(f32, f32)>)
  return
}

// -----

func.func @keep(%i: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{keep: results must have the operands' types}}
  %0 = dgemm.wgmma_wait 0 keep(%i : !dgemm.inflight<64x8xf32>) kept (!dgemm.inflight<64x16xf32>)
  return
}

// -----

func.func @wait_pin(%f: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{pin: results must have the operands' types}}
  %0 = dgemm.wgmma_wait 0 pin(%f : !dgemm.fragment<64x8xf32>) pinned (!llvm.struct<(f32, f32, f32, f32)>)
  return
}
