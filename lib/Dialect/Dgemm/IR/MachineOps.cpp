// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Verifiers of the machine ops (L3a).

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// Rows, columns of accumulators in any of their three forms; rows is 0 for a
/// struct, whose row count is not written down.
struct AccumulatorShape {
  int64_t rows = 0, cols = 0;
};
} // namespace

static FailureOr<AccumulatorShape> shapeOf(Type type) {
  if (auto fragment = dyn_cast<FragmentType>(type))
    return AccumulatorShape{fragment.getRows(), fragment.getCols()};
  if (auto inflight = dyn_cast<InflightType>(type))
    return AccumulatorShape{inflight.getRows(), inflight.getCols()};
  auto registers = cast<LLVM::LLVMStructType>(type);
  for (Type element : registers.getBody())
    if (!element.isF32())
      return failure();
  // 64 x n values over 128 threads: n / 2 each.
  return AccumulatorShape{0,
                          static_cast<int64_t>(registers.getBody().size()) * 2};
}

/// `in` and `out` are the same accumulators in two forms.
static LogicalResult verifyTied(Operation *op, StringRef what, Type in,
                                Type out) {
  FailureOr<AccumulatorShape> from = shapeOf(in), to = shapeOf(out);
  if (failed(from) || failed(to))
    return op->emitOpError() << what << ": registers must be a struct of f32";
  if (from->cols != to->cols ||
      (from->rows != 0 && to->rows != 0 && from->rows != to->rows))
    return op->emitOpError()
           << what << ": expected the shape of " << in << ", found " << out;
  return success();
}

static LogicalResult verifyTiedList(Operation *op, StringRef what,
                                    TypeRange ins, TypeRange outs) {
  if (ins.size() != outs.size())
    return op->emitOpError() << what << ": expected " << ins.size()
                             << " results, found " << outs.size();
  for (auto [in, out] : llvm::zip(ins, outs))
    if (failed(verifyTied(op, what, in, out)))
      return failure();
  return success();
}

static LogicalResult verifyUnchanged(Operation *op, StringRef what,
                                     TypeRange ins, TypeRange outs) {
  if (ins != outs)
    return op->emitOpError() << what << ": results must have the operands' "
                             << "types";
  return success();
}

LogicalResult WgmmaFenceOp::verify() {
  if (failed(verifyTiedList(*this, "accumulators", getAccumulators().getTypes(),
                            getHanded().getTypes())))
    return failure();
  return verifyUnchanged(*this, "pin", getPin().getTypes(),
                         getPinned().getTypes());
}

LogicalResult WgmmaWaitOp::verify() {
  if (getPending() < 0 || getPending() > 7)
    return emitOpError() << "pending groups must be between 0 and 7, found "
                         << getPending();
  if (failed(verifyTiedList(*this, "resolve", getResolve().getTypes(),
                            getResolved().getTypes())))
    return failure();
  if (failed(verifyUnchanged(*this, "keep", getKeep().getTypes(),
                             getKept().getTypes())))
    return failure();
  return verifyUnchanged(*this, "pin", getPin().getTypes(),
                         getPinned().getTypes());
}

/// K of one instruction: 32 bytes of the element type; 0 for a type that the
/// tensor core does not take here.
static int64_t instructionK(Type type) {
  if (type.isBF16() || type.isF16())
    return 16;
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return 32;
  return 0;
}

/// The element types of a multiplication; `k` becomes the depth they imply.
static LogicalResult verifyTypes(Operation *op, Type a, Type b, int64_t &k) {
  k = instructionK(a);
  const int64_t kB = instructionK(b);
  if (k == 0)
    return op->emitOpError() << "a_type must be bf16, f16, f8E4M3FN or "
                             << "f8E5M2, found " << a;
  if (kB == 0)
    return op->emitOpError() << "b_type must be bf16, f16, f8E4M3FN or "
                             << "f8E5M2, found " << b;
  if (k != kB || (k == 16 && a != b))
    return op->emitOpError()
           << "a_type and b_type do not go together: " << a << " and " << b;
  return success();
}

int64_t MmaSyncOp::getK() { return instructionK(getAType()); }

LogicalResult MmaSyncOp::verify() {
  int64_t k;
  return verifyTypes(*this, getAType(), getBType(), k);
}

/// What both forms of WGMMA share; `k` becomes the depth of their types.
template <typename Op> static LogicalResult verifyWgmma(Op op, int64_t &k) {
  if (failed(verifyTypes(op, op.getAType(), op.getBType(), k)))
    return failure();
  if (op.getK() != k)
    return op.emitOpError() << "k must be " << k << " for " << op.getAType()
                            << ", found " << op.getK();
  if (op.getN() != op.getResult().getType().getCols())
    return op.emitOpError()
           << "n is " << op.getN() << " but the accumulators have "
           << op.getResult().getType().getCols() << " columns";
  if (op.getScaleD() != "zero" && op.getScaleD() != "one")
    return op.emitOpError() << "scale_d must be \"zero\" or \"one\", found \""
                            << op.getScaleD() << "\"";
  return success();
}

LogicalResult WgmmaOp::verify() {
  int64_t k;
  if (failed(verifyWgmma(*this, k)))
    return failure();
  if ((getTransA() || getTransB()) && k != 16)
    return emitOpError()
           << "8-bit operands are K-major; trans_a and trans_b need bf16 or "
           << "f16";
  return success();
}

LogicalResult WgmmaRegistersOp::verify() {
  int64_t k;
  if (failed(verifyWgmma(*this, k)))
    return failure();
  if (getTransB() && k != 16)
    return emitOpError()
           << "8-bit operands are K-major; trans_b needs bf16 or f16";
  auto registers = dyn_cast<LLVM::LLVMStructType>(getA().getType());
  if (!registers || registers.getBody().size() != 4 ||
      !llvm::all_of(registers.getBody(),
                    [](Type type) { return type.isInteger(32); }))
    return emitOpError() << "a must be a struct of four i32, found "
                         << getA().getType();
  return success();
}
