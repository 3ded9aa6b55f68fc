// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L1 -> L2 of the register form (docs/decisions/0009-register-form.md): every
// warp of a CTA walks its share of the K blocks, each loaded straight into
// registers, and the warps' sums meet at the end.

#include "RegisterForm.h"
#include "KernelUtils.h"

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::Operand;
using ::dgemm::Problem;
using ::dgemm::ScaleMajor;
using ::dgemm::Schedule;
using ::dgemm::Symbol;

namespace {
class RegisterBody {
public:
  explicit RegisterBody(KernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem().getValue()),
        schedule(kernel.getSchedule().getValue()),
        builder(OpBuilder::atBlockEnd(&kernel.getBody().front())),
        loc(kernel.getLoc()), i32(builder.getI32Type()),
        f32(builder.getF32Type()) {
    MLIRContext *context = kernel.getContext();
    fragment = FragmentType::get(context, schedule.rowsPerBlock(),
                                 schedule.mmaCols(), f32);
    stripA = StripType::get(context, schedule.tileM, schedule.tileK,
                            elementTypeOf(context, problem.a));
    stripB = StripType::get(context, schedule.rowsPerBlock(), schedule.tileK,
                            elementTypeOf(context, problem.b));
  }

  void build();

private:
  /// One K block of the tile in registers, and its scales.
  struct KBlock {
    Value a;
    SmallVector<Value> b; ///< of each 16 columns of D
    SmallVector<Value> rowScales, columnScales;
  };

  Value constant(int64_t value) { return constantI32(builder, loc, value); }
  void splitK();
  /// Whether every K block that a step of the loop names exists, as far as is
  /// known at compile time.
  bool stepsAreWhole() const;
  /// Loads K block `number`; with `inside` false zeros, with `depth` what
  /// lies before K.
  KBlock load(Value number, Value inside, Value depth);
  void loadScales(KBlock &block, Value number, Value inside);
  SmallVector<Value> multiply(const KBlock &block, ArrayRef<Value> sums);
  SmallVector<Value> buildLoop();
  SmallVector<Value> addTail(ArrayRef<Value> sums);
  void store(ArrayRef<Value> sums);

  KernelOp kernel;
  const Problem problem;
  const Schedule schedule;
  OpBuilder builder;
  Location loc;
  Type i32, f32;
  FragmentType fragment;
  StripType stripA, stripB;
  Value m0, n0, sizeM, sizeN, sizeK;
  /// This warp's number; whole K blocks of the problem; those of this CTA.
  Value warp, whole, lower, upper;
  Value rank; ///< in the cluster; null without one
};
} // namespace

/// This CTA's share of the whole K blocks: all, or a part of the cluster's.
void RegisterBody::splitK() {
  whole = arith::DivUIOp::create(builder, loc, sizeK, constant(schedule.tileK));
  lower = constant(0);
  upper = whole;
  if (schedule.splitK == 1)
    return;
  rank = ClusterRankOp::create(builder, loc, i32);
  Value share = ceilDivide(builder, loc, whole, schedule.splitK);
  Value first = arith::MulIOp::create(builder, loc, rank, share);
  lower = arith::MinUIOp::create(builder, loc, first, whole);
  Value last = arith::AddIOp::create(builder, loc, lower, share);
  upper = arith::MinUIOp::create(builder, loc, last, whole);
}

bool RegisterBody::stepsAreWhole() const {
  if (schedule.stages == 1)
    return true;
  if (problem.k == ::dgemm::kDynamic)
    return false;
  int64_t blocks = problem.k / schedule.tileK;
  int64_t step = int64_t(schedule.consumers) * schedule.stages;
  return blocks % (schedule.splitK * step) == 0;
}

void RegisterBody::loadScales(KBlock &block, Value number, Value inside) {
  if (!problem.scaleA.blockedAlongK())
    return;
  // A block that does not exist is zero; so are its scales, as those of the
  // last block stand in for them.
  Value place = number;
  if (inside) {
    Value last = arith::SubIOp::create(builder, loc, whole, constant(1));
    place = arith::MinUIOp::create(builder, loc, number, last);
  }
  Value one = constantI64(builder, loc, 1);
  Value stride = kernel.getSize(Symbol::LdScaleA);
  bool kMajor = problem.scaleA.major == ScaleMajor::K;
  auto columns = GlobalColumnScalesOp::create(
      builder, loc, SmallVector<Type>(schedule.mmaCols() / 4, f32),
      kernel.getPointer(Operand::ScaleA), m0, sizeM, place,
      kMajor ? stride : one, kMajor ? one : stride);
  int64_t rows = problem.scaleB.rows;
  Value group = arith::DivUIOp::create(builder, loc, n0, constant(rows));
  Value row =
      ColScaleOp::create(builder, loc, kernel.getPointer(Operand::ScaleB),
                         group, ceilDivide(builder, loc, sizeN, rows), place,
                         kernel.getSize(Symbol::LdScaleB), one);
  block.columnScales.assign(columns.getScales().begin(),
                            columns.getScales().end());
  block.rowScales = {row, row};
  if (!inside)
    return;
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0));
  for (auto *scales : {&block.columnScales, &block.rowScales})
    for (Value &scale : *scales)
      scale = arith::SelectOp::create(builder, loc, inside, scale, none);
}

