// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the consumer's tile arithmetic into 64xN blocks of one warpgroup and
// puts multiplications, promotions and the slot's release in order.

#include "GlobalScales.h"
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
  bool swapped() const { return schedule.form == ::dgemm::Form::SwapAB; }
  int numBlocks() const { return schedule.mBlocks() * schedule.nBlocks; }
  /// Distinct positions of a tile's first column within a B scale block.
  int64_t numResidues() const {
    // Swapped, a block's 64 rows of B lie within one scale block.
    if (!promotes() || !problem.scaleB.blockedAlongK() || swapped())
      return 1;
    // A width that divides the block's never meets a boundary.
    if (problem.scaleB.rows % schedule.tileN == 0)
      return 1;
    return problem.scaleB.rows / residueStep();
  }
  int64_t residueStep() const {
    return std::gcd<int64_t>(schedule.tileN, problem.scaleB.rows);
  }

  /// Columns of D in the last tile, and how many of its n-blocks hold one of
  /// them; all where N is not known.
  int64_t lastColumns() const {
    return problem.n == ::dgemm::kDynamic || problem.n % schedule.tileN == 0
               ? schedule.tileN
               : problem.n % schedule.tileN;
  }
  int lastLiveBlocks() const {
    if (swapped())
      return schedule.nBlocks;
    return static_cast<int>(
        ::dgemm::ceilDiv(lastColumns(), schedule.nPerBlock()));
  }

  Value zeroFragment();
  /// i1: the K loop runs at least once.
  Value hasSteps() {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                 loop.getUpperBound(), loop.getLowerBound());
  }
  SmallVector<Value> buildPromotingLoop(int64_t residue, int liveBlocks);
  LoopState buildAccumulatingLoop();
  SmallVector<Value> switchOverResidues();
  SmallVector<Value> buildPromotingLoops();

  /// The store of the K loop's sums; null unless it is their only user and
  /// stands beside the loop.
  TileStoreOp findStore() {
    Value sums = loop.getResult(0);
    if (!sums.hasOneUse() ||
        (*sums.user_begin())->getBlock() != loop->getBlock())
      return {};
    return dyn_cast<TileStoreOp>(*sums.user_begin());
  }

  bool scalesOfAInMemory() const {
    return ::dgemm::rowScalePath(problem, schedule) == RowScalePath::Global;
  }
  /// B scale blocks that a warpgroup touches: along the tile's columns when
  /// the first of them lies `residue` columns into one; swapped, one for each
  /// m64 block.
  int64_t numGroups(int64_t residue) const {
    if (!problem.scaleB.blockedAlongK())
      return 0;
    return swapped() ? schedule.mBlocks()
                     : (residue + schedule.tileN - 1) / problem.scaleB.rows + 1;
  }
  GlobalScales globalScales(int64_t residue);
  SmallVector<Value> whereSteps(size_t count,
                                function_ref<SmallVector<Value>()> read);
  SmallVector<Value> buildSteps(GlobalScales &reader, int64_t residue,
                                int liveBlocks, Value first, Value end,
                                ValueRange held, ValueRange inits);
  void readRingScales(Value slot);
  Value issue(Value slot, int block, Value accumulator, UnitAttr fresh = {},
              IntegerAttr kBlock = {}, IntegerAttr half = {});
  Value multiply(Value slot, int block, int kBlock);
  void promoteBlock(int64_t residue, int kBlock, int block,
                    const GlobalScales &reader, Value partial, Value &sum);
  void storeInFirstCta(OpBuilder &at, TileStoreOp store,
                       ArrayRef<Value> fragments);
  Value tileNumber(OpBuilder &at);
  void storeInLastCta(OpBuilder &at, TileStoreOp store,
                      ArrayRef<Value> fragments);
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
  Value firstGroup, groups, limit, lastBlock;
  /// The warpgroup that multiplies after this one.
  Value nextInTurn;
  /// Swapped: the B scale block of each m64 block.
  SmallVector<Value> rowGroups;
  /// A scales of the current step from the ring: those of all blocks for its
  /// first K block, then for the next; empty lists when they are elsewhere.
  SmallVector<SmallVector<Value>> ringScales;
  FragmentType fragment;
  InflightType inflight;
};
} // namespace

Value MmaPartitioner::zeroFragment() {
  return ZeroOp::create(builder, loc, fragment);
}

