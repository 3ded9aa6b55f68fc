// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A target with limits of its own is kept when chip and PTX version agree.
//
// RUN: dgemm-opt %s --dgemm-verify-target | FileCheck %s

// CHECK: module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 100000>}
module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80, shared_memory_per_block = 100000>} {}
