// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Options that are wrong, and databases with lines that are no use: each line
// is a warning, the others count.
//
// RUN: not dgemm-opt %s --dgemm-apply-tuning="device=b200" 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not dgemm-opt %s --dgemm-apply-tuning="db=%t.missing" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not dgemm-opt %s --dgemm-apply-tuning="db=%S" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not dgemm-opt %s --dgemm-apply-tuning="max-kernels=0" 2>&1 | FileCheck %s --check-prefix=KERNELS
// DEVICE: error: option 'device': unknown device 'b200'
// MISSING: error: option 'db': tuning database: cannot open '{{.*}}.missing': No such file or directory
// FOLDER: error: option 'db': tuning database: cannot read '{{.*}}': Is a directory
// KERNELS: error: option 'max-kernels': expected at least 1, found 0
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 16" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4; status=wrong" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4; device=B200" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4; generation=999" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4; llvm=3.0" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 4; colour=blue" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 5" > %t.jsonl
// RUN: printf '{"format":1,"pro' >> %t.jsonl
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" 2>&1 | FileCheck %s
// CHECK-DAG: warning: {{.*}}.jsonl:1: tuning record skipped: field 'schedule': cannot be used: shared memory
// CHECK-DAG: warning: {{.*}}.jsonl:2: tuning record skipped: its status is wrong
// CHECK-DAG: warning: {{.*}}.jsonl:3: tuning record skipped: unknown device 'B200'
// CHECK-DAG: warning: {{.*}}.jsonl:4: tuning record skipped: measured with kernels of generation 999
// CHECK-DAG: warning: {{.*}}.jsonl:5: tuning record skipped: measured with LLVM 3.0
// CHECK-DAG: warning: {{.*}}.jsonl:6: tuning record skipped: field 'colour': unknown
// CHECK-DAG: warning: {{.*}}.jsonl:8: tuning record skipped: the line is not finished
// CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "tuned"}
func.func @f(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
  return
}
