// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduction patterns: each makes a matmul simpler in one respect and leaves it
// legal, so that a fault that remains does not depend on that respect.

#include "dgemm/Dialect/Dgemm/Transforms/Reduction.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"

using namespace mlir;
using namespace mlir::dgemm;

static LogicalResult dropDecision(MatmulOp op, PatternRewriter &rewriter) {
  if (!op.getScheduleAttr())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.removeScheduleAttr();
    op.removeSourceAttr();
  });
  return success();
}

static LogicalResult dropEpilogue(MatmulOp op, PatternRewriter &rewriter) {
  if (!op.hasEpilogue())
    return failure();
  rewriter.eraseBlock(&op.getEpilogue().front());
  rewriter.modifyOpInPlace(op, [&] { op.getEpilogueInputsMutable().clear(); });
  return success();
}

static LogicalResult dropAccumulate(MatmulOp op, PatternRewriter &rewriter) {
  if (!op.getC())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getCMutable().clear(); });
  return success();
}

static LogicalResult dropScales(MatmulOp op, PatternRewriter &rewriter) {
  if (!op.getScaleA() && !op.getScaleB())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getScaleAMutable().clear();
    op.getScaleBMutable().clear();
    op.removeScalingAAttr();
    op.removeScalingBAttr();
  });
  return success();
}

namespace {
struct DgemmReduction : DialectReductionPatternInterface {
  // An inherited constructor would stay protected.
  explicit DgemmReduction(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &patterns) const final {
    patterns.add(dropDecision);
    patterns.add(dropEpilogue);
    patterns.add(dropAccumulate);
    patterns.add(dropScales);
  }
};
} // namespace

void mlir::dgemm::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, DgemmDialect *dialect) {
    dialect->addInterfaces<DgemmReduction>();
  });
}
