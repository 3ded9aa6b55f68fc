// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// #dgemm.target: which chips and PTX versions kernels can be made for. A wrong
// one must stop here, since LLVM ends the process over some of them.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

using namespace mlir;
using namespace mlir::dgemm;

/// Why a chip that is not sm_90a will not do.
static std::string chipObjection(StringRef chip) {
  if (chip == "sm_90")
    return "; plain sm_90 has no WGMMA and no setmaxnreg, which are specific "
           "to sm_90a";
  StringRef digits = chip;
  unsigned number = 0;
  if (digits.consume_front("sm_") && !digits.consumeInteger(10, number) &&
      (digits.empty() || digits == "a" || digits == "f"))
    return number < 90 ? "; that chip is older than Hopper and has no TMA"
                       : "; that chip is not Hopper and has other tensor core "
                         "instructions";
  return "; no chip of this name is known";
}

LogicalResult
TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef chip,
                   int64_t ptx, int64_t sharedMemoryPerBlock,
                   int64_t sharedMemoryPerSM, int64_t registersPerSM,
                   int64_t maxRegistersPerThread, int64_t maxThreadsPerBlock,
                   int64_t maxClusterSize) {
  if (chip != "sm_90a")
    return emitError() << "target chip: expected 'sm_90a', found '" << chip
                       << "'" << chipObjection(chip);
  if (ptx < 80 || ptx > 90)
    return emitError() << "target ptx: expected a PTX ISA version from 80 (the "
                          "first with sm_90a) to 90, found "
                       << ptx;
  if (ptx == 89)
    return emitError() << "target ptx: there is no PTX ISA version 8.9; the "
                          "nearest are 88 and 90";
  struct {
    StringRef name;
    int64_t value, most;
  } limits[] = {{"shared_memory_per_block", sharedMemoryPerBlock, 1 << 20},
                {"shared_memory_per_sm", sharedMemoryPerSM, 1 << 20},
                {"registers_per_sm", registersPerSM, 1 << 20},
                {"max_registers_per_thread", maxRegistersPerThread, 255},
                {"max_threads_per_block", maxThreadsPerBlock, 1024},
                {"max_cluster_size", maxClusterSize, 16}};
  for (auto [name, value, most] : limits)
    if (value < 1 || value > most)
      return emitError() << "target " << name << ": expected a value from 1 to "
                         << most << ", found " << value;
  return success();
}

TargetAttr TargetAttr::forChip(MLIRContext *context, StringRef chip,
                               int64_t ptx,
                               function_ref<InFlightDiagnostic()> emitError) {
  ::dgemm::TargetLimits limits;
  auto wide = [](int64_t value) { return value; };
  return getChecked(emitError, context, chip, ptx, limits.sharedMemoryPerBlock,
                    limits.sharedMemoryPerSM, wide(limits.registersPerSM),
                    wide(limits.maxRegistersPerThread),
                    wide(limits.maxThreadsPerBlock),
                    wide(limits.maxClusterSize));
}

::dgemm::TargetLimits TargetAttr::getLimits() const {
  ::dgemm::TargetLimits limits;
  limits.chip = getChip().str();
  limits.sharedMemoryPerBlock = getSharedMemoryPerBlock();
  limits.sharedMemoryPerSM = getSharedMemoryPerSm();
  limits.registersPerSM = getRegistersPerSm();
  limits.maxRegistersPerThread = getMaxRegistersPerThread();
  limits.maxThreadsPerBlock = getMaxThreadsPerBlock();
  limits.maxClusterSize = getMaxClusterSize();
  return limits;
}

TargetAttr TargetAttr::lookup(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(kAttrName))
      return target;
  return {};
}
