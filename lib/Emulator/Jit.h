// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Host code for a lowered module.

#ifndef DGEMM_EMULATOR_JIT_H
#define DGEMM_EMULATOR_JIT_H

#include "Lowering.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace dgemm::emu {

class HostCode {
public:
  /// Translates to LLVM IR and compiles without optimisation: compile time is
  /// most of the cost of a small run.
  static Result<std::unique_ptr<HostCode>> create(mlir::ModuleOp module);
  ~HostCode();

  using Entry = void (*)(void **);
  Result<Entry> lookup(const std::string &name) const;

private:
  HostCode();
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_JIT_H
