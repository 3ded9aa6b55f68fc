// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-apply-tuning decides what the database has a record for, and nothing
// else.
//
// RUN: %python %dgemm_src_root/test/Inputs/make-records.py '%tuning_versions' \
// RUN:   "m=512,n=520,k=512; tile = 128x64x64, stages = 5" \
// RUN:   "m=64,n=520,k=512; tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]" \
// RUN:   "m=64,n=520,k=512,a=f8E4M3FN,b=f8E4M3FN; tile = 64x64x128, consumers = 1 cooperative, regs = [0, 0], promote = 128" > %t.jsonl
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl" --dgemm-apply-tuning="db=%t.jsonl" | FileCheck %s
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(func.func(dgemm-apply-tuning{db=%t.jsonl}))" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=none" | FileCheck %s --check-prefix=NONE
// RUN: dgemm-opt %s --dgemm-apply-tuning="db=%t.jsonl device=h100" | FileCheck %s --check-prefix=NONE
// NONE-NOT: source = "tuned"

// CHECK-LABEL: func @exact
func.func @exact(%a: tensor<512x512xbf16>, %b: tensor<520x512xbf16>, %d: tensor<512x520xbf16>) -> tensor<512x520xbf16> {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "tuned"}
  %r = dgemm.matmul nt ins(%a, %b : tensor<512x512xbf16>, tensor<520x512xbf16>) outs(%d : tensor<512x520xbf16>) -> tensor<512x520xbf16>
  return %r : tensor<512x520xbf16>
}

// M = 500 has no record of its own; that of M = 512 fits it as well.
// CHECK-LABEL: func @bucket
func.func @bucket(%a: tensor<500x512xbf16>, %b: tensor<520x512xbf16>, %d: tensor<500x520xbf16>) -> tensor<500x520xbf16> {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x64x64, stages = 5>, source = "tuned"}
  %r = dgemm.matmul nt ins(%a, %b : tensor<500x512xbf16>, tensor<520x512xbf16>) outs(%d : tensor<500x520xbf16>) -> tensor<500x520xbf16>
  return %r : tensor<500x520xbf16>
}

// CHECK-LABEL: func @run_time_m
func.func @run_time_m(%a: memref<?x512xbf16>, %b: memref<520x512xbf16>, %d: memref<?x520xbf16>) {
  // CHECK: {schedule = #dgemm.dispatch<[M upto 32 : undecided,
  // CHECK-SAME: M upto 64 : #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]> from "tuned",
  // CHECK-SAME: M upto 256 : undecided,
  // CHECK-SAME: M upto 512 : #dgemm.schedule<tile = 128x64x64, stages = 5> from "tuned",
  // CHECK-SAME: _ : undecided]>}
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<520x512xbf16>) outs(%d : memref<?x520xbf16>)
  return
}

// What stands there stays, who ever chose it.
// CHECK-LABEL: func @decided
func.func @decided(%a: memref<512x512xbf16>, %b: memref<520x512xbf16>, %d: memref<512x520xbf16>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x128x64>, source = "model"}
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "model"}
  // CHECK: {schedule = #dgemm.schedule<tile = 128x128x64>}
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<520x512xbf16>) outs(%d : memref<512x520xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>}
  return
}

// Of a user's table only the undecided rows are looked at.
// CHECK-LABEL: func @table
func.func @table(%a: memref<?x512xbf16>, %b: memref<520x512xbf16>, %d: memref<?x520xbf16>) {
  // CHECK: {schedule = #dgemm.dispatch<[M upto 50 : #dgemm.schedule<tile = 128x128x64> from "user",
  // CHECK-SAME: M upto 64 : #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0]> from "tuned",
  // CHECK-SAME: M upto 256 : undecided,
  // CHECK-SAME: M upto 300 : #dgemm.schedule<tile = 128x64x64, stages = 5> from "tuned",
  // CHECK-SAME: _ : #dgemm.schedule<tile = 128x128x64> from "user"]>}
  dgemm.matmul nt ins(%a, %b : memref<?x512xbf16>, memref<520x512xbf16>) outs(%d : memref<?x520xbf16>)
    {schedule = #dgemm.dispatch<[M upto 50 : #dgemm.schedule<tile = 128x128x64>, M upto 300 : undecided,
                                 _ : #dgemm.schedule<tile = 128x128x64>]>, source = "user"}
  return
}

// Other N, other scales, N at run time: no record says anything of these.
// CHECK-LABEL: func @others
func.func @others(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>, %b: memref<?x512xbf16>, %e: memref<512x?xbf16>,
                  %f: memref<64x512xf8E4M3FN>, %g: memref<520x512xf8E4M3FN>, %sa: memref<64x4xf32>, %sb: memref<5x4xf32>, %h: memref<64x520xbf16>) {
  // CHECK-NOT: tuned
  // CHECK: return
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
  dgemm.matmul nt ins(%a, %b : memref<512x512xbf16>, memref<?x512xbf16>) outs(%e : memref<512x?xbf16>)
  dgemm.matmul nt ins(%f, %g : memref<64x512xf8E4M3FN>, memref<520x512xf8E4M3FN>)
    scales(%sa by 1x128, %sb by 128x128 : memref<64x4xf32>, memref<5x4xf32>) outs(%h : memref<64x520xbf16>)
  return
}
