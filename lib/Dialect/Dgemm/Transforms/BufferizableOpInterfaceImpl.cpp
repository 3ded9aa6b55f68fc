// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Bufferization of dgemm.matmul and dgemm.launch: the same op on memrefs, the
// result being D's buffer.

#include "dgemm/Dialect/Dgemm/Transforms/BufferizableOpInterfaceImpl.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::dgemm;
using namespace mlir::bufferization;

namespace {
template <typename OpTy>
struct GemmModel
    : DstBufferizableOpInterfaceExternalModel<GemmModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    // The old content of D is never read, so no copy has to keep it.
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isa<TensorType>(operand.getType())) {
        FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
        if (failed(buffer))
          return failure();
        operand = *buffer;
      }
      operands.push_back(operand);
    }
    // The epilogue works on elements and so does not change. (Upstream's clone
    // with other operands cannot copy an empty region.)
    Operation *onBuffers = Operation::create(
        op->getLoc(), op->getName(), /*resultTypes=*/{}, operands,
        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
        /*successors=*/{}, op->getNumRegions());
    rewriter.insert(onBuffers);
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), onBuffers->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    replaceOpWithBufferizedValues(rewriter, op, cast<OpTy>(onBuffers).getD());
    return success();
  }
};
} // namespace

void mlir::dgemm::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DgemmDialect *) {
    MatmulOp::attachInterface<GemmModel<MatmulOp>>(*context);
    LaunchOp::attachInterface<GemmModel<LaunchOp>>(*context);
  });
}
