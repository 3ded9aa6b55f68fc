// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Remarks: the figures of a record that is used, and why one is not.
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 5" \
// RUN:   "m=256,n=4096,k=7168; tile = 256x128x64" \
// RUN:   "m=256,n=520,k=512; tile = 256x128x64; l2=clean" > %t.jsonl
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" --remarks-filter="dgemm-schedule" -o /dev/null 2>&1 | FileCheck %s
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" -o /dev/null 2>&1 | count 0
// An empty database has nothing to say.
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=none" --remarks-filter="dgemm-schedule" -o /dev/null 2>&1 | count 0

// CHECK: remark: [Passed] schedule-tuned | Category:dgemm-schedule | Function=exact
// CHECK-SAME: Reason="10.00 us measured at M = 512 (least 9.50 us, spread 1.0 %, 30 launches, L2 dirty, 2026-01-31), predicted 11.00 us, the model's choice took 12.00 us (+20.0 %)"
// CHECK-SAME: tuned tile = 128x64x64, stages = 5
// CHECK-SAME: microseconds=1.0
func.func @exact(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
  return
}

// CHECK: remark: [Missed] schedule-not-tuned | Category:dgemm-schedule | Function=none
// CHECK-SAME: Reason="no record of m=600,n=520,k=512,a=bf16,b=bf16,d=bf16,layout=nt on H200, nor of M = 1024"
// CHECK-SAME: no tuned schedule
func.func @none(%a: memref<600x512xbf16>, %b: memref<520x512xbf16>, %d: memref<600x520xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<600x512xbf16>, memref<520x512xbf16>) outs(%d : memref<600x520xbf16>)
  return
}

// Mostly padding at this M.
// CHECK: remark: [Missed] schedule-not-tuned | Category:dgemm-schedule | Function=far
// CHECK-SAME: Reason="the record of M = 256 is predicted {{.*}} % slower than the model's choice at M = 129"
func.func @far(%a: memref<129x7168xbf16>, %b: memref<4096x7168xbf16>, %d: memref<129x4096xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<129x7168xbf16>, memref<4096x7168xbf16>) outs(%d : memref<129x4096xbf16>)
  return
}

// CHECK: remark: [Missed] schedule-not-tuned | Category:dgemm-schedule | Function=forbidden
// CHECK-SAME: Reason="the record of M = 512 cannot be used: shared memory
module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 100000>} {
  func.func @forbidden(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
    dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
    return
  }
}

// One remark for each row of a table.
// CHECK: remark: [Missed] {{.*}} Function=rows
// CHECK-SAME: M <= 128: no tuned schedule
// CHECK: remark: [Passed] {{.*}} Function=rows
// CHECK-SAME: M <= 256: tuned tile = 256x128x64
// CHECK: remark: [Passed] {{.*}} Function=rows
// CHECK-SAME: M <= 512: tuned tile = 128x64x64, stages = 5
// CHECK: remark: [Missed] {{.*}} Function=rows
// CHECK-SAME: other M: no tuned schedule
func.func @rows(%a: memref<?x512xbf16>, %b: memref<520x512xbf16>, %d: memref<?x520xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<520x512xbf16>) outs(%d : memref<?x520xbf16>)
  return
}
