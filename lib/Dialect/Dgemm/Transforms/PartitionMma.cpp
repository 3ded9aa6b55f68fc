// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the consumer's tile arithmetic into 64xN blocks of one warpgroup and
// puts multiplications, promotions and the slot's release in order.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Runtime/KernelInterface.h"

#include <numeric>

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMPARTITIONMMAPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::ConsumerMode;
using ::dgemm::Operand;
using ::dgemm::RowScalePath;
using ::dgemm::ScaleMajor;
using ::dgemm::Symbol;

namespace {
/// Rewrites one consumer role. The old K loop is replaced by one loop, or by a
/// switch over clones of it that differ in how tile columns cut the B scale
/// blocks.
class MmaPartitioner {
public:
  MmaPartitioner(KernelOp kernel, RoleOp consumer, TilesOp tiles,
                 scf::ForOp loop)
      : kernel(kernel), tiles(tiles), loop(loop),
        problem(kernel.getProblem().getValue()),
        schedule(kernel.getSchedule().getValue()), builder(loop),
        loc(loop.getLoc()), wg(consumer.getBody().getArgument(0)) {}

  /// Reports what `run` could not rewrite.
  LogicalResult verify();
  void run();

private:
  struct LoopState {
    SmallVector<Value> accumulators;
    Value slot, phase, lastSlot;
  };

  bool promotes() const { return problem.fp8() && schedule.promotion != 0; }
  int numBlocks() const { return schedule.mBlocks() * schedule.nBlocks; }
  /// Distinct positions of a tile's first column within a B scale block.
  int64_t numResidues() const {
    if (!promotes() || !problem.scaleB.blockedAlongK())
      return 1;
    return problem.scaleB.rows / residueStep();
  }
  int64_t residueStep() const {
    return std::gcd<int64_t>(schedule.tileN, problem.scaleB.rows);
  }

  Value zeroFragment();
  SmallVector<Value> buildPromotingLoop(int64_t residue);
  LoopState buildAccumulatingLoop();
  SmallVector<Value> switchOverResidues();

  /// The store of the K loop's sums; null unless it is their only user and
  /// stands beside the loop.
  TileStoreOp findStore() {
    Value sums = loop.getResult(0);
    if (!sums.hasOneUse() ||
        (*sums.user_begin())->getBlock() != loop->getBlock())
      return {};
    return dyn_cast<TileStoreOp>(*sums.user_begin());
  }

  /// Scales of K block `kb`, loaded as early as each path allows.
  SmallVector<SmallVector<Value, 2>> loadRowScales(Value slot, Value kb);
  void addColumnScales(int64_t residue, int nBlock, Value kb,
                       DenseMap<int64_t, Value> &loaded,
                       SmallVectorImpl<Value> &scales,
                       SmallVectorImpl<int32_t> &boundaries);
  void finish(ArrayRef<Value> fragments, Value slot, Value phase);

  KernelOp kernel;
  TilesOp tiles;
  scf::ForOp loop;
  ::dgemm::Problem problem;
  ::dgemm::Schedule schedule;
  OpBuilder builder;
  Location loc;
  Value wg;
  Value ring, m0, n0;
  Type i32;
  /// Row of each m64 block within the CTA tile.
  SmallVector<Value> blockRows;
  /// For global row scales: row of each m64 block within A.
  SmallVector<Value> globalRows;
  Value firstGroup, groups, limit;
  FragmentType fragment;
  InflightType inflight;
};
} // namespace

Value MmaPartitioner::zeroFragment() {
  return ZeroOp::create(builder, loc, fragment);
}

SmallVector<SmallVector<Value, 2>> MmaPartitioner::loadRowScales(Value slot,
                                                                 Value kb) {
  SmallVector<SmallVector<Value, 2>> scales(schedule.mBlocks());
  RowScalePath path = ::dgemm::rowScalePath(problem, schedule);
  Type f32 = builder.getF32Type();
  for (int block = 0; block < schedule.mBlocks(); ++block) {
    if (path == RowScalePath::Ring) {
      auto op = RowScalesOp::create(builder, loc, f32, f32, ring, slot,
                                    blockRows[block], /*member=*/2);
      scales[block] = {op.getUpper(), op.getLower()};
    } else if (path == RowScalePath::Global) {
      Value stride = kernel.getSize(Symbol::LdScaleA);
      Value one = constantI64(builder, loc, 1);
      bool kMajor = problem.scaleA.major == ScaleMajor::K;
      auto op = GlobalRowScalesOp::create(
          builder, loc, f32, f32, kernel.getPointer(Operand::ScaleA),
          globalRows[block], limit, kb, kMajor ? stride : one,
          kMajor ? one : stride);
      scales[block] = {op.getUpper(), op.getLower()};
    }
  }
  return scales;
}

