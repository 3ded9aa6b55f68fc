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

static Value emitAsm(OpBuilder &builder, Location loc, Type result,
                     ValueRange operands, StringRef text,
                     StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             builder, loc, result, operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(builder.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             ArrayAttr())
      .getResult(0);
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
    // Accumulators, or operands of a WGMMA that are pinned.
    constraints += operand.getType().isInteger() ? "=r," : "=f,";
    types.push_back(operand.getType());
  }
  for (size_t i = 0; i < operands.size(); ++i)
    constraints += std::to_string(i) + (i + 1 < operands.size() ? "," : "");
  auto all = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value result = emitAsm(builder, loc, all, operands, text, constraints);
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

struct WgmmaRegistersPattern : OpConversionPattern<WgmmaRegistersOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WgmmaRegistersOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Upstream's op takes A by descriptor only.
    const Location loc = op.getLoc();
    const int64_t count = op.getN() / 2;
    std::string outs, ins, list;
    SmallVector<Value> operands;
    for (int64_t i = 0; i < count; ++i) {
      operands.push_back(LLVM::ExtractValueOp::create(
          rewriter, loc, adaptor.getAccumulator(), i));
      outs += "=f,";
      ins += std::to_string(i) + ",";
      list += (i ? ",$" : "$") + std::to_string(i);
    }
    // Operands are numbered on after the results and what is tied to them.
    std::string registers;
    for (int64_t i = 0; i < 4; ++i) {
      operands.push_back(
          LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getA(), i));
      registers += (i ? ",$" : "$") + std::to_string(2 * count + i);
    }
    operands.push_back(adaptor.getDescriptorB());
    const auto name = [](Type type) {
      return NVVM::stringifyWGMMATypes(wgmmaType(type)).str();
    };
    std::string text =
        std::string("{ .reg .pred p; setp.ne.b32 p, ") +
        (op.getScaleD() == "zero" ? "0" : "1") +
        ", 0; wgmma.mma_async.sync.aligned.m64n" + std::to_string(op.getN()) +
        "k" + std::to_string(op.getK()) + ".f32." + name(op.getAType()) + "." +
        name(op.getBType()) + " {" + list + "}, {" + registers + "}, $" +
        std::to_string(2 * count + 4) + ", p, 1, 1";
    if (op.getK() == 16)
      text += op.getTransB() ? ", 1" : ", 0";
    text += "; }";
    rewriter.replaceOp(op, emitAsm(rewriter, loc, registersOf(op.getType()),
                                   operands, text, outs + ins + "r,r,r,r,l"));
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

/// Upstream's op takes 16-bit operands; for 8-bit ones it has no form.
struct MmaSyncPattern : OpConversionPattern<MmaSyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaSyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    SmallVector<Value> operands(adaptor.getOperands());
    SmallVector<Type> types(op->getResultTypes());
    auto registers = LLVM::LLVMStructType::getLiteral(op.getContext(), types);
    Value all;
    if (op.getK() == 16) {
      // NVVM names the registers of f16 by their elements.
      if (op.getAType().isF16())
        for (Value &operand : MutableArrayRef(operands).take_front(6))
          operand = LLVM::BitcastOp::create(
              rewriter, loc, VectorType::get(2, op.getAType()), operand);
      const NVVM::MMATypes type =
          op.getAType().isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
      const ArrayRef<Value> values = operands;
      all = NVVM::MmaOp::create(
          rewriter, loc, registers, values.slice(0, 4), values.slice(4, 2),
          values.slice(6, 4), ArrayRef<int64_t>{16, 8, 16},
          /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
          std::array{type, type},
          std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    } else {
      const auto name = [](Type type) {
        return isa<Float8E5M2Type>(type) ? "e5m2" : "e4m3";
      };
      const std::string text =
          std::string("mma.sync.aligned.m16n8k32.row.col.f32.") +
          name(op.getAType()) + "." + name(op.getBType()) +
          ".f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};";
      all = emitAsm(rewriter, loc, registers, operands, text,
                    "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f");
    }
    SmallVector<Value> results;
    for (int64_t i = 0; i < 4; ++i)
      results.push_back(LLVM::ExtractValueOp::create(rewriter, loc, all, i));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LoadGlobalPattern : OpConversionPattern<LoadGlobalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    const Type i32 = rewriter.getI32Type();
    auto vector = dyn_cast<VectorType>(op.getType());
    const int64_t words = vector ? vector.getNumElements() : 1;
    SmallVector<Value> operands = {adaptor.getAddress()};
    std::string constraints, list, zeros;
    for (int64_t i = 0; i < words; ++i) {
      const std::string name = "$" + std::to_string(i);
      // Written before the address is read when they are zeroed.
      constraints += op.getPredicate() ? "=&r," : "=r,";
      list += (i ? "," : "") + name;
      zeros += "mov.b32 " + name + ", 0; ";
    }
    constraints += "l";
    std::string load = "ld.global.nc";
    if (op.getNoAllocate())
      load += ".L1::no_allocate";
    if (op.getEvictFirst())
      load += ".L2::cache_hint";
    if (words > 1) {
      load += ".v" + std::to_string(words);
      list = "{" + list + "}";
    }
    load += ".b32 " + list + ", [$" + std::to_string(words) + "]";
    if (op.getEvictFirst()) {
      // The policy that createpolicy.fractional.L2::evict_first gives for the
      // fraction 1.
      operands.push_back(LLVM::ConstantOp::create(
          rewriter, loc, rewriter.getI64Type(),
          rewriter.getI64IntegerAttr(0x12F0000000000000)));
      load += ", $" + std::to_string(words + 1);
      constraints += ",l";
    }
    load += ";";
    if (op.getPredicate()) {
      const std::string last = "$" + std::to_string(words + operands.size());
      operands.push_back(
          LLVM::ZExtOp::create(rewriter, loc, i32, adaptor.getPredicate()));
      constraints += ",r";
      load = "{ .reg .pred p; setp.ne.b32 p, " + last + ", 0; " + zeros +
             "@p " + load + " }";
    }
    if (!vector) {
      rewriter.replaceOp(
          op, emitAsm(rewriter, loc, i32, operands, load, constraints));
      return success();
    }
    Value all =
        emitAsm(rewriter, loc,
                LLVM::LLVMStructType::getLiteral(
                    op.getContext(), SmallVector<Type>(size_t(words), i32)),
                operands, load, constraints);
    Value result = LLVM::PoisonOp::create(rewriter, loc, vector);
    for (int64_t i = 0; i < words; ++i) {
      Value word = LLVM::ExtractValueOp::create(rewriter, loc, all, i);
      Value index = LLVM::ConstantOp::create(rewriter, loc, i32,
                                             rewriter.getI32IntegerAttr(i));
      result =
          LLVM::InsertElementOp::create(rewriter, loc, result, word, index);
    }
    rewriter.replaceOp(op, result);
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
    patterns.add<UndefPattern, WgmmaPattern, WgmmaRegistersPattern,
                 FencePattern, WaitPattern, MmaSyncPattern, LoadGlobalPattern>(
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
