// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes of L0 and L1: round trip of every field, in text and bytecode.
//
// RUN: dgemm-opt %s --allow-unregistered-dialect | dgemm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: dgemm-opt %s --allow-unregistered-dialect --emit-bytecode | dgemm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: dgemm-opt %s --allow-unregistered-dialect --verify-roundtrip -o /dev/null

// What equals its default is not printed, the tile always is.
// CHECK: attr = #dgemm.schedule<tile = 128x128x64>
"test.op"() {attr = #dgemm.schedule<tile = 128x128x64, stages = 4, swizzle = [128, 128, 128], store = tma, persistent = true>} : () -> ()

// Order is free, lines and comments may stand inside.
// CHECK: attr = #dgemm.schedule<tile = 128x176x128, n_blocks = 2 overlapped, stages = 3, cluster = 2x1 multicast b, promote = 128, raster = along_n group 16>
"test.op"() {attr = #dgemm.schedule<tile = 128x176x128, raster = along_n group 16,
  promote = 128, // elements
  cluster = 2x1 multicast b, stages = 3,
  n_blocks = 2 overlapped>} : () -> ()

// CHECK: attr = #dgemm.schedule<tile = 64x128x128, consumers = 1 cooperative, stages = 6, swizzle = [128, 128, 64], regs = [0, 0], store = vector, persistent = false, ctas_per_sm = 2>
"test.op"() {attr = #dgemm.schedule<tile = 64x128x128, consumers = 1 cooperative, stages = 6, swizzle = [128, 128, 64], regs = [0, 0], store = vector, persistent = false, ctas_per_sm = 2>} : () -> ()

// CHECK: attr = #dgemm.dispatch<[M upto 16 : #dgemm.schedule<tile = 128x128x64> from "tuned", M upto 64 : #dgemm.schedule<tile = 128x64x64>, _ : #dgemm.schedule<tile = 128x128x64>]>
"test.op"() {attr = #dgemm.dispatch<[M upto 16 : #dgemm.schedule<tile = 128x128x64> from "tuned",
  M upto 64 : #dgemm.schedule<tile = 128x64x64>, _ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// CHECK: attr = #dgemm.dispatch<[M upto 16 : undecided, M upto 64 : #dgemm.schedule<tile = 128x64x64>, _ : undecided]>
"test.op"() {attr = #dgemm.dispatch<[M upto 16 : undecided, M upto 64 : #dgemm.schedule<tile = 128x64x64>, _ : undecided]>} : () -> ()

// CHECK: attr = #dgemm.dispatch<[_ : #dgemm.schedule<tile = 128x128x64>]>
"test.op"() {attr = #dgemm.dispatch<[_ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// CHECK: attr = #dgemm.problem<nt, 4096x7168x2048, a = f8E4M3FN, b = f8E5M2, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f8E8M0FNU, accumulate, fast_accumulate>
"test.op"() {attr = #dgemm.problem<nt, 4096x7168x2048, a = e4m3, b = f8E5M2, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f8E8M0FNU k_major, fast_accumulate, accumulate>} : () -> ()

// CHECK: attr = #dgemm.problem<tn, ?x0x?, a = bf16, b = bf16, d = f32>
"test.op"() {attr = #dgemm.problem<tn, ?x0x?, d = f32>} : () -> ()

// CHECK: attr = #dgemm.problem<nt, 0x128x0, a = f8E4M3FN, b = f8E4M3FN, d = f32, scale_a = row f32, scale_b = tensor f32>
"test.op"() {attr = #dgemm.problem<nt, 0x128x0, a = f8E4M3FN, b = f8E4M3FN, d = f32, scale_a = 1x0 f32, scale_b = 0x0 f32>} : () -> ()

// CHECK: attr = #dgemm.scaling<0x128 f32 mn_major>
"test.op"() {attr = #dgemm.scaling<0x128 f32 mn_major>} : () -> ()

// CHECK: attr = #dgemm.layout<tt>
"test.op"() {attr = #dgemm.layout<tt>} : () -> ()

// CHECK: attr = #dgemm.target<chip = "sm_90a", ptx = 80>
"test.op"() {attr = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 232448>} : () -> ()

// CHECK: attr = #dgemm.target<chip = "sm_90a", ptx = 90, shared_memory_per_block = 100000, max_cluster_size = 16>
"test.op"() {attr = #dgemm.target<ptx = 90, max_cluster_size = 16, shared_memory_per_block = 100000, chip = "sm_90a">} : () -> ()
