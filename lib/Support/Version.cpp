// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Versions, which only the build system knows.

#include "dgemm/Support/Version.h"

const char *dgemm::version() { return DGEMM_VERSION; }

const char *dgemm::llvmVersion() { return DGEMM_LLVM_VERSION; }