GlobalScales MmaPartitioner::globalScales(int64_t residue) {
  GlobalScales::Place place{m0,     globalRows, rowGroups,
                            groups, limit,      lastBlock};
  if (!swapped())
    for (int64_t group = 0; group < numGroups(residue); ++group)
      place.groups.push_back(arith::AddIOp::create(
          builder, loc, firstGroup, constantI32(builder, loc, group)));
  return GlobalScales(builder, loc, kernel, std::move(place));
}

/// With K = 0 there are no scales to read.
SmallVector<Value>
MmaPartitioner::whereSteps(size_t count,
                           function_ref<SmallVector<Value>()> read) {
  if (count == 0)
    return {};
  Value any = hasSteps();
  OpBuilder::InsertionGuard guard(builder);
  auto guarded = scf::IfOp::create(
      builder, loc, SmallVector<Type>(count, builder.getF32Type()), any,
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, read());
  builder.setInsertionPointToStart(guarded.elseBlock());
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0));
  scf::YieldOp::create(builder, loc, SmallVector<Value>(count, none));
  return SmallVector<Value>(guarded.getResults());
}

void MmaPartitioner::promoteBlock(int64_t residue, int kBlock, int block,
                                  const GlobalScales &reader, Value partial,
                                  Value &sum) {
  int mb = block / schedule.nBlocks, nb = block % schedule.nBlocks;
  size_t ofA = reader.numOfA();
  ArrayRef<Value> mine = reader.of(kBlock);
  SmallVector<Value> rows, cols;
  SmallVector<int32_t, 2> boundaries;
  if (swapped()) {
    if (numGroups(residue) != 0)
      rows.assign(2, mine[ofA + mb]);
    size_t perBlock = schedule.nPerBlock() / 4;
    if (ofA != 0)
      llvm::append_range(cols, mine.slice(nb * perBlock, perBlock));
    else
      cols = ringScales[kBlock * schedule.nBlocks + nb];
    sum = PromoteOp::create(builder, loc, fragment, sum, partial, rows, cols,
                            boundaries, /*each_column=*/!cols.empty());
    return;
  }
  if (ofA != 0)
    rows.assign({mine[2 * mb], mine[2 * mb + 1]});
  else
    rows = ringScales[kBlock * schedule.mBlocks() + mb];
  if (numGroups(residue) != 0) {
    int64_t width = problem.scaleB.rows, count = schedule.nPerBlock();
    int64_t first = residue + nb * count;
    for (int64_t group = first / width; group <= (first + count - 1) / width;
         ++group) {
      if (!cols.empty())
        boundaries.push_back(static_cast<int32_t>(group * width - first));
      cols.push_back(mine[ofA + group]);
    }
  }
  sum = PromoteOp::create(builder, loc, fragment, sum, partial, rows, cols,
                          boundaries, /*each_column=*/false);
}

void MmaPartitioner::readRingScales(Value slot) {
  ringScales.clear();
  bool inRing = ::dgemm::rowScalePath(problem, schedule) == RowScalePath::Ring;
  Type f32 = builder.getF32Type();
  int perBlock = swapped() ? schedule.nBlocks : schedule.mBlocks();
  for (int kBlock = 0; kBlock < schedule.kBlocksPerStage; ++kBlock)
    for (int i = 0; i < perBlock; ++i) {
      if (!inRing) {
        ringScales.emplace_back();
      } else if (swapped()) {
        SmallVector<Type> types(schedule.nPerBlock() / 4, f32);
        auto op = ColumnScalesOp::create(builder, loc, types, ring, slot,
                                         i * schedule.nPerBlock(),
                                         /*member=*/2, kBlock);
        ringScales.emplace_back(op.getScales());
      } else {
        auto op = RowScalesOp::create(builder, loc, f32, f32, ring, slot,
                                      blockRows[i], /*member=*/2, kBlock);
        ringScales.push_back({op.getUpper(), op.getLower()});
      }
    }
}

