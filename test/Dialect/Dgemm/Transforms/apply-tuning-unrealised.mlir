// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A record whose schedule is legal, but which no pass makes a kernel for: it is
// left out with a warning, and the decision stays open.
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4, split_k = 2 cluster" > %t.jsonl
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" 2>&1 | FileCheck %s
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" --dgemm-select-schedule --remarks-filter="schedule" 2>&1 | FileCheck %s --check-prefix=MODEL
// CHECK: warning: the record of M = 512 cannot be used: split_k cluster gives each CTA a part of one tile
// CHECK-NOT: source =
// MODEL: the record of M = 512 cannot be used
// MODEL: source = "model"
func.func @f(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
  return
}
