// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the machine ops whose operands are registers.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

func.func @load_words(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{must be i32, vector<2xi32> or vector<4xi32>, but got 'vector<3xi32>'}}
  %0 = dgemm.load_global %p : vector<3xi32>
  return
}

// -----

func.func @load_space(%p: !llvm.ptr<3>) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{expects different type than prior uses: '!llvm.ptr<1>' vs '!llvm.ptr<3>'}}
  %0 = dgemm.load_global %p : i32
  return
}

// -----

func.func @mma_a_type(%r: i32, %c: f32) {
  // expected-error @+1 {{a_type must be bf16, f16, f8E4M3FN or f8E5M2, found 'tf32'}}
  %0:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = tf32, b_type = bf16}
  return
}

// -----

func.func @mma_b_type(%r: i32, %c: f32) {
  // expected-error @+1 {{b_type must be bf16, f16, f8E4M3FN or f8E5M2, found 'i8'}}
  %0:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = bf16, b_type = i8}
  return
}

// -----

func.func @mma_mixed(%r: i32, %c: f32) {
  // expected-error @+1 {{a_type and b_type do not go together: 'bf16' and 'f8E4M3FN'}}
  %0:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = bf16, b_type = f8E4M3FN}
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32, i32, i32)>
func.func @wgmma_types(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{a_type and b_type do not go together: 'bf16' and 'f16'}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = f16, scale_d = "one"} : !a, !i
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32, i32, i32)>
func.func @wgmma_k(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{k must be 32 for 'f8E4M3FN', found 16}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = f8E4M3FN, b_type = f8E4M3FN, scale_d = "one"} : !a, !i
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32, i32, i32)>
func.func @wgmma_n(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{n is 16 but the accumulators have 8 columns}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 16 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one"} : !a, !i
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32, i32, i32)>
func.func @wgmma_scale(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{scale_d must be "zero" or "one", found "two"}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "two"} : !a, !i
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32, i32, i32)>
func.func @wgmma_trans(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{8-bit operands are K-major; trans_b needs bf16 or f16}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 32 : i32, a_type = f8E4M3FN, b_type = f8E4M3FN, scale_d = "one", trans_b} : !a, !i
  return
}

// -----

!i = !dgemm.inflight<64x8xf32>
!a = !llvm.struct<(i32, i32)>
func.func @wgmma_registers(%a: !a, %b: i64, %x: !i) {
  // expected-error @+1 {{a must be a struct of four i32, found '!llvm.struct<(i32, i32)>'}}
  %y = dgemm.wgmma_registers %a, %b, %x {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one"} : !a, !i
  return
}