/// FP8 with promotion: per K block, each block's fresh product is added to an
/// FP32 fragment. Only the first `liveBlocks` n-blocks are multiplied. Returns
/// the fragments, then slot and phase.
SmallVector<Value> MmaPartitioner::buildPromotingLoop(int64_t residue,
                                                      int liveBlocks) {
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  GlobalScales reader = globalScales(residue);
  SmallVector<Value> held =
      whereSteps(reader.numHeld(), [&] { return reader.chunk(lower); });
  SmallVector<Value> inits(numBlocks(), Value());
  for (Value &init : inits)
    init = zeroFragment();
  llvm::append_range(inits, loop.getInitArgs().take_back(2));
  inits.push_back(
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false)));
  llvm::append_range(inits, whereSteps(reader.numCarried(),
                                       [&] { return reader.initial(lower); }));
  size_t count = inits.size();
  SmallVector<Value> results;
  if (reader.chunkSteps() == 0) {
    results =
        buildSteps(reader, residue, liveBlocks, lower, upper, held, inits);
  } else {
    llvm::append_range(inits, held);
    Value steps = constantI32(builder, loc, reader.chunkSteps());
    auto chunks = scf::ForOp::create(builder, loc, lower, upper, steps, inits);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(chunks.getBody());
    Value first = chunks.getInductionVar();
    Value behind = arith::AddIOp::create(builder, loc, first, steps);
    Value end = arith::MinSIOp::create(builder, loc, behind, upper);
    auto arguments = chunks.getRegionIterArgs();
    SmallVector<Value> next = reader.chunk(behind);
    SmallVector<Value> yields =
        buildSteps(reader, residue, liveBlocks, first, end,
                   arguments.drop_front(count), arguments.take_front(count));
    llvm::append_range(yields, next);
    scf::YieldOp::create(builder, loc, yields);
    results.assign(chunks.getResults().begin(), chunks.getResults().end());
  }
  results.truncate(numBlocks() + 2);
  return results;
}

/// One dgemm.mma of a block: of all the slot's K blocks, or of one or half of
/// one.
Value MmaPartitioner::issue(Value slot, int block, Value accumulator,
                            UnitAttr fresh, IntegerAttr kBlock,
                            IntegerAttr half) {
  int mb = block / schedule.nBlocks, nb = block % schedule.nBlocks;
  return MmaOp::create(builder, loc, inflight, ring, slot, blockRows[mb],
                       builder.getI32IntegerAttr(nb * schedule.nPerBlock()),
                       accumulator, fresh, kBlock, half,
                       swapped() ? builder.getUnitAttr() : UnitAttr());
}

/// The fresh product of one K block of the slot. Consumers in turn wait for
/// theirs first, and pass it on once the first half has run: what remains keeps
/// the tensor core busy until the next one's multiplications arrive.
Value MmaPartitioner::multiply(Value slot, int block, int kBlock) {
  Value undefined = WgmmaUndefOp::create(builder, loc, inflight);
  UnitAttr fresh = builder.getUnitAttr();
  IntegerAttr number = builder.getI32IntegerAttr(kBlock);
  if (!schedule.inTurn)
    return issue(slot, block, undefined, fresh, number);
  OrderWaitOp::create(builder, loc, wg);
  Value first = issue(slot, block, undefined, fresh, number,
                      builder.getI32IntegerAttr(0));
  Value product = issue(slot, block, first, UnitAttr(), number,
                        builder.getI32IntegerAttr(1));
  OrderArriveOp::create(builder, loc, nextInTurn, builder.getI32IntegerAttr(1));
  return product;
}

