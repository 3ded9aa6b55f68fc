// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The attribute's name is taken by something else.
//
// RUN: dgemm-opt %s --dgemm-verify-target --verify-diagnostics

// expected-error @below {{attribute 'dgemm.target': expected #dgemm.target, found "sm_90a"}}
module attributes {dgemm.target = "sm_90a"} {}
