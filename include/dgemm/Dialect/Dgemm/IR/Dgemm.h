// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The dgemm dialect for C++: dialect class, attributes, types and ops of all
// levels.

#ifndef DGEMM_DIALECT_DGEMM_IR_DGEMM_H
#define DGEMM_DIALECT_DGEMM_IR_DGEMM_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"
#include "dgemm/Runtime/LaunchMetadata.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dgemm/Dialect/Dgemm/IR/DgemmDialect.h.inc"

#include "dgemm/Dialect/Dgemm/IR/DgemmEnums.h.inc"

namespace mlir::dgemm {

/// Resources that memory effects name: an access to shared memory does not
/// order one to global memory.
struct SharedMemoryResource
    : SideEffects::Resource::Base<SharedMemoryResource> {
  StringRef getName() final { return "dgemm.shared_memory"; }
};
struct GlobalMemoryResource
    : SideEffects::Resource::Base<GlobalMemoryResource> {
  StringRef getName() final { return "dgemm.global_memory"; }
};
struct BarrierResource : SideEffects::Resource::Base<BarrierResource> {
  StringRef getName() final { return "dgemm.barrier"; }
};
struct TensorCoreResource : SideEffects::Resource::Base<TensorCoreResource> {
  StringRef getName() final { return "dgemm.tensor_core"; }
};

} // namespace mlir::dgemm

#define GET_ATTRDEF_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.h.inc"

#include "dgemm/Dialect/Dgemm/IR/DgemmInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmTypes.h.inc"

#define GET_OP_CLASSES
#include "dgemm/Dialect/Dgemm/IR/DgemmOps.h.inc"

#endif // DGEMM_DIALECT_DGEMM_IR_DGEMM_H