/// The loop over steps `first` to `end` (excluded), whose scales `held` holds.
/// It carries the fragments, slot, phase, whether the slot has been seen to be
/// full, and what its reader asks for.
SmallVector<Value> MmaPartitioner::buildSteps(GlobalScales &reader,
                                              int64_t residue, int liveBlocks,
                                              Value first, Value end,
                                              ValueRange held,
                                              ValueRange inits) {
  auto copy =
      scf::ForOp::create(builder, loc, first, end, loop.getStep(), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  Value step = copy.getInductionVar();
  auto arguments = copy.getRegionIterArgs();
  SmallVector<Value> sums(arguments.take_front(numBlocks()));
  Value slot = arguments[numBlocks()], phase = arguments[numBlocks() + 1];
  Value seen = arguments[numBlocks() + 2];
  SmallVector<Value> carried =
      reader.enter(held, arguments.drop_front(numBlocks() + 3), step, first);
  WaitOp::create(builder, loc, ring, slot, phase, seen);

  // Loads from shared memory queue behind the operands of running products. So
  // n-blocks that keep the tensor core busy have their scales read first
  // (measured: 4 % at 8192x8192x8192); a product that nothing overlaps is
  // rather issued without delay (2 %).
  bool scalesFirst = schedule.overlapPromotion && schedule.nBlocks > 1;
  if (scalesFirst)
    readRingScales(slot);

  // The step's products in order; with overlap one is promoted while the next
  // ones multiply.
  SmallVector<int> live;
  for (int block = 0; block < numBlocks(); ++block)
    if (block % schedule.nBlocks < liveBlocks)
      live.push_back(block);
  int perKBlock = static_cast<int>(live.size());
  int total = perKBlock * schedule.kBlocksPerStage;
  int depth = std::min(schedule.chainsInFlight(), total);
  SmallVector<Value> partials(total);
  AdvanceOp next;
  Value seenNext;
  for (int i = 0; i < total + depth - 1; ++i) {
    if (i < total)
      partials[i] = multiply(slot, live[i % perKBlock], i / perKBlock);
    int done = i - (depth - 1);
    if (done < 0)
      continue;
    if (done == 0 && !scalesFirst)
      readRingScales(slot);
    // Every multiplication has been issued, and what is in front of the last
    // promotion waits for them all: the slot is free before its arithmetic.
    // Whether the next one is full is asked here too, so that the answer comes
    // while the arithmetic goes on.
    if (done == total - 1) {
      ReleaseOp::create(builder, loc, ring, slot, 0);
      next =
          AdvanceOp::create(builder, loc, i32, i32, ring, slot, phase, Value{});
      seenNext = PeekOp::create(builder, loc, builder.getI1Type(), ring,
                                next.getResult(0), next.getResult(1));
    }
    int block = live[done % perKBlock];
    promoteBlock(residue, done / perKBlock, block, reader, partials[done],
                 sums[block]);
  }
  SmallVector<Value> yields(sums);
  llvm::append_range(yields, next.getResults());
  yields.push_back(seenNext);
  llvm::append_range(yields, carried);
  scf::YieldOp::create(builder, loc, yields);
  return SmallVector<Value>(copy.getResults());
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
  WaitOp::create(builder, loc, ring, slot, phase, Value());
  for (int block = 0; block < numBlocks(); ++block)
    sums[block] = issue(slot, block, sums[block]);
  Value hasPrevious =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                            copy.getInductionVar(), loop.getLowerBound());
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
    return buildPromotingLoop(0, schedule.nBlocks);
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
    SmallVector<Value> results =
        buildPromotingLoop(residue * residueStep(), schedule.nBlocks);
    scf::YieldOp::create(builder, loc, results);
  };
  fill(choice.getDefaultRegion(), 0);
  for (auto [region, residue] : llvm::zip(choice.getCaseRegions(), cases))
    fill(region, residue);
  auto results = choice.getResults();
  return SmallVector<Value>(results.begin(), results.end());
}

/// Where the last tile along N has n-blocks without a column of D, it has a
/// loop of its own, which leaves them out.
SmallVector<Value> MmaPartitioner::buildPromotingLoops() {
  int liveBlocks = lastLiveBlocks();
  if (liveBlocks == schedule.nBlocks)
    return switchOverResidues();
  int64_t last = problem.n - lastColumns();
  int64_t residue = numResidues() == 1 ? 0 : last % problem.scaleB.rows;
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       n0, constantI32(builder, loc, last));
  SmallVector<Type> types(numBlocks(), fragment);
  types.append(2, builder.getI32Type());
  auto choice = scf::IfOp::create(builder, loc, types, isLast,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> results = buildPromotingLoop(residue, liveBlocks);
  scf::YieldOp::create(builder, loc, results);
  builder.setInsertionPointToStart(choice.elseBlock());
  results = switchOverResidues();
  scf::YieldOp::create(builder, loc, results);
  return SmallVector<Value>(choice.getResults());
}

/// The cluster's partial sums meet in its first CTA, which alone stores.
void MmaPartitioner::storeInFirstCta(OpBuilder &at, TileStoreOp store,
                                     ArrayRef<Value> fragments) {
  SmallVector<Type> types(fragments.size(), fragment);
  auto sums =
      ClusterReduceOp::create(at, loc, types, fragments, wg, schedule.splitK);
  Value rank = ClusterRankOp::create(at, loc, i32);
  Value isFirst = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, rank,
                                        constantI32(at, loc, 0));
  scf::IfOp::create(at, loc, isFirst, [&](OpBuilder &body, Location loc) {
    TileStoreOp::create(body, store.getLoc(), sums.getSums(), store.getM0(),
                        store.getN0(), wg);
    scf::YieldOp::create(body, loc);
  });
}

