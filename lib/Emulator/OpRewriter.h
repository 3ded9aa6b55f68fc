// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the ops of one kernel into runtime calls, in place.

#ifndef DGEMM_EMULATOR_OPREWRITER_H
#define DGEMM_EMULATOR_OPREWRITER_H

#include "Machine.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace dgemm::emu {

class OpRewriter {
public:
  /// Sites are appended to `sites` as ops are met.
  OpRewriter(mlir::ModuleOp module, std::vector<Site> &sites);

  Status rewrite(mlir::LLVM::LLVMFuncOp func);
  /// A call that counts a loop iteration, named after `op`.
  void addStep(mlir::OpBuilder &builder, mlir::Operation *op);
  /// Globals in shared memory have no place in host memory.
  void eraseGlobals();

private:
  using Value = mlir::Value;

  // Builders; all insert before `current`.
  Value constant(int64_t value);
  Value constant64(int64_t value);
  Value generic(Value pointer);
  /// Value of the first result, or null. Pointers are passed as generic.
  Value call(llvm::StringRef name, mlir::Type result,
             llvm::ArrayRef<Value> operands);
  Value scratch();
  Value site();
  Value low16(Value word, mlir::Type type);
  /// Zero for a missing optional operand.
  Value orZero(Value value);
  void replace(llvm::ArrayRef<Value> values);
  /// Wraps the rest of the op's work in `if (predicate)`.
  void guard(Value predicate);
  /// Puts a fence of global memory in the place of the op.
  void makeFence(int32_t order, Scope scope);

  // One per group of ops; true when the op was handled.
  bool rewriteMemory(mlir::Operation *op);
  bool rewriteRegisters(mlir::Operation *op);
  bool rewriteBarriers(mlir::Operation *op);
  bool rewriteCopies(mlir::Operation *op);
  bool rewriteWarp(mlir::Operation *op);
  /// mma.sync on registers; the place of the four results.
  Value multiplyRegisters(mlir::ValueRange a, mlir::ValueRange b,
                          mlir::ValueRange c, int64_t k, DType typeA,
                          DType typeB);
  bool rewriteWgmma(mlir::Operation *op);
  bool rewriteConversions(mlir::Operation *op);

  mlir::ModuleOp module;
  std::vector<Site> &sites;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *current = nullptr;
  SiteId currentSite = 0;
  int ordinal = 0;
  mlir::Value scratchMemory;
  /// WGMMAs whose A in registers is the result of a fence.
  llvm::SmallPtrSet<mlir::Operation *, 8> fencedA;
  mlir::Type i16, i32, i64, f32, pointer, none;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_OPREWRITER_H
