// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "GlobalScales.h"

#include "dgemm/Runtime/KernelInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::Operand;
using ::dgemm::RowScalePath;
using ::dgemm::ScaleMajor;
using ::dgemm::Symbol;

/// Lanes that share a row of an accumulator fragment.
static constexpr int64_t kLanesOfRow = 4;
static constexpr int64_t kLanesOfWarp = 32;

GlobalScales::GlobalScales(OpBuilder &builder, Location loc, KernelOp kernel,
                           Place place)
    : builder(builder), loc(loc), kernel(kernel),
      problem(kernel.getProblem().getValue()),
      schedule(kernel.getSchedule().getValue()), place(std::move(place)) {
  bool swapped = schedule.form == ::dgemm::Form::SwapAB;
  if (::dgemm::rowScalePath(problem, schedule) == RowScalePath::Global) {
    countA = swapped ? schedule.mmaCols() / 4 : 2 * schedule.mBlocks();
    directA = swapped || schedule.kBlocksPerStage > kLanesOfRow;
  }
  if (numHeld() == 0)
    return;
  stepsOfChunk = lanes() / schedule.kBlocksPerStage;
  int64_t columns =
      stepsOfChunk * schedule.kBlocksPerStage * int64_t(schedule.tileK);
  oneChunk = problem.k != ::dgemm::kDynamic && problem.k <= columns;
}

int64_t GlobalScales::lanes() const {
  return countA != 0 && !directA ? kLanesOfRow : kLanesOfWarp;
}

void GlobalScales::readA(Value kBlock, SmallVectorImpl<Value> &into) {
  Value one = constantI64(builder, loc, 1);
  Value stride = kernel.getSize(Symbol::LdScaleA);
  bool kMajor = problem.scaleA.major == ScaleMajor::K;
  Value rowStride = kMajor ? stride : one, kStride = kMajor ? one : stride;
  Value base = kernel.getPointer(Operand::ScaleA);
  if (schedule.form == ::dgemm::Form::SwapAB) {
    SmallVector<Type> types(countA, builder.getF32Type());
    auto op =
        GlobalColumnScalesOp::create(builder, loc, types, base, place.m0,
                                     place.limit, kBlock, rowStride, kStride);
    llvm::append_range(into, op.getScales());
    return;
  }
  for (Value row : place.rows) {
    auto op = GlobalRowScalesOp::create(
        builder, loc, base, row, place.limit, kBlock, rowStride, kStride,
        directA ? 1 : lanes(), directA ? Value() : place.lastBlock);
    into.append({op.getUpper(), op.getLower()});
  }
}

SmallVector<Value> GlobalScales::readStepOfA(Value step) {
  SmallVector<Value> result;
  Value first =
      arith::MulIOp::create(builder, loc, step, i32(schedule.kBlocksPerStage));
  for (int kBlock = 0; kBlock < schedule.kBlocksPerStage; ++kBlock) {
    // Steps may reach past the last K block: what is multiplied there is zero,
    // and its scales are only required to exist.
    Value beyond = arith::AddIOp::create(builder, loc, first, i32(kBlock));
    readA(arith::MinUIOp::create(builder, loc, beyond, place.lastBlock),
          result);
  }
  return result;
}

SmallVector<Value> GlobalScales::initial(Value first) {
  return directA ? readStepOfA(first) : SmallVector<Value>();
}

SmallVector<Value> GlobalScales::chunk(Value first) {
  SmallVector<Value> result;
  if (numHeld() == 0)
    return result;
  Value kBlock =
      arith::MulIOp::create(builder, loc, first, i32(schedule.kBlocksPerStage));
  if (countA != 0 && !directA)
    readA(kBlock, result);
  Value one = constantI64(builder, loc, 1);
  for (Value group : place.groups)
    result.push_back(ColScaleOp::create(
        builder, loc, kernel.getPointer(Operand::ScaleB), group,
        place.numGroups, kBlock, kernel.getSize(Symbol::LdScaleB), one, lanes(),
        place.lastBlock));
  return result;
}

SmallVector<Value> GlobalScales::enter(ValueRange held, ValueRange carried,
                                       Value step, Value first) {
  scales.clear();
  Value lane;
  if (!held.empty()) {
    Value within = arith::SubIOp::create(builder, loc, step, first);
    lane = arith::MulIOp::create(builder, loc, within,
                                 i32(schedule.kBlocksPerStage));
  }
  for (int kBlock = 0; kBlock < schedule.kBlocksPerStage; ++kBlock) {
    if (directA)
      llvm::append_range(scales, carried.slice(kBlock * countA, countA));
    for (Value value : held) {
      Value index = arith::AddIOp::create(builder, loc, lane, i32(kBlock));
      scales.push_back(LaneScaleOp::create(builder, loc, builder.getF32Type(),
                                           value, index, lanes()));
    }
  }
  if (!directA)
    return {};
  return readStepOfA(arith::AddIOp::create(builder, loc, step, i32(1)));
}
