// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What dgemm.launch refuses.
//
// RUN: dgemm-opt %s --split-input-file --verify-diagnostics

func.func @missing(%a: memref<64x64xbf16>) {
  // expected-error @below {{kernel @nowhere: expected a symbol of this module, found none}}
  dgemm.launch @nowhere ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%a : memref<64x64xbf16>)
  return
}

// -----

module @inner {}
func.func @other_op(%a: memref<64x64xbf16>) {
  // expected-error @below {{kernel @inner: expected a dgemm.kernel or a function, found 'builtin.module'}}
  dgemm.launch @inner ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%a : memref<64x64xbf16>)
  return
}

// -----

func.func private @k()
func.func @bounds(%a: memref<64x64xbf16>) {
  // expected-error @below {{dispatch: expected bounds on M that are positive and rise strictly, found 32 after 64}}
  dgemm.launch [M upto 64 : @k, M upto 32 : @k, _ : @k] ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%a : memref<64x64xbf16>)
  return
}

// -----

func.func private @k()
func.func @bound_count(%a: memref<64x64xbf16>) {
  // expected-error @below {{dispatch: expected one bound for each row but the last, found 0 bounds and 2 rows}}
  "dgemm.launch"(%a, %a, %a) <{kernels = [@k, @k], bounds = array<i64>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1>}> : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}

// -----

func.func private @k()
func.func @no_kernels(%a: memref<64x64xbf16>) {
  // expected-error @below {{found 0 bounds and 0 rows}}
  "dgemm.launch"(%a, %a, %a) <{kernels = [], bounds = array<i64>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1>}> : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}

// -----

func.func private @k()
func.func @mixed(%a: tensor<64x64xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected a memref as d is, found 'tensor<64x64xbf16>'}}
  dgemm.launch @k ins(%a, %d : tensor<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func private @k()
func.func @no_result(%a: tensor<64x64xbf16>) {
  // expected-error @below {{expected a result of d's type, since d is a tensor, found none}}
  dgemm.launch @k ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%a : tensor<64x64xbf16>)
  return
}
