// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the attributes of L0 and L1 refuse.
//
// RUN: dgemm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error @below {{unknown field 'stagess'; the nearest known one is 'stages'}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128x64, stagess = 4>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<stages = 4>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128x64, swizzle = [128, 128]>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128x64, stages = 4, stages = 5>} : () -> ()

// -----

// expected-error @below {{invalid schedule}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128x99999999999999999999>} : () -> ()

// -----

// expected-error @below {{expected '>'}}
"test.op"() {attr = #dgemm.schedule<tile = 128x128x64 : stages = 4>} : () -> ()

// -----

// expected-error @below {{illegal schedule}}
// expected-note @below {{104}}
"test.op"() {attr = #dgemm.schedule<tile = 128x100x64>} : () -> ()

// -----

// expected-error @below {{dispatch: expected a last row '_', which takes every other M}}
"test.op"() {attr = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{dispatch: expected a last row '_'}}
"test.op"() {attr = #dgemm.dispatch<[]>} : () -> ()

// -----

// expected-error @below {{dispatch: no row may follow '_'}}
"test.op"() {attr = #dgemm.dispatch<[_ : #dgemm.schedule<tile = 128x128x64>, M upto 64 : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{dispatch: expected bounds on M that are positive and rise strictly, found 64 after 64}}
"test.op"() {attr = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 128x128x64>, M upto 64 : #dgemm.schedule<tile = 128x128x64>, _ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{dispatch: expected bounds on M that are positive and rise strictly, found 0 after 0}}
"test.op"() {attr = #dgemm.dispatch<[M upto 0 : #dgemm.schedule<tile = 128x128x64>, _ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{dispatch: expected 'M upto bound' or '_', found 'N'}}
"test.op"() {attr = #dgemm.dispatch<[N upto 64 : #dgemm.schedule<tile = 128x128x64>, _ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{dispatch: unknown schedule source 'me'; expected model, tuned or user}}
"test.op"() {attr = #dgemm.dispatch<[_ : #dgemm.schedule<tile = 128x128x64> from "me"]>} : () -> ()

// -----

// expected-error @below {{dispatch: expected at least one row with a schedule, found only undecided ones}}
"test.op"() {attr = #dgemm.dispatch<[M upto 64 : undecided, _ : undecided]>} : () -> ()

// -----

// expected-error @below {{expected ']'}}
"test.op"() {attr = #dgemm.dispatch<[M upto 64 : undecided from "user", _ : #dgemm.schedule<tile = 128x128x64>]>} : () -> ()

// -----

// expected-error @below {{problem: unknown layout 'xy'; expected nt, nn, tn or tt}}
"test.op"() {attr = #dgemm.problem<xy, 1x1x1>} : () -> ()

// -----

// expected-error @below {{problem: expected three sizes MxNxK, found 2}}
"test.op"() {attr = #dgemm.problem<nt, 1x1>} : () -> ()

// -----

// expected-error @below {{problem: unknown field 'c'; expected a, b, d, scale_a, scale_b, accumulate or fast_accumulate}}
"test.op"() {attr = #dgemm.problem<nt, 1x1x1, c = f32>} : () -> ()

// -----

// expected-error @below {{problem: field 'a' is given twice}}
"test.op"() {attr = #dgemm.problem<nt, 1x1x1, a = bf16, a = bf16>} : () -> ()

// -----

// expected-error @below {{expected an element type (bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU, i8 or i32), found 'f64'}}
"test.op"() {attr = #dgemm.problem<nt, 1x1x1, a = f64>} : () -> ()

// -----

// expected-error @below {{problem: layout: expected nt for 8-bit operands, found tn}}
"test.op"() {attr = #dgemm.problem<tn, 1x1x1, a = f8E4M3FN, b = f8E4M3FN>} : () -> ()

// -----

// expected-error @below {{problem: m: expected a size of at most 2147483647, found 4294967296}}
"test.op"() {attr = #dgemm.problem<nt, 4294967296x1x1>} : () -> ()

// -----

// expected-error @below {{scales: expected element type f32 or f8E8M0FNU, found bf16}}
"test.op"() {attr = #dgemm.scaling<1x128 bf16>} : () -> ()

// -----

// expected-error @below {{target chip: expected 'sm_90a', found 'sm_90'; plain sm_90 has no WGMMA and no setmaxnreg, which are specific to sm_90a}}
"test.op"() {attr = #dgemm.target<chip = "sm_90", ptx = 80>} : () -> ()

// -----

// expected-error @below {{target chip: expected 'sm_90a', found 'sm_80'; that chip is older than Hopper and has no TMA}}
"test.op"() {attr = #dgemm.target<chip = "sm_80", ptx = 80>} : () -> ()

// -----

// expected-error @below {{target chip: expected 'sm_90a', found 'sm_100a'; that chip is not Hopper and has other tensor core instructions}}
"test.op"() {attr = #dgemm.target<chip = "sm_100a", ptx = 80>} : () -> ()

// -----

// expected-error @below {{target chip: expected 'sm_90a', found 'gfx942'; no chip of this name is known}}
"test.op"() {attr = #dgemm.target<chip = "gfx942", ptx = 80>} : () -> ()

// -----

// expected-error @below {{target ptx: expected a PTX ISA version from 80 (the first with sm_90a) to 90, found 60}}
"test.op"() {attr = #dgemm.target<chip = "sm_90a", ptx = 60>} : () -> ()

// -----

// expected-error @below {{target ptx: there is no PTX ISA version 8.9; the nearest are 88 and 90}}
"test.op"() {attr = #dgemm.target<chip = "sm_90a", ptx = 89>} : () -> ()

// -----

// expected-error @below {{target shared_memory_per_block: expected a value from 1 to 1048576, found 0}}
"test.op"() {attr = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 0>} : () -> ()
