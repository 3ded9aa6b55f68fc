// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of dgemm.wgmma.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @a_type(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{a_type must be bf16, f16, f8E4M3FN or f8E5M2, found 'f32'}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 8 : i32, a_type = f32, b_type = bf16, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @b_type(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{b_type must be bf16, f16, f8E4M3FN or f8E5M2, found 'i8'}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = i8, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @mixed_widths(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{a_type and b_type do not go together: 'bf16' and 'f8E4M3FN'}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = f8E4M3FN, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @mixed_16_bit(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{a_type and b_type do not go together: 'bf16' and 'f16'}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = f16, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @k(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{k must be 32 for 'f8E4M3FN', found 16}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 16 : i32, a_type = f8E4M3FN, b_type = f8E5M2, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @n(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{n is 16 but the accumulators have 8 columns}}
  %y = dgemm.wgmma %a, %a, %x {n = 16 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @scale_d(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{scale_d must be "zero" or "one", found "two"}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "two"} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @trans_a(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{8-bit operands are K-major; trans_a and trans_b need bf16 or f16}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 32 : i32, a_type = f8E5M2, b_type = f8E5M2, scale_d = "one", trans_a} : !dgemm.inflight<64x8xf32>
  return
}

// -----

func.func @trans_b(%a: i64, %x: !dgemm.inflight<64x8xf32>) {
  // expected-error @+1 {{8-bit operands are K-major; trans_a and trans_b need bf16 or f16}}
  %y = dgemm.wgmma %a, %a, %x {n = 8 : i32, k = 32 : i32, a_type = f8E5M2, b_type = f8E5M2, scale_d = "one", trans_b} : !dgemm.inflight<64x8xf32>
  return
}

// -----

// A product reads only accumulators that a fence has handed over.
func.func @registers(%a: i64, %x: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{operand #2 must be 64xN accumulators that a WGMMA may still be writing, but got '!dgemm.fragment<64x8xf32>'}}
  %y = "dgemm.wgmma"(%a, %a, %x) <{n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one"}> : (i64, i64, !dgemm.fragment<64x8xf32>) -> !dgemm.fragment<64x8xf32>
  return
}
