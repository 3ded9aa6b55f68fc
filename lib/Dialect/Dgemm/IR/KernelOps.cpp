// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Text forms and verifiers of the kernel ops (L2).

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Runtime/KernelInterface.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::KernelArgument;
using ::dgemm::KernelMetadata;

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

static KernelMetadata describe(KernelOp kernel) {
  return ::dgemm::describeKernel(
      kernel.getSymName().str(), kernel.getProblem().getValue(),
      kernel.getSchedule().getValue(), kernel.getSource().str());
}

/// The IR type of a kernel parameter.
static Type argumentType(MLIRContext *context, const KernelArgument &argument) {
  switch (argument.kind) {
  case KernelArgument::Kind::TensorMap:
    return TensorMapType::get(context);
  case KernelArgument::Kind::Pointer:
    return LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
  case KernelArgument::Kind::Size64:
    return IntegerType::get(context, 64);
  case KernelArgument::Kind::Size32:
  case KernelArgument::Kind::RasterGroup:
    return IntegerType::get(context, 32);
  case KernelArgument::Kind::Alpha:
  case KernelArgument::Kind::Beta:
    return Float32Type::get(context);
  }
  return {};
}

SmallVector<Type>
KernelOp::getParameterTypes(MLIRContext *context,
                            const ::dgemm::KernelMetadata &metadata) {
  SmallVector<Type> types;
  for (const KernelArgument &argument : metadata.arguments)
    types.push_back(argumentType(context, argument));
  return types;
}

template <typename Predicate>
static Value findArgument(KernelOp kernel, Predicate matches) {
  KernelMetadata metadata = describe(kernel);
  for (auto [index, argument] : llvm::enumerate(metadata.arguments))
    if (matches(argument))
      return kernel.getBody().getArgument(index);
  return {};
}

static Value findTensorMap(KernelOp kernel, ::dgemm::Operand operand,
                           bool lastRows) {
  KernelMetadata metadata = describe(kernel);
  for (auto [index, argument] : llvm::enumerate(metadata.arguments))
    if (argument.kind == KernelArgument::Kind::TensorMap &&
        argument.operand == operand &&
        metadata.tensorMaps[argument.tensorMap].lastRows == lastRows)
      return kernel.getBody().getArgument(index);
  return {};
}

