// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins the metadata of a launch's kernels into one document.

#include "dgemm/Pipelines/Pipelines.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::LaunchMetadata;

FailureOr<LaunchMetadata> mlir::dgemm::collectLaunchMetadata(LaunchOp launch) {
  LaunchMetadata document;
  auto kernels = launch.getKernels();
  for (auto [row, attribute] : llvm::enumerate(kernels)) {
    auto symbol = cast<SymbolRefAttr>(attribute);
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(launch, symbol);
    auto text = kernel ? kernel->getAttrOfType<StringAttr>(
                             DgemmDialect::kLaunchMetadataAttr)
                       : StringAttr();
    if (!text)
      return launch.emitOpError() << "kernel " << symbol
                                  << " has no launch metadata; run "
                                     "convert-dgemm-to-nvvm";
    ::dgemm::Result<LaunchMetadata> one =
        ::dgemm::parseLaunchMetadata(text.str());
    if (!one)
      return launch.emitOpError()
             << "launch metadata of " << symbol << ": " << one.message();
    if (row == 0) {
      document.chip = one->chip;
      document.problem = one->problem;
    }
    document.kernels.push_back(one->kernels.front());
    document.dispatch.push_back({launch.getMaxM(row), static_cast<int>(row)});
  }
  return document;
}