void MmaPartitioner::addColumnScales(int64_t residue, int nBlock, Value kb,
                                     DenseMap<int64_t, Value> &loaded,
                                     SmallVectorImpl<Value> &scales,
                                     SmallVectorImpl<int32_t> &boundaries) {
  if (!problem.scaleB.blockedAlongK())
    return;
  int64_t width = problem.scaleB.rows, cols = schedule.nPerBlock();
  int64_t first = residue + nBlock * cols;
  for (int64_t group = first / width; group <= (first + cols - 1) / width;
       ++group) {
    Value &scale = loaded[group];
    if (!scale) {
      Value number = arith::AddIOp::create(builder, loc, firstGroup,
                                           constantI32(builder, loc, group));
      scale = ColScaleOp::create(builder, loc, builder.getF32Type(),
                                 kernel.getPointer(Operand::ScaleB), number,
                                 groups, kb, kernel.getSize(Symbol::LdScaleB),
                                 constantI64(builder, loc, 1));
    }
    if (!scales.empty())
      boundaries.push_back(static_cast<int32_t>(group * width - first));
    scales.push_back(scale);
  }
}

/// FP8 with promotion: per K block, each block's fresh product is added to an
/// FP32 fragment. Returns the fragments, then slot and phase.
SmallVector<Value> MmaPartitioner::buildPromotingLoop(int64_t residue) {
  SmallVector<Value> inits;
  for (int block = 0; block < numBlocks(); ++block)
    inits.push_back(zeroFragment());
  llvm::append_range(inits, loop.getInitArgs().take_back(2));
  auto copy = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  Value kb = copy.getInductionVar();
  SmallVector<Value> sums(copy.getRegionIterArgs().drop_back(2));
  Value slot = copy.getRegionIterArgs().take_back(2)[0];
  Value phase = copy.getRegionIterArgs().take_back(2)[1];

  // Scales in global memory are read before the wait, so that their latency
  // runs beside the copies'.
  bool rowScalesInRing =
      ::dgemm::rowScalePath(problem, schedule) == RowScalePath::Ring;
  SmallVector<SmallVector<Value, 2>> rowScales;
  if (!rowScalesInRing)
    rowScales = loadRowScales(slot, kb);
  DenseMap<int64_t, Value> loaded;
  SmallVector<SmallVector<Value, 2>> colScales(schedule.nBlocks);
  SmallVector<SmallVector<int32_t, 2>> boundaries(schedule.nBlocks);
  for (int nb = 0; nb < schedule.nBlocks; ++nb)
    addColumnScales(residue, nb, kb, loaded, colScales[nb], boundaries[nb]);
  WaitOp::create(builder, loc, ring, slot, phase);
  if (rowScalesInRing)
    rowScales = loadRowScales(slot, kb);

  SmallVector<Value> partials(numBlocks());
  auto issue = [&](int block) {
    Value undefined = WgmmaUndefOp::create(builder, loc, inflight);
    int mb = block / schedule.nBlocks, nb = block % schedule.nBlocks;
    partials[block] =
        MmaOp::create(builder, loc, inflight, ring, slot, blockRows[mb],
                      nb * schedule.nPerBlock(), undefined, /*fresh=*/true);
  };
  auto promote = [&](int block) {
    int mb = block / schedule.nBlocks, nb = block % schedule.nBlocks;
    // Every multiplication has been issued, and what is in front of the last
    // promotion waits for them all: the slot is free before its arithmetic.
    if (block == numBlocks() - 1)
      ReleaseOp::create(builder, loc, ring, slot, 0);
    sums[block] =
        PromoteOp::create(builder, loc, fragment, sums[block], partials[block],
                          rowScales[mb], colScales[nb], boundaries[nb]);
  };
  int depth = schedule.overlapPromotion ? 2 : 1;
  for (int block = 0; block < numBlocks() + depth - 1; ++block) {
    if (block < numBlocks())
      issue(block);
    if (block >= depth - 1)
      promote(block - depth + 1);
  }
  auto next =
      AdvanceOp::create(builder, loc, i32, i32, ring, slot, phase, Value{});
  SmallVector<Value> yields(sums);
  llvm::append_range(yields, next.getResults());
  scf::YieldOp::create(builder, loc, yields);
  auto results = copy.getResults();
  return SmallVector<Value>(results.begin(), results.end());
}