Value KernelOp::getTensorMap(::dgemm::Operand operand) {
  return findTensorMap(*this, operand, /*lastRows=*/false);
}
Value KernelOp::getLastRowsMap(::dgemm::Operand operand) {
  return findTensorMap(*this, operand, /*lastRows=*/true);
}
Value KernelOp::getPointer(::dgemm::Operand operand) {
  return findArgument(*this, [&](const KernelArgument &argument) {
    return argument.kind == KernelArgument::Kind::Pointer &&
           argument.operand == operand;
  });
}
Value KernelOp::getSize(::dgemm::Symbol symbol) {
  return findArgument(*this, [&](const KernelArgument &argument) {
    return (argument.kind == KernelArgument::Kind::Size32 ||
            argument.kind == KernelArgument::Kind::Size64) &&
           argument.symbol == symbol;
  });
}
Value KernelOp::getRasterGroup() {
  return findArgument(*this, [](const KernelArgument &argument) {
    return argument.kind == KernelArgument::Kind::RasterGroup;
  });
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(getBody().getArguments(), printer, [&](Value argument) {
    printer << argument << ": " << argument.getType();
  });
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {SymbolTable::getSymbolAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult KernelOp::verify() {
  // The name becomes the entry of a PTX module, as it is.
  StringRef name = getSymName();
  if (name.empty() || llvm::isDigit(name.front()) ||
      !llvm::all_of(name, [](char character) {
        return llvm::isAlnum(character) || character == '_';
      }))
    return emitOpError() << "name must consist of letters, digits and _ and "
                         << "not begin with a digit, found " << name;
  SmallVector<Type> expected = getParameterTypes(getContext(), describe(*this));
  TypeRange found = getBody().getArgumentTypes();
  if (found.size() != expected.size())
    return emitOpError() << "expected " << expected.size()
                         << " parameters for this problem and schedule, found "
                         << found.size();
  for (auto [index, type] : llvm::enumerate(expected))
    if (found[index] != type)
      return emitOpError() << "parameter " << index << ": expected " << type
                           << ", found " << found[index];
  return success();
}

//===----------------------------------------------------------------------===//
// role
//===----------------------------------------------------------------------===//

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringRef role;
  int32_t registers = 0;
  if (parser.parseKeyword(&role) || parser.parseKeyword("registers") ||
      parser.parseInteger(registers))
    return failure();
  result.addAttribute("role", builder.getStringAttr(role));
  result.addAttribute("registers", builder.getI32IntegerAttr(registers));
  SmallVector<OpAsmParser::Argument> arguments;
  if (succeeded(parser.parseOptionalLParen())) {
    OpAsmParser::Argument warpgroup;
    if (parser.parseArgument(warpgroup) || parser.parseRParen())
      return failure();
    warpgroup.type = builder.getI32Type();
    arguments.push_back(warpgroup);
  }
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  // `{}` is how a body without ops or arguments is printed.
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << " " << getRole() << " registers " << getRegisters();
  if (getBody().getNumArguments() == 1)
    printer << " (" << getBody().getArgument(0) << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"role", "registers"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult RoleOp::verify() {
  if (getRole() != "producer" && getRole() != "consumer")
    return emitOpError() << "role must be producer or consumer, found "
                         << getRole();
  unsigned expected = isProducer() ? 0 : 1;
  if (getBody().getNumArguments() != expected ||
      (expected == 1 && !getBody().getArgument(0).getType().isInteger(32)))
    return emitOpError() << "a " << getRole() << " region takes "
                         << (expected ? "the warpgroup's number (i32)"
                                      : "no arguments");
  if (getRegisters() != 0 &&
      (getRegisters() < 24 || getRegisters() > 240 || getRegisters() % 8 != 0))
    return emitOpError() << "registers must be 0 or a multiple of 8 between "
                         << "24 and 240, found " << getRegisters();
  return success();
}

//===----------------------------------------------------------------------===//
// tiles
//===----------------------------------------------------------------------===//

void TilesOp::build(OpBuilder &builder, OperationState &state, ValueRange inits,
                    Value lane, int32_t lanes, bool shares) {
  state.addOperands(inits);
  if (lane)
    state.addOperands(lane);
  state.addTypes(inits.getTypes());
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(inits.size()),
                                    lane ? 1 : 0};
  properties.lanes = builder.getI32IntegerAttr(lanes);
  if (shares)
    properties.shares = builder.getUnitAttr();
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  Type i32 = builder.getI32Type();
  unsigned described = kCornerArguments + (shares ? kShareArguments : 0);
  for (unsigned i = 0; i < described; ++i)
    block.addArgument(i32, state.location);
  for (Value init : inits)
    block.addArgument(init.getType(), init.getLoc());
}

ParseResult TilesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type i32 = builder.getI32Type();
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseDescription = [&](unsigned count) -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<OpAsmParser::Argument> parsed;
    if (parser.parseArgumentList(parsed, AsmParser::Delimiter::Paren))
      return failure();
    if (parsed.size() != count)
      return parser.emitError(loc)
             << "expected " << count << " arguments, found " << parsed.size();
    for (OpAsmParser::Argument &argument : parsed) {
      argument.type = i32;
      arguments.push_back(argument);
    }
    return success();
  };
  if (parseDescription(kCornerArguments))
    return failure();
  bool shares = succeeded(parser.parseOptionalKeyword("shares"));
  if (shares && parseDescription(kShareArguments))
    return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  int32_t numInits = 0, numLane = 0, lanes = 1;
  if (succeeded(parser.parseOptionalKeyword("lane"))) {
    OpAsmParser::UnresolvedOperand lane;
    if (parser.parseOperand(lane) || parser.parseKeyword("of") ||
        parser.parseInteger(lanes))
      return failure();
    inits.push_back(lane);
    numLane = 1;
  }
  if (succeeded(parser.parseOptionalKeyword("iter_args"))) {
    auto parseOne = [&]() -> ParseResult {
      OpAsmParser::Argument argument;
      OpAsmParser::UnresolvedOperand init;
      if (parser.parseArgument(argument) || parser.parseEqual() ||
          parser.parseOperand(init) || parser.parseColonType(argument.type))
        return failure();
      types.push_back(argument.type);
      arguments.push_back(argument);
      inits.insert(inits.begin() + numInits++, init);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
      return failure();
  }
  result.addTypes(types);
  SmallVector<Type> operandTypes(types);
  if (numLane)
    operandTypes.push_back(i32);
  if (parser.resolveOperands(inits, operandTypes, parser.getNameLoc(),
                             result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {numInits, numLane};
  properties.lanes = builder.getI32IntegerAttr(lanes);
  if (shares)
    properties.shares = builder.getUnitAttr();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void TilesOp::print(OpAsmPrinter &printer) {
  printer << " (" << getRow() << ", " << getColumn() << ")";
  if (getShares())
    printer << " shares(" << getFirstStep() << ", " << getEndStep() << ", "
            << getPart() << ", " << getParts() << ", " << getPlace() << ")";
  if (getLane())
    printer << " lane " << getLane() << " of " << getLanes();
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(
        llvm::zip(getCarried(), getInits()), printer, [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
                  << std::get<1>(pair).getType();
        });
    printer << ")";
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"lanes", "operandSegmentSizes", "shares"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult TilesOp::verify() {
  SmallVector<Type> arguments(getBody().getArgumentTypes());
  if (arguments.size() != getInits().size() + numTileArguments())
    return emitOpError() << "the body takes row, column"
                         << (getShares() ? ", 5 numbers of its share" : "")
                         << " and " << getInits().size()
                         << " carried values, found " << arguments.size()
                         << " arguments";
  auto described = ArrayRef(arguments).take_front(numTileArguments());
  if (!llvm::all_of(described, [](Type type) { return type.isInteger(32); }))
    return emitOpError() << "row and column"
                         << (getShares() ? " and the share" : "")
                         << " must be i32";
  if (!llvm::equal(ArrayRef(arguments).drop_front(numTileArguments()),
                   getInits().getTypes()) ||
      getInits().getTypes() != getResultTypes())
    return emitOpError()
           << "iter_args, body arguments and results must have the same types";
  auto next = dyn_cast<NextOp>(getBody().front().getTerminator());
  if (!next || next.getValues().getTypes() != getResultTypes())
    return emitOpError() << "the body must end with dgemm.next of the carried "
                         << "values";
  if (getLanes() < 1 || (getLanes() > 1 && !getLane()))
    return emitOpError() << "lanes must be positive and needs a lane, found "
                         << getLanes();
  if (auto numbers = getNumbers();
      numbers && *numbers != "fetch" && *numbers != "receive")
    return emitOpError() << "numbers must be fetch or receive, found "
                         << *numbers;
  if (getShares() && (getNumbers() || getLane()))
    return emitOpError("shares follow from the CTA's number alone: expected "
                       "neither numbers nor a lane");
  return success();
}

//===----------------------------------------------------------------------===//
// Tile-level and ring ops
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  StringRef operand = getOperand();
  if (operand != "a" && operand != "b" && operand != "scale_a")
    return emitOpError() << "operand must be \"a\", \"b\" or \"scale_a\", "
                         << "found \"" << operand << "\"";
  return success();
}

LogicalResult TileMmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  FragmentType result = getResult().getType();
  if (a.getCols() != b.getCols())
    return emitOpError() << "A and B tiles must agree in K, found "
                         << a.getCols() << " and " << b.getCols();
  if (result.getRows() != a.getRows() || result.getCols() != b.getRows())
    return emitOpError() << "expected a " << a.getRows() << "x" << b.getRows()
                         << " result, found " << result;
  return success();
}

static LogicalResult verifyMember(Operation *op, RingType ring,
                                  int64_t member) {
  if (member < 0 || member >= static_cast<int64_t>(ring.getMembers().size()))
    return op->emitOpError() << "member " << member << " of a ring with "
                             << ring.getMembers().size() << " members";
  return success();
}

LogicalResult RingOp::verify() {
  if (getConsumers() < 1 || getCtas() < 1)
    return emitOpError() << "expected at least one consumer and one CTA, found "
                         << getConsumers() << " and " << getCtas();
  return success();
}

LogicalResult SlotOp::verify() {
  RingType ring = getRing().getType();
  if (failed(verifyMember(*this, ring, getMember())))
    return failure();
  if (ring.getMembers()[getMember()] != getTile().getType())
    return emitOpError() << "member " << getMember() << " is "
                         << ring.getMembers()[getMember()] << ", not "
                         << getTile().getType();
  return success();
}

LogicalResult TmaLoadOp::verify() {
  if (getCoordinates().empty() || getCoordinates().size() > 5)
    return emitOpError() << "expected 1 to 5 coordinates, found "
                         << getCoordinates().size();
  StringRef hint = getHint();
  if (hint != "evict_first" && hint != "evict_last" && hint != "evict_normal")
    return emitOpError() << "hint must be evict_first, evict_last or "
                         << "evict_normal, found " << hint;
  if (failed(verifyMember(*this, getRing().getType(), getMember())))
    return failure();
  if ((getLastMap() == Value()) != (getIsLast() == Value()))
    return emitOpError() << "expected a map for the last rows and when to use "
                         << "it, or neither";
  if (getLastMap() && (getPart() || getMember() > 1))
    return emitOpError() << "only a whole tile of A or B (members 0 and 1) has "
                         << "a map for its last rows, found "
                         << (getPart() ? "a part of" : "member ")
                         << (getPart() ? " a tile"
                                       : std::to_string(getMember()));
  if (!getPart()) {
    if (getParts() != 1)
      return emitOpError() << "expected a part of " << getParts();
    return success();
  }
  auto tile = cast<TileType>(getRing().getType().getMembers()[getMember()]);
  if (getParts() < 2 || tile.getRows() % (8 * int64_t(getParts())) != 0)
    return emitOpError() << "expected 2 or more parts of whole groups of 8 "
                         << "rows, found " << getParts() << " of "
                         << tile.getRows() << " rows";
  return success();
}

LogicalResult MmaOp::verify() {
  RingType ring = getRing().getType();
  auto side = cast<TileType>(ring.getMembers()[getSwapped() ? 0 : 1]);
  int64_t cols = getResult().getType().getCols();
  if (getCol() < 0 || getCol() % 8 != 0 || getCol() + cols > side.getRows())
    return emitOpError() << "columns " << getCol() << " to "
                         << getCol() + cols - 1 << " of "
                         << (getSwapped() ? "an A" : "a B") << " tile with "
                         << side.getRows() << " rows";
  if (getHalf() && *getHalf() != 0 && *getHalf() != 1)
    return emitOpError() << "half must be 0 or 1, found " << *getHalf();
  return success();
}

LogicalResult PromoteOp::verify() {
  FragmentType result = getResult().getType();
  int64_t cols = 0, rows = 0;
  if (auto fragment = dyn_cast<FragmentType>(getPartial().getType())) {
    cols = fragment.getCols();
    rows = fragment.getRows();
  } else if (auto inflight = dyn_cast<InflightType>(getPartial().getType())) {
    cols = inflight.getCols();
    rows = inflight.getRows();
  } else {
    return emitOpError() << "the partial product must be a fragment or in "
                         << "flight, found " << getPartial().getType();
  }
  if (rows != result.getRows() || cols != result.getCols())
    return emitOpError() << "expected a partial product of the shape of "
                         << result << ", found " << getPartial().getType();
  if (!getRows().empty() && getRows().size() != 2)
    return emitOpError() << "expected an upper and a lower row scale, found "
                         << getRows().size();
  if (getEachColumn()) {
    if (static_cast<int64_t>(getCols().size()) != cols / 4)
      return emitOpError() << "expected " << cols / 4
                           << " scales, two for every 8 columns, found "
                           << getCols().size();
    if (!getBoundaries().empty())
      return emitOpError() << "scales of each column have no boundaries";
    return success();
  }
  ArrayRef<int32_t> boundaries = getBoundaries();
  if (boundaries.size() + 1 != std::max<size_t>(getCols().size(), 1))
    return emitOpError() << "expected "
                         << std::max<size_t>(getCols().size(), 1) - 1
                         << " boundaries for " << getCols().size()
                         << " column scales, found " << boundaries.size();
  int32_t last = 0;
  for (int32_t boundary : boundaries) {
    if (boundary <= last || boundary % 8 != 0 || boundary >= cols)
      return emitOpError() << "boundaries must be increasing multiples of 8 "
                           << "inside the " << cols << " columns, found "
                           << boundary;
    last = boundary;
  }
  return success();
}

LogicalResult ScaleFragmentOp::verify() {
  size_t rows = getRows().size(), cols = getCols().size();
  size_t each = getValue().getType().getCols() / 4;
  if (rows != 0 && rows != 2)
    return emitOpError() << "expected an upper and a lower row scale, found "
                         << rows;
  if (cols > 1 && cols != each)
    return emitOpError() << "expected one column scale or " << each
                         << ", two for every 8 columns, found " << cols;
  return success();
}

LogicalResult ClusterReduceOp::verify() {
  if (getValues().getTypes() != getSums().getTypes())
    return emitOpError("results must have the operands' types");
  if (getParts() < 2)
    return emitOpError() << "expected at least 2 parts, found " << getParts();
  return success();
}

LogicalResult WorkspaceReduceOp::verify() {
  if (getValues().getTypes() != getSums().getTypes())
    return emitOpError("results must have the operands' types");
  return success();
}

LogicalResult ColumnScalesOp::verify() {
  if (failed(verifyMember(*this, getRing().getType(), getMember())))
    return failure();
  if (getScales().empty() || getScales().size() % 2 != 0)
    return emitOpError() << "expected two scales for every 8 columns, found "
                         << getScales().size();
  return success();
}

LogicalResult GlobalColumnScalesOp::verify() {
  if (getScales().empty() || getScales().size() % 2 != 0)
    return emitOpError() << "expected two scales for every 8 columns, found "
                         << getScales().size();
  return success();
}

/// Scales of several K blocks, one for each lane, need to know the last block.
static LogicalResult verifyLanes(Operation *op, int64_t lanes, Value last,
                                 ArrayRef<int64_t> allowed) {
  if (!last && lanes == 1)
    return success();
  if (last && llvm::is_contained(allowed, lanes))
    return success();
  auto diag = op->emitOpError() << "lanes: expected ";
  if (last)
    llvm::interleave(allowed, diag, " or ");
  else
    diag << 1;
  return diag << (last ? " with" : " without") << " a last K block, found "
              << lanes;
}

LogicalResult GlobalRowScalesOp::verify() {
  return verifyLanes(*this, getLanes(), getLast(), {4});
}

LogicalResult ColScaleOp::verify() {
  return verifyLanes(*this, getLanes(), getLast(), {4, 32});
}

void GlobalRowScalesOp::build(OpBuilder &builder, OperationState &state,
                              Value base, Value row, Value limit, Value kblock,
                              Value rowStride, Value kStride, int32_t lanes,
                              Value last) {
  Type f32 = builder.getF32Type();
  build(builder, state, f32, f32, base, row, limit, kblock, rowStride, kStride,
        lanes, last);
}

void ColScaleOp::build(OpBuilder &builder, OperationState &state, Value base,
                       Value group, Value groups, Value kblock,
                       Value groupStride, Value kStride, int32_t lanes,
                       Value last) {
  build(builder, state, builder.getF32Type(), base, group, groups, kblock,
        groupStride, kStride, lanes, last);
}

LogicalResult LaneScaleOp::verify() {
  if (getLanes() != 4 && getLanes() != 32)
    return emitOpError() << "lanes: expected 4 or 32, found " << getLanes();
  return success();
}

LogicalResult StageOp::verify() {
  int64_t cols = getValue().getType().getCols();
  if (getValue().getType().getRows() != 64)
    return emitOpError() << "expected a fragment of 64 rows, found "
                         << getValue().getType();
  if (!getElementType().isBF16() && !getElementType().isF32())
    return emitOpError() << "elements must be bf16 or f32, found "
                         << getElementType();
  if (getCol() < 0 || getCol() % 8 != 0 || getWidth() < 8 ||
      getWidth() % 8 != 0 || getCol() + getWidth() > cols)
    return emitOpError() << "columns " << getCol() << " to "
                         << getCol() + getWidth() - 1
                         << " must be groups of 8 inside the fragment's "
                         << cols;
  if (getToCol() < 0 || getToCol() % 8 != 0 ||
      getToCol() + getWidth() > getBoxCols())
    return emitOpError() << "columns " << getToCol() << " to "
                         << getToCol() + getWidth() - 1 << " of a box with "
                         << getBoxCols() << " columns";
  return success();
}