/// i32; tiles count along N first, whatever order they are walked in.
Value MmaPartitioner::tileNumber(OpBuilder &at) {
  Value tilesN =
      ceilDivide(at, loc, sizeOf(at, loc, kernel, Symbol::N), schedule.tileN);
  Value row =
      arith::DivUIOp::create(at, loc, m0, constantI32(at, loc, schedule.tileM));
  Value column =
      arith::DivUIOp::create(at, loc, n0, constantI32(at, loc, schedule.tileN));
  Value before = arith::MulIOp::create(at, loc, row, tilesN);
  return arith::AddIOp::create(at, loc, before, column);
}

/// A tile's partial sums meet in the workspace; whoever comes last stores.
void MmaPartitioner::storeInLastCta(OpBuilder &at, TileStoreOp store,
                                    ArrayRef<Value> fragments) {
  SmallVector<Type> types(fragments.size(), fragment);
  Value part, parts, place;
  if (tiles.getShares()) {
    part = tiles.getPart();
    parts = tiles.getParts();
    place = tiles.getPlace();
  } else {
    part = SplitPartOp::create(at, loc, i32);
    parts = constantI32(at, loc, schedule.splitK);
    place = arith::MulIOp::create(at, loc, tileNumber(at), parts);
  }
  auto reduce = WorkspaceReduceOp::create(
      at, loc, types, at.getI1Type(), fragments,
      kernel.getPointer(Operand::Workspace), wg, part, parts, place);
  scf::IfOp::create(
      at, loc, reduce.getLast(), [&](OpBuilder &body, Location loc) {
        TileStoreOp::create(body, store.getLoc(), reduce.getSums(),
                            store.getM0(), store.getN0(), wg);
        scf::YieldOp::create(body, loc);
      });
}

void MmaPartitioner::finish(ArrayRef<Value> fragments, Value slot,
                            Value phase) {
  auto state = loop.getResults().take_back(2);
  state[0].replaceAllUsesWith(slot);
  state[1].replaceAllUsesWith(phase);
  TileStoreOp store = findStore();
  OpBuilder at(store);
  if (schedule.splitKind == ::dgemm::SplitKind::Cluster)
    storeInFirstCta(at, store, fragments);
  else if (schedule.meetsInWorkspace())
    storeInLastCta(at, store, fragments);
  else
    TileStoreOp::create(at, store.getLoc(), fragments, store.getM0(),
                        store.getN0(), wg);
  store.erase();
  Operation *zero = loop.getInitArgs()[0].getDefiningOp();
  loop.erase();
  if (zero->use_empty())
    zero->erase();
}

LogicalResult MmaPartitioner::verify() {
  Type tile = FragmentType::get(builder.getContext(), schedule.mmaRows(),
                                schedule.mmaCols(), builder.getF32Type());
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
    if (swapped() && problem.scaleB.blockedAlongK()) {
      Value column = arith::AddIOp::create(builder, loc, n0, row);
      rowGroups.push_back(arith::DivUIOp::create(
          builder, loc, column,
          constantI32(builder, loc, problem.scaleB.rows)));
    }
    if (scalesOfAInMemory() && !swapped())
      globalRows.push_back(arith::AddIOp::create(builder, loc, m0, row));
  }
  if (schedule.inTurn) {
    Value next =
        arith::AddIOp::create(builder, loc, wg, constantI32(builder, loc, 1));
    nextInTurn = arith::RemUIOp::create(
        builder, loc, next, constantI32(builder, loc, schedule.consumers));
  }
  limit = sizeOf(builder, loc, kernel, Symbol::M);
  // K = 0 gives a number that is never used.
  Value blocksOfK = ceilDivide(
      builder, loc, sizeOf(builder, loc, kernel, Symbol::K), schedule.tileK);
  lastBlock = arith::SubIOp::create(builder, loc, blocksOfK,
                                    constantI32(builder, loc, 1));
  if (problem.scaleB.blockedAlongK()) {
    Value width = constantI32(builder, loc, problem.scaleB.rows);
    firstGroup = arith::DivUIOp::create(builder, loc, n0, width);
    groups = ceilDivide(builder, loc, sizeOf(builder, loc, kernel, Symbol::N),
                        problem.scaleB.rows);
  }

  if (promotes()) {
    SmallVector<Value> results = buildPromotingLoops();
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
  Value any = hasSteps();
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
