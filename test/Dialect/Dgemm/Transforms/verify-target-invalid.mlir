// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Targets that no kernel can be made for, and targets that contradict.
//
// RUN: not dgemm-opt %s --dgemm-verify-target="chip=sm_90" 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: not dgemm-opt %s --dgemm-verify-target="chip=sm_80" 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not dgemm-opt %s --dgemm-verify-target="chip=" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not dgemm-opt %s --dgemm-verify-target="ptx=60" 2>&1 | FileCheck %s --check-prefix=PTX60
// RUN: not dgemm-opt %s --dgemm-verify-target="ptx=89" 2>&1 | FileCheck %s --check-prefix=PTX89
// RUN: not dgemm-opt %s --dgemm-verify-target="ptx=81" 2>&1 | FileCheck %s --check-prefix=CLASH

// SM90: error: target chip: expected 'sm_90a', found 'sm_90'
// SM80: error: target chip: expected 'sm_90a', found 'sm_80'
// EMPTY: error: target chip: expected 'sm_90a', found ''
// PTX60: error: target ptx: expected a PTX ISA version from 80 (the first with sm_90a) to 90, found 60
// PTX89: error: target ptx: there is no PTX ISA version 8.9
// CLASH: error: attribute 'dgemm.target': expected #dgemm.target<chip = "sm_90a", ptx = 81> as the options say, found #dgemm.target<chip = "sm_90a", ptx = 80>
// CLASH: note: remove the attribute, or pass chip=sm_90a ptx=80
module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80>} {}
