// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Umbrella of the dialect's TableGen files, by level.

#ifndef DGEMM_TD
#define DGEMM_TD

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmTypes.td"
include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.td"
include "dgemm/Dialect/Dgemm/IR/DgemmOps.td"
include "dgemm/Dialect/Dgemm/IR/DgemmKernelOps.td"
include "dgemm/Dialect/Dgemm/IR/DgemmPipelineOps.td"
include "dgemm/Dialect/Dgemm/IR/DgemmEpilogueOps.td"
include "dgemm/Dialect/Dgemm/IR/DgemmRegisterOps.td"
include "dgemm/Dialect/Dgemm/IR/DgemmMachineOps.td"

#endif // DGEMM_TD
