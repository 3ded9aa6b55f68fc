// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of dgemm.matmul that spans more than one operand or attribute.
// Rules about the problem as such (type pairs, which layouts FP8 allows) are
// those of ::dgemm::verifyProblem, so that the op and the command line agree.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::dgemm;
using PlainType = ::dgemm::DType;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// Global memory is what kernels read: the default space, its number, or the
/// GPU dialect's name for it.
static bool isGlobalMemory(Attribute space) {
  if (!space)
    return true;
  if (auto number = dyn_cast<IntegerAttr>(space))
    return number.getValue().ult(2);
  auto named = dyn_cast<gpu::AddressSpaceAttr>(space);
  return named && named.getValue() == gpu::AddressSpace::Global;
}

/// Rules of any shaped operand: ranked, of one of `ranks`, tensor as D is, and
/// a memref that TMA could walk.
static LogicalResult verifyShaped(MatmulOp op, const Twine &name, Type type,
                                  ArrayRef<int64_t> ranks) {
  auto shaped = cast<ShapedType>(type);
  auto complain = [&]() -> InFlightDiagnostic {
    return op.emitOpError() << "operand " << name << ": ";
  };
  auto rankText = [&] {
    std::string text;
    for (auto [index, rank] : llvm::enumerate(ranks))
      text += (index ? " or " : "") + std::to_string(rank);
    return text;
  };
  if (!shaped.hasRank() || !llvm::is_contained(ranks, shaped.getRank()))
    return complain() << "expected rank " << rankText() << ", found " << type;
  bool onTensors = isa<TensorType>(op.getD().getType());
  if (isa<TensorType>(type) != onTensors)
    return complain() << "expected a " << (onTensors ? "tensor" : "memref")
                      << " as d is, found " << type;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return success();
  if (!isGlobalMemory(memref.getMemorySpace()))
    return complain() << "expected global memory (space 0 or 1), found "
                      << type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return complain() << "expected a strided layout, found " << type;
  if (!strides.empty() && strides.back() != 1)
    return complain() << "expected stride 1 in the last dimension, found "
                      << type;
  // Rows that overlap have no meaning for D and no encoding as a tensor map.
  if (strides.size() == 2 && !ShapedType::isDynamic(strides[0]) &&
      !memref.isDynamicDim(1) && strides[0] < memref.getDimSize(1))
    return complain() << "expected a row stride of at least the row length "
                      << memref.getDimSize(1) << ", found " << strides[0];
  return success();
}

