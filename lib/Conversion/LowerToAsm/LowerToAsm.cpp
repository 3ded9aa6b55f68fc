// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine ops to NVVM ops and tied assembly.

#include "dgemm/Conversion/LowerToAsm/LowerToAsm.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMLOWERTOASMPASS
#include "dgemm/Conversion/LowerToAsm/Passes.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

static LLVM::LLVMStructType registersOf(InflightType type) {
  SmallVector<Type> values(type.getCols() / 2, type.getElementType());
  return LLVM::LLVMStructType::getLiteral(type.getContext(), values);
}

/// Emits `text` with every register of the structs `ins` as an operand that is
/// read and written in place; returns structs of the same types. The data edge
/// is what keeps accesses on their side of the instruction.
static SmallVector<Value> emitTied(OpBuilder &builder, Location loc,
                                   StringRef text, ValueRange ins) {
  SmallVector<Value> operands;
  for (Value in : ins) {
    auto type = cast<LLVM::LLVMStructType>(in.getType());
    for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
      operands.push_back(LLVM::ExtractValueOp::create(builder, loc, in, i));
  }
  std::string constraints;
  SmallVector<Type> types;
  for (Value operand : operands) {
    constraints += "=f,";
    types.push_back(operand.getType());
  }
  for (size_t i = 0; i < operands.size(); ++i)
    constraints += std::to_string(i) + (i + 1 < operands.size() ? "," : "");
  auto all = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value result = LLVM::InlineAsmOp::create(
                     builder, loc, all, operands, text, constraints,
                     /*has_side_effects=*/true, /*is_align_stack=*/false,
                     LLVM::tailcallkind::TailCallKind::None,
                     LLVM::AsmDialectAttr::get(builder.getContext(),
                                               LLVM::AsmDialect::AD_ATT),
                     ArrayAttr())
                     .getResult(0);
  SmallVector<Value> outs;
  int64_t next = 0;
  for (Value in : ins) {
    auto type = cast<LLVM::LLVMStructType>(in.getType());
    Value out = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t i = 0, e = type.getBody().size(); i < e; ++i) {
      Value value = LLVM::ExtractValueOp::create(builder, loc, result, next++);
      out = LLVM::InsertValueOp::create(builder, loc, out, value, i);
    }
    outs.push_back(out);
  }
  return outs;
}

static NVVM::WGMMATypes wgmmaType(Type type) {
  if (type.isBF16())
    return NVVM::WGMMATypes::bf16;
  if (type.isF16())
    return NVVM::WGMMATypes::f16;
  if (isa<Float8E5M2Type>(type))
    return NVVM::WGMMATypes::e5m2;
  return NVVM::WGMMATypes::e4m3;
}

namespace {
struct UndefPattern : OpConversionPattern<WgmmaUndefOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WgmmaUndefOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::PoisonOp>(op, registersOf(op.getType()));
    return success();
  }
};

struct WgmmaPattern : OpConversionPattern<WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WgmmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MLIRContext *context = op.getContext();
    auto layout = [](bool transposed, NVVM::MMALayout kMajor,
                     NVVM::MMALayout other) {
      return transposed ? other : kMajor;
    };
    rewriter.replaceOpWithNewOp<NVVM::WgmmaMmaAsyncOp>(
        op, registersOf(op.getType()), adaptor.getAccumulator(),
        adaptor.getDescriptorA(), adaptor.getDescriptorB(),
        NVVM::MMAShapeAttr::get(context, 64, op.getN(), op.getK()),
        wgmmaType(op.getAType()), wgmmaType(op.getBType()),
        NVVM::WGMMATypes::f32,
        op.getScaleD() == "zero" ? NVVM::WGMMAScaleOut::zero
                                 : NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
        layout(op.getTransA(), NVVM::MMALayout::row, NVVM::MMALayout::col),
        layout(op.getTransB(), NVVM::MMALayout::col, NVVM::MMALayout::row),
        NVVM::MMAIntOverflowAttr());
    return success();
  }
};

struct FencePattern : OpConversionPattern<WgmmaFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WgmmaFenceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getOperands().empty()) {
      rewriter.replaceOpWithNewOp<NVVM::WgmmaFenceAlignedOp>(op);
      return success();
    }
    rewriter.replaceOp(op, emitTied(rewriter, op.getLoc(),
                                    "wgmma.fence.sync.aligned;",
                                    adaptor.getOperands()));
    return success();
  }
};

struct WaitPattern : OpConversionPattern<WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WgmmaWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getOperands().empty()) {
      rewriter.replaceOpWithNewOp<NVVM::WgmmaWaitGroupSyncOp>(
          op, static_cast<uint64_t>(op.getPending()));
      return success();
    }
    std::string text = "wgmma.wait_group.sync.aligned " +
                       std::to_string(op.getPending()) + ";";
    rewriter.replaceOp(
        op, emitTied(rewriter, op.getLoc(), text, adaptor.getOperands()));
    return success();
  }
};

struct LowerToAsmPass
    : public mlir::dgemm::impl::DgemmLowerToAsmPassBase<LowerToAsmPass> {
  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](InflightType type) -> Type { return registersOf(type); });
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<UndefPattern, WgmmaPattern, FencePattern, WaitPattern>(
        converter, context);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    target.addIllegalDialect<DgemmDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
