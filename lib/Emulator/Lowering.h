// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From L3a to host IR in the LLVM dialect: every instruction of the device
// becomes a call of the emulator's runtime.

#ifndef DGEMM_EMULATOR_LOWERING_H
#define DGEMM_EMULATOR_LOWERING_H

#include "Machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace dgemm::emu {

/// What one kernel needs at a launch.
struct LoweredKernel {
  std::string entryName; ///< of the trampoline: void(void **arguments)
  /// One per parameter: bytes of a scalar, or 0 for a tensor map.
  std::vector<unsigned> parameterBytes;
  int threads = 0; ///< reqntid, 0 when not given
  int clusterSize = 1;
  /// CTAs poll global memory, so all must run at the same time.
  bool needsResidence = false;
  /// CTAs share global memory by atomics: one host thread keeps it repeatable.
  bool sharesGlobal = false;
  bool asyncCopies = false;  ///< holds cp.async
  bool waitsForGrid = false; ///< holds griddepcontrol.wait
};

struct LoweredModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, LoweredKernel> kernels;
  std::vector<Site> sites;
};

/// Leaves `source` as it is. Refuses ops that have no meaning here by name and
/// location.
Result<LoweredModule> lowerToHost(mlir::ModuleOp source);

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_LOWERING_H
