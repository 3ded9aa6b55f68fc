// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A user's schedule comes before a tuned one, and that before the model's, for
// each range of M by itself; every kernel says who chose it.
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=64,n=520,k=512; tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]" \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 5" > %t.jsonl
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=schedule db=%t.jsonl" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=schedule db=none" | FileCheck %s --check-prefix=NONE
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=schedule db=%t.jsonl schedule='tile = 128x128x64, stages = 3'" | FileCheck %s --check-prefix=USER
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel db=%t.jsonl" | FileCheck %s --check-prefix=KERNEL
// A schedule for everything needs no database, not even a sound one.
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=schedule db=%t.missing schedule='tile = 128x128x64, stages = 3'" | FileCheck %s --check-prefix=USER

// NONE-NOT: "tuned"
// USER-NOT: "tuned"
// USER-NOT: "model"

// CHECK-LABEL: func @given
func.func @given(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}

// CHECK-LABEL: func @tuned
func.func @tuned(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "tuned"}
  // USER-LABEL: func @tuned
  // USER: {schedule = #dgemm.schedule<tile = 128x128x64, stages = 3>, source = "user"}
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
  return
}

// CHECK-LABEL: func @model
func.func @model(%a: memref<512x1024xbf16>, %b: memref<520x1024xbf16>, %d: memref<512x520xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<{{.*}}>, source = "model"}
  dgemm.matmul nt ins(%a, %b : memref<512x1024xbf16>, memref<520x1024xbf16>) outs(%d : memref<512x520xbf16>)
  return
}

// CHECK-LABEL: func @all_three
func.func @all_three(%a: memref<?x512xbf16>, %b: memref<520x512xbf16>, %d: memref<?x520xbf16>) {
  // CHECK: {schedule = #dgemm.dispatch<[M upto 40 : #dgemm.schedule<tile = 128x128x64> from "user",
  // CHECK-SAME: M upto 64 : #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]> from "tuned",
  // CHECK-SAME: M upto 256 : #dgemm.schedule<{{[^<>]*}}> from "model",
  // CHECK-SAME: M upto 512 : #dgemm.schedule<tile = 128x64x64, stages = 5> from "tuned",
  // CHECK-SAME: _ : #dgemm.schedule<{{[^<>]*}}> from "model"]>}
  // USER-LABEL: func @all_three
  // USER: [M upto 40 : #dgemm.schedule<tile = 128x128x64>, _ : #dgemm.schedule<tile = 128x128x64, stages = 3>]>, source = "user"}
  // NONE-LABEL: func @all_three
  // NONE: [M upto 40 : #dgemm.schedule<tile = 128x128x64> from "user", {{.*}} from "model"]>}
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<520x512xbf16>) outs(%d : memref<?x520xbf16>)
    {schedule = #dgemm.dispatch<[M upto 40 : #dgemm.schedule<tile = 128x128x64>, _ : undecided]>, source = "user"}
  return
}

// KERNEL: dgemm.kernel @given_kernel({{.*}}source = "user"
// KERNEL: dgemm.kernel @tuned_kernel({{.*}}source = "tuned"
// KERNEL: dgemm.kernel @model_kernel({{.*}}source = "model"
// KERNEL: dgemm.kernel @all_three_kernel_0({{.*}}source = "user"
// KERNEL: dgemm.kernel @all_three_kernel_1({{.*}}source = "tuned"
// KERNEL: dgemm.kernel @all_three_kernel_2({{.*}}source = "model"
// KERNEL: dgemm.kernel @all_three_kernel_3({{.*}}source = "tuned"
// KERNEL: dgemm.kernel @all_three_kernel_4({{.*}}source = "model"
