// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One module on its way down, in an MLIR context of its own. A context for each
// compilation keeps threads apart and gives all its memory back at the end;
// making one costs far less than any pass.

#ifndef DGEMM_LIB_JIT_LOWERING_H
#define DGEMM_LIB_JIT_LOWERING_H

#include "Diagnostics.h"

#include "dgemm/JIT/Compiler.h"
#include "dgemm/JIT/EmitPTX.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>

namespace dgemm::jit {

using SharedDatabase = std::shared_ptr<const TuningDatabase>;

/// The tuning database of a compilation.
Result<SharedDatabase> openDatabase(const CompileOptions &options);

class Lowering {
public:
  /// Parses and verifies text or bytecode. The error carries locations.
  static Result<std::unique_ptr<Lowering>> parse(const std::string &text,
                                                 const CompileOptions &options,
                                                 SharedDatabase database);
  /// A module with one dgemm.matmul in a function.
  static Result<std::unique_ptr<Lowering>> build(const Problem &problem,
                                                 const CompileOptions &options,
                                                 SharedDatabase database);

  /// An artifact holds one GEMM: an error unless the module has exactly one
  /// dgemm.matmul, or none but kernels that were made from one.
  Status checkOneGemm();

  /// All that the tuning database knows of the GEMM of a module that has not
  /// been lowered, as text: with the module and the options it determines what
  /// will be chosen and said.
  std::string describeTuning();

  /// Lowers up to a stage not before the present one, NVVM at most.
  Status lowerTo(Stage stage);
  /// LLVM IR and PTX of a module lowered to NVVM.
  Result<EmittedCode> emit(bool wantLLVMIR);

  /// Text of the module; with locations it can be compiled further without
  /// losing the way back to the source.
  std::string print(bool withLocations) const;

  /// Launch metadata out of the kernels of a module at the machine level.
  Result<LaunchMetadata> metadata();

  /// What the passes had to say about their choices.
  const std::string &remarks() const { return diagnostics.remarks(); }

private:
  Lowering(const CompileOptions &options, SharedDatabase database);
  Status runStage(Stage next);

  CompileOptions options;
  SharedDatabase database;
  mlir::MLIRContext context;
  DiagnosticCollector diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The stage reached; nothing yet for the module as given.
  bool lowered = false;
  Stage reached = Stage::Schedule;
};

} // namespace dgemm::jit

#endif // DGEMM_LIB_JIT_LOWERING_H