/// Sums that stay in the tensor core's accumulators for all of K. The slot of
/// a K block is released one iteration later, so that its multiplication can
/// still run while the next one is issued.
MmaPartitioner::LoopState MmaPartitioner::buildAccumulatingLoop() {
  SmallVector<Value> zeros;
  for (int block = 0; block < numBlocks(); ++block)
    zeros.push_back(zeroFragment());
  SmallVector<Type> types(numBlocks(), inflight);
  auto handed = WgmmaFenceOp::create(builder, loc, types, TypeRange{}, zeros,
                                     ValueRange{});
  SmallVector<Value> inits(handed.getHanded());
  llvm::append_range(inits, loop.getInitArgs().take_back(2));
  inits.push_back(loop.getInitArgs().take_back(2)[0]);
  auto copy = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  auto arguments = copy.getRegionIterArgs();
  SmallVector<Value> sums(arguments.drop_back(3));
  Value slot = arguments.take_back(3)[0], phase = arguments.take_back(3)[1];
  Value previous = arguments.take_back(3)[2];
  WaitOp::create(builder, loc, ring, slot, phase);
  for (int block = 0; block < numBlocks(); ++block) {
    int mb = block / schedule.nBlocks, nb = block % schedule.nBlocks;
    sums[block] =
        MmaOp::create(builder, loc, inflight, ring, slot, blockRows[mb],
                      nb * schedule.nPerBlock(), sums[block], /*fresh=*/false);
  }
  Value hasPrevious = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, copy.getInductionVar(),
      constantI32(builder, loc, 0));
  scf::IfOp::create(builder, loc, hasPrevious,
                    [&](OpBuilder &body, Location loc) {
                      ReleaseOp::create(body, loc, ring, previous, 1);
                      scf::YieldOp::create(body, loc);
                    });
  auto next =
      AdvanceOp::create(builder, loc, i32, i32, ring, slot, phase, Value{});
  SmallVector<Value> yields(sums);
  llvm::append_range(yields, next.getResults());
  yields.push_back(slot);
  scf::YieldOp::create(builder, loc, yields);

  LoopState state;
  llvm::append_range(state.accumulators, copy.getResults().drop_back(3));
  auto last = copy.getResults().take_back(3);
  state.slot = last[0];
  state.phase = last[1];
  state.lastSlot = last[2];
  return state;
}

SmallVector<Value> MmaPartitioner::switchOverResidues() {
  if (numResidues() == 1)
    return buildPromotingLoop(0);
  // Which columns of the tile belong to which scale block must be known when
  // the promotion is compiled, or every multiply-add would need a selection.
  Value width = constantI32(builder, loc, problem.scaleB.rows);
  Value step = constantI32(builder, loc, residueStep());
  Value within = arith::RemUIOp::create(builder, loc, n0, width);
  Value number = arith::DivUIOp::create(builder, loc, within, step);
  Value index =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  SmallVector<Type> types(numBlocks(), fragment);
  types.append(2, builder.getI32Type());
  SmallVector<int64_t> cases;
  for (int64_t residue = 1; residue < numResidues(); ++residue)
    cases.push_back(residue);
  auto choice = scf::IndexSwitchOp::create(builder, loc, types, index, cases,
                                           static_cast<int>(cases.size()));
  auto fill = [&](Region &region, int64_t residue) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&region.emplaceBlock());
    SmallVector<Value> results = buildPromotingLoop(residue * residueStep());
    scf::YieldOp::create(builder, loc, results);
  };
  fill(choice.getDefaultRegion(), 0);
  for (auto [region, residue] : llvm::zip(choice.getCaseRegions(), cases))
    fill(region, residue);
  auto results = choice.getResults();
  return SmallVector<Value>(results.begin(), results.end());
}

void MmaPartitioner::finish(ArrayRef<Value> fragments, Value slot,
                            Value phase) {
  auto state = loop.getResults().take_back(2);
  state[0].replaceAllUsesWith(slot);
  state[1].replaceAllUsesWith(phase);
  TileStoreOp store = findStore();
  OpBuilder at(store);
  TileStoreOp::create(at, store.getLoc(), fragments, store.getM0(),
                      store.getN0(), wg);
  store.erase();
  Operation *zero = loop.getInitArgs()[0].getDefiningOp();
  loop.erase();
  if (zero->use_empty())
    zero->erase();
}

