# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# The one place that names the LLVM/MLIR version dgemm is written against. A
# move to another LLVM is a commit of its own that begins here.

set(DGEMM_LLVM_VERSION 22.1)
set(DGEMM_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH
    "Where LLVM and MLIR are installed")
