// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm.launch: text form and verifier.

#include "DispatchSyntax.h"
#include "OperandSyntax.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::dgemm;

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<LaunchOp::Properties>();
  SmallVector<Attribute> kernels;
  SmallVector<int64_t> bounds;
  auto parseKernel = [&]() -> ParseResult {
    SymbolRefAttr kernel;
    if (parser.parseAttribute(kernel))
      return failure();
    kernels.push_back(kernel);
    return success();
  };
  SymbolRefAttr single;
  OptionalParseResult one = parser.parseOptionalAttribute(single);
  if (one.has_value()) {
    if (failed(*one))
      return failure();
    kernels.push_back(single);
  } else if (parseDispatchRows(parser, bounds, parseKernel)) {
    return failure();
  }
  properties.kernels = parser.getBuilder().getArrayAttr(kernels);
  properties.bounds = parser.getBuilder().getDenseI64ArrayAttr(bounds);

  GemmOperandTypes types;
  if (parseGemmOperands(parser, state, types, properties.operandSegmentSizes,
                        [](unsigned) { return success(); }))
    return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (getKernels().size() == 1)
    printer << getKernels()[0];
  else
    printDispatchRows(printer, getBounds(), getKernels().size(),
                      [&](size_t row) { printer << getKernels()[row]; });
  printGemmOperands(*this, printer);
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getKernelsAttrName(), getBoundsAttrName(), "operandSegmentSizes"});
}

LogicalResult LaunchOp::verify() {
  if (failed(verifyDispatchBounds([&] { return emitOpError(); }, getBounds(),
                                  getKernels().size())))
    return failure();
  bool onTensors = isa<TensorType>(getD().getType());
  for (auto [name, value] : {std::pair<StringRef, Value>{"a", getA()},
                             {"b", getB()},
                             {"scale_a", getScaleA()},
                             {"scale_b", getScaleB()},
                             {"c", getC()}})
    if (value && isa<TensorType>(value.getType()) != onTensors)
      return emitOpError() << "operand " << name << ": expected a "
                           << (onTensors ? "tensor" : "memref")
                           << " as d is, found " << value.getType();
  if (onTensors != static_cast<bool>(getResult()))
    return emitOpError() << (onTensors ? "expected a result of d's type, since "
                                         "d is a tensor, found none"
                                       : "expected no result, since d is a "
                                         "memref, found one");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  for (auto symbol : getKernels().getAsRange<SymbolRefAttr>()) {
    Operation *kernel =
        symbolTable.lookupNearestSymbolFrom(getOperation(), symbol);
    if (!kernel)
      return emitOpError() << "kernel " << symbol
                           << ": expected a symbol of this module, found none";
    // At L2 a kernel is a dgemm.kernel, at L3 a function.
    if (!isa<KernelOp, FunctionOpInterface>(kernel))
      return emitOpError() << "kernel " << symbol
                           << ": expected a dgemm.kernel or a function, found '"
                           << kernel->getName() << "'";
  }
  return success();
}
