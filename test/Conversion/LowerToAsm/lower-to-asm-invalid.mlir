// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// An op that is not a machine op has no assembly.
//
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(gpu.module(dgemm-lower-to-asm))" --verify-diagnostics --split-input-file

gpu.module @kernels {
  llvm.func @commit() {
    // expected-error @+1 {{failed to legalize operation 'dgemm.wgmma_commit' that was explicitly marked illegal}}
    dgemm.wgmma_commit
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @tile() {
    // expected-error @+1 {{failed to legalize operation 'dgemm.zero' that was explicitly marked illegal}}
    %f = dgemm.zero : !dgemm.fragment<64x8xf32>
    llvm.return
  }
}
