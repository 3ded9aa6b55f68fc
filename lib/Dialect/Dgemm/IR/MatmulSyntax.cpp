// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Text form of dgemm.matmul and dgemm.launch:
//
//   dgemm.matmul nt ins(%a, %b : T, T)
//     [scales(%sa by 1x128, %sb by 128x128 [mn_major] : T, T)] [acc(%c : T)]
//     [epilogue_ins(%x, ... : T, ...)] outs(%d : T) [-> T] [attr-dict]
//     [epilogue (%acc: f32, ...) { ... }]
//
// An operand without scales is written `_` and has no type.

#include "OperandSyntax.h"
#include "ScalingSyntax.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

using namespace mlir;
using namespace mlir::dgemm;

//===----------------------------------------------------------------------===//
// Operands, shared with dgemm.launch
//===----------------------------------------------------------------------===//

/// `_`, or a value with what `parseSuffix` reads after it.
static ParseResult
parseScaleOperand(OpAsmParser &parser,
                  std::optional<OpAsmParser::UnresolvedOperand> &operand,
                  function_ref<ParseResult()> parseSuffix) {
  if (succeeded(parser.parseOptionalKeyword("_")))
    return success();
  return failure(parser.parseOperand(operand.emplace()) || parseSuffix());
}

ParseResult mlir::dgemm::parseGemmOperands(
    OpAsmParser &parser, OperationState &state, GemmOperandTypes &types,
    std::array<int32_t, 7> &segments,
    function_ref<ParseResult(unsigned)> parseScaleSuffix) {
  using Unresolved = OpAsmParser::UnresolvedOperand;
  Unresolved a, b, d;
  std::optional<Unresolved> scales[2], c;
  SmallVector<Unresolved> inputs;
  SmallVector<Type> inputTypes;

  if (parser.parseKeyword("ins") || parser.parseLParen() ||
      parser.parseOperand(a) || parser.parseComma() || parser.parseOperand(b) ||
      parser.parseColonType(types.a) || parser.parseComma() ||
      parser.parseType(types.b) || parser.parseRParen())
    return failure();

  if (succeeded(parser.parseOptionalKeyword("scales"))) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen() ||
        parseScaleOperand(parser, scales[0],
                          [&] { return parseScaleSuffix(0); }) ||
        parser.parseComma() || parseScaleOperand(parser, scales[1], [&] {
          return parseScaleSuffix(1);
        }))
      return failure();
    if (!scales[0] && !scales[1])
      return parser.emitError(loc, "scales: expected scales of a or b, found "
                                   "'_' for both");
    if (parser.parseColon() || (scales[0] && parser.parseType(types.scaleA)) ||
        (scales[0] && scales[1] && parser.parseComma()) ||
        (scales[1] && parser.parseType(types.scaleB)) || parser.parseRParen())
      return failure();
  }

  if (succeeded(parser.parseOptionalKeyword("acc")))
    if (parser.parseLParen() || parser.parseOperand(c.emplace()) ||
        parser.parseColonType(types.c) || parser.parseRParen())
      return failure();

  SMLoc inputsLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("epilogue_ins")))
    if (parser.parseLParen() || parser.parseOperandList(inputs) ||
        parser.parseColonTypeList(inputTypes) || parser.parseRParen())
      return failure();

  if (parser.parseKeyword("outs") || parser.parseLParen() ||
      parser.parseOperand(d) || parser.parseColonType(types.d) ||
      parser.parseRParen())
    return failure();

  SmallVectorImpl<Value> &operands = state.operands;
  if (parser.resolveOperand(a, types.a, operands) ||
      parser.resolveOperand(b, types.b, operands) ||
      (scales[0] &&
       parser.resolveOperand(*scales[0], types.scaleA, operands)) ||
      (scales[1] &&
       parser.resolveOperand(*scales[1], types.scaleB, operands)) ||
      (c && parser.resolveOperand(*c, types.c, operands)) ||
      parser.resolveOperands(inputs, inputTypes, inputsLoc, operands) ||
      parser.resolveOperand(d, types.d, operands))
    return failure();
  segments = {1,
              1,
              scales[0].has_value(),
              scales[1].has_value(),
              c.has_value(),
              static_cast<int32_t>(inputs.size()),
              1};

  Type result;
  if (succeeded(parser.parseOptionalArrow())) {
    if (parser.parseType(result))
      return failure();
    state.addTypes(result);
  }
  return success();
}