static LogicalResult verifyElementType(MatmulOp op, StringRef name, Type type) {
  Type element = cast<ShapedType>(type).getElementType();
  PlainType plain = toDType(element);
  if (plain == PlainType::None || plain == PlainType::F8E8M0FNU)
    return op.emitOpError()
           << "operand " << name
           << ": expected element type bf16, f16, f32, f8E4M3FN, f8E5M2, i8 or "
              "i32, found "
           << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Where one size of the problem is found.
struct SizeSite {
  StringRef operand;
  int64_t value;
};

static LogicalResult verifySame(MatmulOp op, StringRef what,
                                ArrayRef<SizeSite> sites) {
  const SizeSite *known = nullptr;
  for (const SizeSite &site : sites) {
    if (ShapedType::isDynamic(site.value))
      continue;
    if (!known)
      known = &site;
    else if (site.value != known->value)
      return op.emitOpError()
             << "size " << what << ": expected " << known->value
             << " as in operand " << known->operand << " (layout "
             << stringifyMatmulLayout(op.getLayout()) << "), found "
             << site.value << " in operand " << site.operand;
  }
  return success();
}

static LogicalResult verifySizes(MatmulOp op) {
  auto shape = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType a = shape(op.getA()), b = shape(op.getB()), d = shape(op.getD());
  MatmulLayout layout = op.getLayout();
  bool aTransposed = layout == MatmulLayout::TN || layout == MatmulLayout::TT;
  bool bTransposed = layout == MatmulLayout::NT || layout == MatmulLayout::TT;
  SmallVector<SizeSite> m = {{"a", a.getDimSize(aTransposed)},
                             {"d", d.getDimSize(0)}};
  SmallVector<SizeSite> n = {{"b", b.getDimSize(!bTransposed)},
                             {"d", d.getDimSize(1)}};
  SmallVector<SizeSite> k = {{"a", a.getDimSize(!aTransposed)},
                             {"b", b.getDimSize(bTransposed)}};
  if (op.getC()) {
    m.push_back({"c", shape(op.getC()).getDimSize(0)});
    n.push_back({"c", shape(op.getC()).getDimSize(1)});
  }
  return failure(failed(verifySame(op, "M", m)) ||
                 failed(verifySame(op, "N", n)) ||
                 failed(verifySame(op, "K", k)));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// How many scales stand along a dimension of the operand; a block size of 0
/// is the whole dimension, whatever its size.
static int64_t scalesAlong(int64_t dim, int64_t block) {
  return block == 0 ? 1 : ::dgemm::ceilDiv(dim, block);
}

static LogicalResult verifyScale(MatmulOp op, StringRef name, Value scale,
                                 ScalingAttr scaling, int64_t rows,
                                 int64_t depth) {
  if (static_cast<bool>(scale) != static_cast<bool>(scaling))
    return op.emitOpError()
           << "operand " << name << ": expected "
           << (scale ? "an attribute that says how the scales are laid out, "
                       "found none"
                     : "scales for the attribute that describes them, found "
                       "none");
  if (!scale)
    return success();
  const ::dgemm::ScaleSpec &spec = scaling.getValue();
  // One scale, and one scale per row, may drop the dimensions that are 1.
  SmallVector<int64_t> ranks = {2};
  if (spec.perTensor())
    ranks = {0, 1, 2};
  else if (spec.perRow())
    ranks = {1, 2};
  if (failed(verifyShaped(op, name, scale.getType(), ranks)))
    return failure();
  auto shaped = cast<ShapedType>(scale.getType());
  if (toDType(shaped.getElementType()) != spec.type)
    return op.emitOpError() << "operand " << name << ": expected element type "
                            << ::dgemm::toString(spec.type) << ", found "
                            << shaped.getElementType();
  int64_t expectedRows = scalesAlong(rows, spec.rows);
  int64_t expectedCols = scalesAlong(depth, spec.cols);
  SmallVector<int64_t> expected = {expectedRows, expectedCols};
  if (spec.major == ::dgemm::ScaleMajor::MN)
    std::swap(expected[0], expected[1]);
  if (shaped.getRank() == 1)
    expected = {expectedRows};
  else if (shaped.getRank() == 0)
    expected = {};
  for (auto [index, want] : llvm::enumerate(expected)) {
    int64_t have = toPlainSize(shaped.getDimSize(index));
    if (want == have || want == ::dgemm::kDynamic || have == ::dgemm::kDynamic)
      continue;
    std::string shape;
    for (int64_t size : expected)
      shape += (shape.empty() ? "" : "x") +
               (size == ::dgemm::kDynamic ? "?" : std::to_string(size));
    return op.emitOpError()
           << "operand " << name << ": expected shape " << shape
           << ", one scale per " << spec.rows << "x" << spec.cols
           << " block of the operand"
           << (spec.major == ::dgemm::ScaleMajor::MN ? " (mn_major)" : "")
           << ", found " << scale.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Schedule and epilogue
//===----------------------------------------------------------------------===//

static LogicalResult verifyDecision(MatmulOp op) {
  StringAttr source = op.getSourceAttr();
  if (!source)
    return success();
  if (!op.getScheduleAttr())
    return op.emitOpError() << "attribute 'source': expected a schedule with "
                               "it, found none";
  auto known = ::dgemm::parseScheduleSource(source.getValue().str());
  if (!known)
    return op.emitOpError() << "attribute 'source': " << known.message();
  return success();
}

static LogicalResult verifyEpilogueInput(MatmulOp op, unsigned index,
                                         Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return success();
  std::string name = "epilogue_ins #" + std::to_string(index);
  if (failed(verifyShaped(op, name, type, {0, 1, 2})))
    return failure();
  ArrayRef<int64_t> dims = cast<ShapedType>(op.getD().getType()).getShape();
  for (auto [size, whole] :
       llvm::zip(llvm::reverse(shaped.getShape()), llvm::reverse(dims)))
    if (size != 1 && size != whole && !ShapedType::isDynamic(size) &&
        !ShapedType::isDynamic(whole))
      return op.emitOpError()
             << "operand " << name << ": expected sizes of d or 1, found "
             << type << " for d of type " << op.getD().getType();
  return success();
}

LogicalResult MatmulOp::verify() {
  struct {
    StringRef name;
    Value value;
  } matrices[] = {{"a", getA()}, {"b", getB()}, {"c", getC()}, {"d", getD()}};
  for (auto [name, value] : matrices)
    if (value && (failed(verifyShaped(*this, name, value.getType(), {2})) ||
                  failed(verifyElementType(*this, name, value.getType()))))
      return failure();
  if (failed(verifySizes(*this)))
    return failure();
  if (getC() && getElementTypeOrSelf(getC()) != getElementTypeOrSelf(getD()))
    return emitOpError() << "operand c: expected d's element type "
                         << getElementTypeOrSelf(getD()) << ", found "
                         << getElementTypeOrSelf(getC());
  ::dgemm::Problem problem = getProblem();
  if (::dgemm::Status status = ::dgemm::verifyProblem(problem); !status)
    return emitOpError() << status.message();
  if (failed(verifyScale(*this, "scale_a", getScaleA(), getScalingAAttr(),
                         problem.m, problem.k)) ||
      failed(verifyScale(*this, "scale_b", getScaleB(), getScalingBAttr(),
                         problem.n, problem.k)))
    return failure();
  if (getFastAccumulate() && !problem.fp8())
    return emitOpError() << "attribute 'fast_accumulate': expected FP8 "
                            "operands, found "
                         << getElementTypeOrSelf(getA());
  for (auto [index, input] : llvm::enumerate(getEpilogueInputs()))
    if (failed(verifyEpilogueInput(*this, index, input.getType())))
      return failure();
  if (!getEpilogueInputs().empty() && !hasEpilogue())
    return emitOpError() << "expected an epilogue region that reads "
                            "epilogue_ins, found none";
  if (isa<TensorType>(getD().getType()) != static_cast<bool>(getResult()))
    return emitOpError() << (getResult() ? "expected no result, since d is a "
                                           "memref, found one"
                                         : "expected a result of d's type, "
                                           "since d is a tensor, found none");
  return verifyDecision(*this);
}

LogicalResult MatmulOp::verifyRegions() {
  if (!hasEpilogue())
    return success();
  Block &body = getEpilogue().front();
  SmallVector<Type> expected = {getAccumulatorType()};
  for (Value input : getEpilogueInputs())
    expected.push_back(getElementTypeOrSelf(input));
  if (!llvm::equal(body.getArgumentTypes(), expected)) {
    InFlightDiagnostic error = emitOpError()
                               << "epilogue: expected arguments (";
    llvm::interleaveComma(expected, error);
    error << "), found (";
    llvm::interleaveComma(body.getArgumentTypes(), error);
    return error << ")";
  }
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError() << "epilogue: expected to end with dgemm.yield";
  Type yielded = yield.getValue().getType();
  Type stored = getElementTypeOrSelf(getD());
  if (yielded != stored && yielded != getAccumulatorType())
    return emitOpError() << "epilogue: expected a value of d's element type "
                         << stored << " or of the accumulator's type "
                         << getAccumulatorType() << " yielded, found "
                         << yielded;
  return success();
}
