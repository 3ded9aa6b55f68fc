// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules that this problem or this target cannot have: every broken rule is
// an error with numbers, the origin of the limit and the nearest legal value.
//
// RUN: dgemm-opt %s --dgemm-select-schedule --split-input-file --verify-diagnostics

func.func @shared_memory(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
  // expected-error @below {{schedule cannot be used: shared memory}}
  // expected-note @below {{limits are those of sm_90a; no enclosing op has 'dgemm.target'}}
  // expected-note @below {{stages}}
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 16>, source = "user"}
  return
}

// -----

// expected-note @below {{limits are those of #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 100000>}}
module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 100000>} {
  func.func @lower_limit(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
    // expected-error @below {{schedule cannot be used: shared memory}}
    // expected-note @below {{stages}}
    dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
      {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
    return
  }
}

// -----

func.func @row(%a: memref<?x512xbf16>, %b: memref<512x512xbf16>, %d: memref<?x512xbf16>) {
  // expected-error @below {{other M: schedule cannot be used: shared memory}}
  // expected-note @below {{limits are those of sm_90a}}
  // expected-note @below {{stages}}
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<512x512xbf16>) outs(%d : memref<?x512xbf16>)
    {schedule = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 128x128x64>, _ : #dgemm.schedule<tile = 128x128x64, stages = 16>]>}
  return
}

// -----

module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 4096>} {
  func.func @nothing_fits(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
    // expected-error @below {{no schedule can be chosen}}
    dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
    return
  }
}

// -----

// Every op is looked at, and every broken rule of each is told.
func.func @two(%a: memref<512x512xf8E4M3FN>, %d: memref<512x512xbf16>) {
  // expected-error @below {{schedule cannot be used: promote: expected an interval for f8 operands}}
  // expected-error @below {{swizzle of a: 128 bytes is wider than the box of 64 x 1 bytes = 64 bytes}}
  // expected-error @below {{swizzle of b: 128 bytes is wider than the box of 64 x 1 bytes = 64 bytes}}
  // expected-note @below {{limits are those of sm_90a}}
  // expected-note @below {{promote = 128}}
  // expected-note @below {{tile K = 128}}
  dgemm.matmul nt ins(%a, %a : memref<512x512xf8E4M3FN>, memref<512x512xf8E4M3FN>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>}
  // expected-error @below {{schedule cannot be used: shared memory}}
  // expected-note @below {{limits are those of sm_90a}}
  // expected-note @below {{stages}}
  dgemm.matmul nt ins(%a, %a : memref<512x512xf8E4M3FN>, memref<512x512xf8E4M3FN>) outs(%d : memref<512x512xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x128, promote = 128, stages = 16>}
  return
}
