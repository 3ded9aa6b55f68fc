// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of the ops and types of the register form.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{rows must be a positive multiple of 8, found 12}}
func.func private @rows(!dgemm.strip<12x64xbf16>)

// -----

// expected-error @+1 {{columns must be a positive multiple of 64 bytes, found 96 bytes}}
func.func private @columns(!dgemm.strip<8x48xbf16>)

// -----

// expected-error @+1 {{strip elements must be bf16, f16, f8E4M3FN or f8E5M2, found 'f32'}}
func.func private @elements(!dgemm.strip<8x64xf32>)

// -----

func.func @a_rows(%w: !dgemm.strip<8x64xbf16>) {
  // expected-error @+1 {{A must have 16 rows, found 8}}
  %y = dgemm.strip_mma %w, %w : !dgemm.strip<8x64xbf16>, !dgemm.strip<8x64xbf16> -> !dgemm.fragment<16x8xf32>
  return
}

// -----

func.func @depth(%w: !dgemm.strip<16x64xbf16>, %x: !dgemm.strip<8x32xbf16>) {
  // expected-error @+1 {{A and B must agree in K, found 64 and 32}}
  %y = dgemm.strip_mma %w, %x : !dgemm.strip<16x64xbf16>, !dgemm.strip<8x32xbf16> -> !dgemm.fragment<16x8xf32>
  return
}

// -----

func.func @types(%w: !dgemm.strip<16x64xbf16>, %x: !dgemm.strip<8x64xf8E4M3FN>) {
  // expected-error @+1 {{element types do not go together: 'bf16' and 'f8E4M3FN'}}
  %y = dgemm.strip_mma %w, %x : !dgemm.strip<16x64xbf16>, !dgemm.strip<8x64xf8E4M3FN> -> !dgemm.fragment<16x8xf32>
  return
}

// -----

func.func @result(%w: !dgemm.strip<16x64xbf16>, %x: !dgemm.strip<8x64xbf16>) {
  // expected-error @+1 {{expected a 16x8 result, found '!dgemm.fragment<16x16xf32>'}}
  %y = dgemm.strip_mma %w, %x : !dgemm.strip<16x64xbf16>, !dgemm.strip<8x64xbf16> -> !dgemm.fragment<16x16xf32>
  return
}

// -----

func.func @accumulator(%w: !dgemm.strip<16x64xbf16>, %x: !dgemm.strip<8x64xbf16>, %s: !dgemm.fragment<16x16xf32>) {
  // expected-error @+1 {{the accumulator has the result's type}}
  %y = "dgemm.strip_mma"(%w, %x, %s) : (!dgemm.strip<16x64xbf16>, !dgemm.strip<8x64xbf16>, !dgemm.fragment<16x16xf32>) -> !dgemm.fragment<16x8xf32>
  return
}

// -----

func.func @reduce_types(%s: !dgemm.fragment<16x16xf32>) {
  // expected-error @+1 {{results must have the operands' types}}
  %y = dgemm.warp_reduce %s warps 2 : !dgemm.fragment<16x16xf32> -> !dgemm.fragment<16x8xf32>
  return
}

// -----

func.func @reduce_rows(%s: !dgemm.fragment<64x8xf32>) {
  // expected-error @+1 {{expected fragments of 16 rows, found '!dgemm.fragment<64x8xf32>'}}
  %y = dgemm.warp_reduce %s warps 2 : !dgemm.fragment<64x8xf32> -> !dgemm.fragment<64x8xf32>
  return
}

// -----

func.func @reduce_warps(%s: !dgemm.fragment<16x8xf32>) {
  // expected-error @+1 {{expected 1 to 32 warps, found 33}}
  %y = dgemm.warp_reduce %s warps 33 : !dgemm.fragment<16x8xf32> -> !dgemm.fragment<16x8xf32>
  return
}
