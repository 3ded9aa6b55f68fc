// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-verify-target attaches the target once and leaves the rest alone.
//
// RUN: dgemm-opt %s --dgemm-verify-target | FileCheck %s
// RUN: dgemm-opt %s --dgemm-verify-target="chip=sm_90a ptx=86" | FileCheck %s --check-prefix=PTX86
// RUN: dgemm-opt %s --dgemm-verify-target --dgemm-verify-target | FileCheck %s

// CHECK: module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80>}
// PTX86: module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 86>}
// CHECK-NEXT: func.func private @untouched()
func.func private @untouched()
