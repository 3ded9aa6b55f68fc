// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Options: the device whose records are used, and how many kernels a table has.
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=64,n=520,k=512; tile = 128x64x64; device=H100" \
// RUN:   "m=64,n=520,k=512; tile = 128x72x64, store = vector" \
// RUN:   "m=128,n=520,k=512; tile = 128x80x64, store = vector" \
// RUN:   "m=256,n=520,k=512; tile = 128x88x64, store = vector" > %t.jsonl
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl device=H100" | FileCheck %s --check-prefix=H100
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl max-kernels=1" | FileCheck %s --check-prefix=ONE

func.func @f(%a: memref<?x512xbf16>, %b: memref<520x512xbf16>, %d: memref<?x520xbf16>) {
  // CHECK: M upto 32 : undecided, M upto 64 : #dgemm.schedule<tile = 128x72x64, store = vector> from "tuned"
  // CHECK-SAME: M upto 128 : #dgemm.schedule<tile = 128x80x64, store = vector> from "tuned"
  // CHECK-SAME: M upto 256 : #dgemm.schedule<tile = 128x88x64, store = vector> from "tuned", _ : undecided]
  // H100: M upto 32 : undecided, M upto 64 : #dgemm.schedule<tile = 128x64x64> from "tuned", _ : undecided]
  // ONE: M upto 32 : undecided, M upto 256 : #dgemm.schedule<tile = 128x88x64, store = vector> from "tuned", _ : undecided]
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<520x512xbf16>) outs(%d : memref<?x520xbf16>)
  return
}