template <typename OpTy>
static void printOperands(OpTy op, OpAsmPrinter &printer,
                          function_ref<void(unsigned)> printScaleSuffix) {
  printer << " ins(" << op.getA() << ", " << op.getB() << " : "
          << op.getA().getType() << ", " << op.getB().getType() << ')';
  if (op.getScaleA() || op.getScaleB()) {
    printer << " scales(";
    SmallVector<Type> types;
    const Value scales[] = {op.getScaleA(), op.getScaleB()};
    for (auto [index, scale] : llvm::enumerate(scales)) {
      if (index != 0)
        printer << ", ";
      if (!scale) {
        printer << '_';
        continue;
      }
      printer << scale;
      printScaleSuffix(index);
      types.push_back(scale.getType());
    }
    printer << " : " << types << ')';
  }
  if (op.getC())
    printer << " acc(" << op.getC() << " : " << op.getC().getType() << ')';
  if (!op.getEpilogueInputs().empty())
    printer << " epilogue_ins(" << op.getEpilogueInputs() << " : "
            << op.getEpilogueInputs().getTypes() << ')';
  printer << " outs(" << op.getD() << " : " << op.getD().getType() << ')';
  if (op.getResult())
    printer << " -> " << op.getResult().getType();
}

void mlir::dgemm::printGemmOperands(LaunchOp op, OpAsmPrinter &printer) {
  printOperands(op, printer, [](unsigned) {});
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

ParseResult MatmulOp::parse(OpAsmParser &parser, OperationState &state) {
  MLIRContext *context = parser.getContext();
  auto &properties = state.getOrAddProperties<MatmulOp::Properties>();
  SMLoc layoutLoc = parser.getCurrentLocation();
  StringRef layoutWord;
  if (parser.parseKeyword(&layoutWord))
    return failure();
  auto layout = ::dgemm::parseLayout(layoutWord.str());
  if (!layout)
    return parser.emitError(layoutLoc, layout.message());
  properties.layout =
      MatmulLayoutAttr::get(context, static_cast<MatmulLayout>(*layout));

  ::dgemm::ScaleSpec scales[2];
  GemmOperandTypes types;
  SMLoc operandsLoc = parser.getCurrentLocation();
  if (parseGemmOperands(parser, state, types, properties.operandSegmentSizes,
                        [&](unsigned index) -> ParseResult {
                          return failure(
                              parser.parseKeyword("by") ||
                              parseScaleBlock(parser, scales[index]) ||
                              parseOptionalMajor(parser, scales[index]));
                        }))
    return failure();
  const Type scaleTypes[] = {types.scaleA, types.scaleB};
  for (auto [index, type] : llvm::enumerate(scaleTypes)) {
    if (!type)
      continue;
    auto shaped = dyn_cast<ShapedType>(type);
    scales[index].type =
        shaped ? toDType(shaped.getElementType()) : ::dgemm::DType::None;
    auto scaling = ScalingAttr::getChecked(
        [&] {
          return parser.emitError(operandsLoc)
                 << "operand " << (index ? "scale_b" : "scale_a") << " of type "
                 << type << ": ";
        },
        context, scales[index]);
    if (!scaling)
      return failure();
    (index ? properties.scaling_b : properties.scaling_a) = scaling;
  }

  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  std::unique_ptr<Region> epilogue = std::make_unique<Region>();
  if (succeeded(parser.parseOptionalKeyword("epilogue"))) {
    SmallVector<OpAsmParser::Argument> arguments;
    if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                                 /*allowType=*/true) ||
        parser.parseRegion(*epilogue, arguments))
      return failure();
  }
  state.addRegion(std::move(epilogue));
  return success();
}

void MatmulOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyMatmulLayout(getLayout());
  printOperands(*this, printer, [&](unsigned index) {
    ScalingAttr scaling = index ? getScalingBAttr() : getScalingAAttr();
    printer << " by ";
    printScaleBlock(printer.getStream(), scaling.getValue());
    if (scaling.getValue().major == ::dgemm::ScaleMajor::MN)
      printer << " mn_major";
  });
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getLayoutAttrName(), getScalingAAttrName(),
                                 getScalingBAttrName(), "operandSegmentSizes"});
  if (getEpilogue().empty())
    return;
  printer << " epilogue (";
  llvm::interleaveComma(
      getEpilogue().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(getEpilogue(), /*printEntryBlockArgs=*/false);
}