LogicalResult MmaPartitioner::verify() {
  Type tile = FragmentType::get(builder.getContext(), schedule.tileM,
                                schedule.tileN, builder.getF32Type());
  SmallVector<Type> carried = {tile, builder.getI32Type(),
                               builder.getI32Type()};
  if (!llvm::equal(loop.getResultTypes(), carried))
    return loop.emitOpError() << "the K loop must carry " << tile
                              << ", slot and phase, as scheduled";
  if (!loop.getInitArgs()[0].getDefiningOp<ZeroOp>())
    return loop.emitOpError("the K loop's sums must start from dgemm.zero");
  if (!findStore())
    return loop.emitOpError(
        "one dgemm.tile_store beside the K loop, and nothing else, must use "
        "its sums");
  auto count = [](auto ops) { return std::distance(ops.begin(), ops.end()); };
  Block *body = loop.getBody();
  if (count(body->getOps<WaitOp>()) != 1)
    return loop.emitOpError("the K loop must wait for one slot; run "
                            "dgemm-materialize-pipeline");
  auto mmas = body->getOps<TileMmaOp>();
  if (count(mmas) != 1 ||
      count(body->getOps<TilePromoteOp>()) != (promotes() ? 1 : 0) ||
      static_cast<bool>((*mmas.begin()).getAccumulator()) == promotes())
    return loop.emitOpError()
           << "the K loop must hold one dgemm.tile_mma "
           << (promotes() ? "and the dgemm.tile_promote of its product; run "
                            "dgemm-insert-scaling"
                          : "into the carried sums");
  return success();
}

void MmaPartitioner::run() {
  m0 = tiles.getBody().getArgument(0);
  n0 = tiles.getBody().getArgument(1);
  loop.walk([&](WaitOp wait) { ring = wait.getRing(); });
  MLIRContext *context = builder.getContext();
  Type f32 = builder.getF32Type();
  i32 = builder.getI32Type();
  fragment = FragmentType::get(context, 64, schedule.nPerBlock(), f32);
  inflight = InflightType::get(context, 64, schedule.nPerBlock(), f32);

  Value firstRow = constantI32(builder, loc, 0);
  if (schedule.mode == ConsumerMode::Cooperative)
    firstRow = arith::MulIOp::create(
        builder, loc, wg,
        constantI32(builder, loc, schedule.rowsPerConsumer()));
  for (int block = 0; block < schedule.mBlocks(); ++block) {
    Value row = firstRow;
    if (block > 0)
      row = arith::AddIOp::create(builder, loc, firstRow,
                                  constantI32(builder, loc, 64 * block));
    blockRows.push_back(row);
    if (::dgemm::rowScalePath(problem, schedule) == RowScalePath::Global)
      globalRows.push_back(arith::AddIOp::create(builder, loc, m0, row));
  }
  limit = sizeOf(builder, loc, kernel, Symbol::M);
  if (problem.scaleB.blockedAlongK()) {
    Value width = constantI32(builder, loc, problem.scaleB.rows);
    firstGroup = arith::DivUIOp::create(builder, loc, n0, width);
    groups = arith::CeilDivUIOp::create(
        builder, loc, sizeOf(builder, loc, kernel, Symbol::N), width);
  }

  if (promotes()) {
    SmallVector<Value> results = switchOverResidues();
    ArrayRef<Value> all(results);
    finish(all.drop_back(2), all[all.size() - 2], all.back());
    return;
  }

  LoopState state = buildAccumulatingLoop();
  // Resolved where the tile is stored: in ping-pong the tensor core is handed
  // over first, while the last group still runs.
  builder.setInsertionPoint(findStore());
  SmallVector<Type> types(numBlocks(), fragment);
  auto wait =
      WgmmaWaitOp::create(builder, loc, types, TypeRange{}, TypeRange{}, 0,
                          state.accumulators, ValueRange{}, ValueRange{});
  Value any =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                            loop.getUpperBound(), constantI32(builder, loc, 0));
  scf::IfOp::create(builder, loc, any, [&](OpBuilder &body, Location loc) {
    ReleaseOp::create(body, loc, ring, state.lastSlot, 0);
    scf::YieldOp::create(body, loc);
  });
  SmallVector<Value> fragments(wait.getResolved());
  finish(fragments, state.slot, state.phase);
}

namespace {
struct PartitionMmaPass
    : public mlir::dgemm::impl::DgemmPartitionMmaPassBase<PartitionMmaPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    RoleOp consumer = findRole(kernel, "consumer");
    TilesOp tiles = consumer ? findTiles(consumer) : TilesOp();
    scf::ForOp loop = tiles ? findKLoop(tiles) : scf::ForOp();
    if (!loop || loop.getBody()->getOps<TileMmaOp>().empty())
      return;
    MmaPartitioner partitioner(kernel, consumer, tiles, loop);
    if (failed(partitioner.verify()))
      return signalPassFailure();
    partitioner.run();
  }
};
} // namespace
