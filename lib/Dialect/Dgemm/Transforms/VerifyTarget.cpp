// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-verify-target: the one place where a chip and a PTX version enter the
// IR. Everything later reads the module's attribute.

#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMVERIFYTARGETPASS
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct VerifyTarget
    : mlir::dgemm::impl::DgemmVerifyTargetPassBase<VerifyTarget> {
  using DgemmVerifyTargetPassBase::DgemmVerifyTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetAttr target = TargetAttr::forChip(
        &getContext(), chip, ptx, [&] { return emitError(module.getLoc()); });
    if (!target)
      return signalPassFailure();
    Attribute present = module->getAttr(TargetAttr::kAttrName);
    if (!present) {
      module->setAttr(TargetAttr::kAttrName, target);
      return;
    }
    auto given = dyn_cast<TargetAttr>(present);
    if (!given) {
      emitError(module.getLoc())
          << "attribute '" << TargetAttr::kAttrName
          << "': expected #dgemm.target, found " << present;
      return signalPassFailure();
    }
    // A module may carry lower limits than the chip's, so only what the
    // options name has to agree.
    if (given.getChip() != target.getChip() ||
        given.getPtx() != target.getPtx()) {
      InFlightDiagnostic error = emitError(module.getLoc())
                                 << "attribute '" << TargetAttr::kAttrName
                                 << "': expected " << target
                                 << " as the options say, found " << given;
      error.attachNote() << "remove the attribute, or pass chip="
                         << given.getChip() << " ptx=" << given.getPtx();
      return signalPassFailure();
    }
  }
};
} // namespace
