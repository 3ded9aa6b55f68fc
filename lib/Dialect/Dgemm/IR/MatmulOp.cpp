// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm.matmul: builders, memory effects and the problem it states. Text form
// and verifier lie in files of their own.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

using namespace mlir;
using namespace mlir::dgemm;
using PlainType = ::dgemm::DType;

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

static ScalingAttr scalingFor(OpBuilder &builder, Value scale,
                              const ::dgemm::ScaleSpec &spec) {
  return scale ? ScalingAttr::get(builder.getContext(), spec) : ScalingAttr();
}

static void buildMatmul(OpBuilder &builder, OperationState &state,
                        ::dgemm::Layout layout, Value a, Value b, Value scaleA,
                        ScalingAttr scalingA, Value scaleB,
                        ScalingAttr scalingB, Value c, Value d) {
  Type result = isa<RankedTensorType>(d.getType()) ? d.getType() : Type();
  MatmulOp::build(builder, state, result, a, b, scaleA, scaleB, c,
                  /*epilogue_inputs=*/ValueRange(), d,
                  MatmulLayoutAttr::get(builder.getContext(),
                                        static_cast<MatmulLayout>(layout)),
                  scalingA, scalingB, /*fast_accumulate=*/UnitAttr(),
                  /*schedule=*/Attribute(), /*source=*/StringAttr());
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value a,
                     Value b, Value d, ::dgemm::Layout layout, Value c) {
  buildMatmul(builder, state, layout, a, b, {}, {}, {}, {}, c, d);
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value a,
                     Value b, Value scaleA, ::dgemm::ScaleSpec specA,
                     Value scaleB, ::dgemm::ScaleSpec specB, Value d, Value c) {
  // Scales exist for FP8 alone, and FP8 has one layout.
  buildMatmul(builder, state, ::dgemm::Layout::NT, a, b, scaleA,
              scalingFor(builder, scaleA, specA), scaleB,
              scalingFor(builder, scaleB, specB), c, d);
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

/// What a GEMM does to its operands when they are memrefs; on tensors it does
/// nothing that could be seen.
template <typename OpTy>
static void
gemmEffects(OpTy op,
            SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    // D is not read, not even with C: C is an operand of its own.
    MemoryEffects::Effect *effect =
        &operand == &op.getDMutable()
            ? static_cast<MemoryEffects::Effect *>(MemoryEffects::Write::get())
            : MemoryEffects::Read::get();
    effects.emplace_back(effect, &operand, /*stage=*/0,
                         /*effectOnFullRegion=*/true,
                         SideEffects::DefaultResource::get());
  }
}

void MatmulOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  gemmEffects(*this, effects);
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  gemmEffects(*this, effects);
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

Type MatmulOp::getAccumulatorType() {
  MLIRContext *context = getContext();
  Type element = cast<ShapedType>(getA().getType()).getElementType();
  return element.isInteger() ? Type(IntegerType::get(context, 32))
                             : Type(Float32Type::get(context));
}

/// The size that is known, if either is.
static int64_t knownSize(int64_t left, int64_t right) {
  return ShapedType::isDynamic(left) ? right : left;
}

::dgemm::Problem MatmulOp::getProblem() {
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  auto d = cast<ShapedType>(getD().getType());
  ::dgemm::Problem problem;
  problem.layout = static_cast<::dgemm::Layout>(getLayout());
  bool aTransposed = problem.layout == ::dgemm::Layout::TN ||
                     problem.layout == ::dgemm::Layout::TT;
  bool bTransposed = problem.layout == ::dgemm::Layout::NT ||
                     problem.layout == ::dgemm::Layout::TT;
  int64_t aRows = a.getDimSize(aTransposed ? 1 : 0);
  int64_t aDepth = a.getDimSize(aTransposed ? 0 : 1);
  int64_t bDepth = b.getDimSize(bTransposed ? 1 : 0);
  int64_t bCols = b.getDimSize(bTransposed ? 0 : 1);
  problem.m = toPlainSize(knownSize(d.getDimSize(0), aRows));
  problem.n = toPlainSize(knownSize(d.getDimSize(1), bCols));
  problem.k = toPlainSize(knownSize(aDepth, bDepth));
  problem.a = toDType(a.getElementType());
  problem.b = toDType(b.getElementType());
  problem.d = toDType(d.getElementType());
  if (std::optional<ScalingAttr> scaling = getScalingA())
    problem.scaleA = scaling->getValue();
  if (std::optional<ScalingAttr> scaling = getScalingB())
    problem.scaleB = scaling->getValue();
  problem.accumulate = static_cast<bool>(getC());
  problem.fastAccumulate = getFastAccumulate();
  return problem;
}
