// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// #dgemm.problem and #dgemm.scaling: text form and rules.

#include "ScalingSyntax.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::dgemm;
using PlainType = ::dgemm::DType;

//===----------------------------------------------------------------------===//
// Pieces shared with dgemm.matmul
//===----------------------------------------------------------------------===//

ParseResult mlir::dgemm::parseScaleBlock(AsmParser &parser,
                                         ::dgemm::ScaleSpec &scale) {
  scale.rows = scale.cols = 0;
  if (succeeded(parser.parseOptionalKeyword("tensor")))
    return success();
  if (succeeded(parser.parseOptionalKeyword("row"))) {
    scale.rows = 1;
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> block;
  if (parser.parseDimensionList(block, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (block.size() != 2)
    return parser.emitError(loc, "scales: expected a block such as 1x128, or "
                                 "'tensor', or 'row'");
  scale.rows = block[0];
  scale.cols = block[1];
  return success();
}

ParseResult mlir::dgemm::parseOptionalMajor(AsmParser &parser,
                                            ::dgemm::ScaleSpec &scale) {
  scale.major = ::dgemm::ScaleMajor::K;
  if (succeeded(parser.parseOptionalKeyword("mn_major")))
    scale.major = ::dgemm::ScaleMajor::MN;
  else
    (void)parser.parseOptionalKeyword("k_major");
  return success();
}

void mlir::dgemm::printScaleBlock(raw_ostream &os,
                                  const ::dgemm::ScaleSpec &scale) {
  if (scale.rows == 0 && scale.cols == 0)
    os << "tensor";
  else if (scale.rows == 1 && scale.cols == 0)
    os << "row";
  else
    os << scale.rows << 'x' << scale.cols;
}

static ParseResult parsePlainType(AsmParser &parser, PlainType &type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto parsed = ::dgemm::parseDType(word.str());
  if (!parsed || *parsed == PlainType::None)
    return parser.emitError(loc)
           << "expected an element type (bf16, f16, f32, f8E4M3FN, f8E5M2, "
              "f8E8M0FNU, i8 or i32), found '"
           << word << "'";
  type = *parsed;
  return success();
}

static ParseResult parseScaling(AsmParser &parser, ::dgemm::ScaleSpec &scale) {
  return failure(parseScaleBlock(parser, scale) ||
                 parsePlainType(parser, scale.type) ||
                 parseOptionalMajor(parser, scale));
}

static void printScaling(raw_ostream &os, const ::dgemm::ScaleSpec &scale) {
  printScaleBlock(os, scale);
  os << ' ' << ::dgemm::toString(scale.type);
  if (scale.major == ::dgemm::ScaleMajor::MN)
    os << " mn_major";
}

//===----------------------------------------------------------------------===//
// ScalingAttr
//===----------------------------------------------------------------------===//

Attribute ScalingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  ::dgemm::ScaleSpec scale;
  if (parser.parseLess() || parseScaling(parser, scale) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    scale);
}

void ScalingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printScaling(printer.getStream(), getValue());
  printer << '>';
}

LogicalResult ScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ::dgemm::ScaleSpec value) {
  if (value.type != PlainType::F32 && value.type != PlainType::F8E8M0FNU)
    return emitError() << "scales: expected element type f32 or f8E8M0FNU, "
                          "found "
                       << ::dgemm::toString(value.type);
  if (value.rows < 0 || value.cols < 0)
    return emitError() << "scales: expected block sizes of at least 0, found "
                       << value.rows << "x" << value.cols;
  return success();
}

//===----------------------------------------------------------------------===//
// ProblemAttr
//===----------------------------------------------------------------------===//

/// One field after the sizes: a flag, or a name, `=` and a value.
static ParseResult parseField(AsmParser &parser, ::dgemm::Problem &problem,
                              llvm::SmallDenseSet<StringRef> &seen) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (!seen.insert(name).second)
    return parser.emitError(loc)
           << "problem: field '" << name << "' is given twice";
  if (name == "accumulate" || name == "fast_accumulate") {
    (name == "accumulate" ? problem.accumulate : problem.fastAccumulate) = true;
    return success();
  }
  bool isScale = name == "scale_a" || name == "scale_b";
  if (!isScale && name != "a" && name != "b" && name != "d")
    return parser.emitError(loc)
           << "problem: unknown field '" << name
           << "'; expected a, b, d, scale_a, scale_b, accumulate or "
              "fast_accumulate";
  if (parser.parseEqual())
    return failure();
  if (isScale)
    return parseScaling(parser,
                        name == "scale_a" ? problem.scaleA : problem.scaleB);
  return parsePlainType(parser, name == "a"   ? problem.a
                                : name == "b" ? problem.b
                                              : problem.d);
}

Attribute ProblemAttr::parse(AsmParser &parser, Type) {
  SMLoc begin = parser.getCurrentLocation();
  StringRef layoutWord;
  if (parser.parseLess() || parser.parseKeyword(&layoutWord))
    return {};
  ::dgemm::Problem problem;
  auto layout = ::dgemm::parseLayout(layoutWord.str());
  if (!layout) {
    parser.emitError(begin) << "problem: " << layout.message();
    return {};
  }
  problem.layout = *layout;
  if (parser.parseComma())
    return {};
  SMLoc sizesLoc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/true,
                                /*withTrailingX=*/false))
    return {};
  if (sizes.size() != 3) {
    parser.emitError(sizesLoc)
        << "problem: expected three sizes MxNxK, found " << sizes.size();
    return {};
  }
  problem.m = toPlainSize(sizes[0]);
  problem.n = toPlainSize(sizes[1]);
  problem.k = toPlainSize(sizes[2]);
  llvm::SmallDenseSet<StringRef> seen;
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, problem, seen))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(begin); },
                    parser.getContext(), problem);
}

void ProblemAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  const ::dgemm::Problem &problem = getValue();
  auto size = [&](int64_t value) {
    return value == ::dgemm::kDynamic ? std::string("?")
                                      : std::to_string(value);
  };
  os << '<' << ::dgemm::toString(problem.layout) << ", " << size(problem.m)
     << 'x' << size(problem.n) << 'x' << size(problem.k)
     << ", a = " << ::dgemm::toString(problem.a)
     << ", b = " << ::dgemm::toString(problem.b)
     << ", d = " << ::dgemm::toString(problem.d);
  if (problem.scaleA.present())
    printScaling(os << ", scale_a = ", problem.scaleA);
  if (problem.scaleB.present())
    printScaling(os << ", scale_b = ", problem.scaleB);
  if (problem.accumulate)
    os << ", accumulate";
  if (problem.fastAccumulate)
    os << ", fast_accumulate";
  os << '>';
}

LogicalResult ProblemAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ::dgemm::Problem value) {
  if (::dgemm::Status status = ::dgemm::verifyProblem(value); !status)
    return emitError() << "problem: " << status.message();
  return success();
}