RegisterBody::KBlock RegisterBody::load(Value number, Value inside,
                                        Value depth) {
  KBlock block;
  for (int mb = 0; mb < schedule.mBlocks(); ++mb) {
    Value row = arith::AddIOp::create(builder, loc, n0,
                                      constant(schedule.rowsPerBlock() * mb));
    block.b.push_back(LoadStripOp::create(
        builder, loc, stripB, kernel.getPointer(Operand::B), row, number,
        kernel.getSize(Symbol::LdB), sizeN, depth, inside, schedule.streamB));
  }
  // Every CTA reads A.
  block.a = LoadStripOp::create(
      builder, loc, stripA, kernel.getPointer(Operand::A), m0, number,
      kernel.getSize(Symbol::LdA), sizeM, depth, inside, /*streamed=*/false);
  loadScales(block, number, inside);
  return block;
}

SmallVector<Value> RegisterBody::multiply(const KBlock &block,
                                          ArrayRef<Value> sums) {
  SmallVector<Value> results;
  for (auto [b, sum] : llvm::zip(block.b, sums)) {
    bool promotes = schedule.promotion != 0;
    Value product = StripMmaOp::create(builder, loc, fragment, b, block.a,
                                       promotes ? Value() : sum);
    if (promotes)
      product = PromoteOp::create(
          builder, loc, fragment, sum, product, block.rowScales,
          block.columnScales, ArrayRef<int32_t>(), !block.columnScales.empty());
    results.push_back(product);
  }
  return results;
}

/// The whole K blocks: in each step a warp loads `stages` of them before it
/// multiplies the first. The warps' blocks lie side by side, so that together
/// they read long pieces of each row.
SmallVector<Value> RegisterBody::buildLoop() {
  Value zero = ZeroOp::create(builder, loc, fragment);
  SmallVector<Value> inits(schedule.mBlocks(), zero);
  Value first = arith::AddIOp::create(builder, loc, lower, warp);
  Value step = constant(int64_t(schedule.consumers) * schedule.stages);
  auto loop = scf::ForOp::create(builder, loc, first, upper, step, inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  SmallVector<KBlock> blocks;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    Value number = loop.getInductionVar(), inside;
    if (stage > 0) {
      number = arith::AddIOp::create(
          builder, loc, number, constant(int64_t(schedule.consumers) * stage),
          arith::IntegerOverflowFlags::nuw | arith::IntegerOverflowFlags::nsw);
      if (!stepsAreWhole())
        inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, upper);
    }
    blocks.push_back(load(number, inside, Value()));
  }
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (const KBlock &block : blocks)
    sums = multiply(block, sums);
  scf::YieldOp::create(builder, loc, sums);
  return SmallVector<Value>(loop.getResults());
}

/// What K has beyond its whole blocks is the last warp's, which has no more
/// whole ones than the others.
SmallVector<Value> RegisterBody::addTail(ArrayRef<Value> sums) {
  if (problem.k != ::dgemm::kDynamic && problem.k % schedule.tileK == 0)
    return SmallVector<Value>(sums);
  Value rest =
      arith::RemUIOp::create(builder, loc, sizeK, constant(schedule.tileK));
  Value isMine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       rest, constant(0));
  auto require = [&](Value value, int64_t number) {
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        value, constant(number));
    isMine = arith::AndIOp::create(builder, loc, isMine, equal);
  };
  require(warp, schedule.consumers - 1);
  if (rank)
    require(rank, schedule.splitK - 1);
  auto tail = scf::IfOp::create(
      builder, loc, SmallVector<Type>(sums.size(), fragment), isMine,
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tail.thenBlock());
  KBlock block = load(whole, Value(), sizeK);
  scf::YieldOp::create(builder, loc, multiply(block, sums));
  builder.setInsertionPointToStart(tail.elseBlock());
  scf::YieldOp::create(builder, loc, sums);
  return SmallVector<Value>(tail.getResults());
}

/// The sums meet in the first warp of the first CTA, which stores.
void RegisterBody::store(ArrayRef<Value> sums) {
  SmallVector<Type> types(sums.size(), fragment);
  auto reduced =
      WarpReduceOp::create(builder, loc, types, sums, schedule.consumers);
  SmallVector<Value> values(reduced.getSums());
  Value stores = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       warp, constant(0));
  if (rank) {
    auto all = ClusterReduceOp::create(builder, loc, types, values, constant(0),
                                       schedule.splitK);
    values.assign(all.getSums().begin(), all.getSums().end());
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, rank, constant(0));
    stores = arith::AndIOp::create(builder, loc, stores, isFirst);
  }
  scf::IfOp::create(builder, loc, stores, [&](OpBuilder &body, Location loc) {
    TileStoreOp::create(body, loc, values, m0, n0, Value());
    scf::YieldOp::create(body, loc);
  });
}

void RegisterBody::build() {
  if (schedule.splitK > 1)
    ClusterStartOp::create(builder, loc);
  waitForGrids(builder, loc);
  auto tiles = TilesOp::create(builder, loc, ValueRange{});
  builder.setInsertionPointToEnd(&tiles.getBody().front());
  m0 = tiles.getBody().getArgument(0);
  n0 = tiles.getBody().getArgument(1);
  sizeM = sizeOf(builder, loc, kernel, Symbol::M);
  sizeN = sizeOf(builder, loc, kernel, Symbol::N);
  sizeK = sizeOf(builder, loc, kernel, Symbol::K);
  warp = WarpIdOp::create(builder, loc, i32);
  splitK();
  store(addTail(buildLoop()));
  NextOp::create(builder, loc, ValueRange{});
}

void mlir::dgemm::buildRegisterBody(KernelOp kernel) {
  RegisterBody(kernel).build();
}
