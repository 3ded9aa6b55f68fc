// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Spells out what happens to a finished tile: late scales, C, the store.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Runtime/KernelInterface.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMLOWEREPILOGUEPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::Operand;
using ::dgemm::Symbol;

namespace {
class EpilogueLowering {
public:
  EpilogueLowering(KernelOp kernel, TileStoreOp store)
      : kernel(kernel), store(store), problem(kernel.getProblem().getValue()),
        schedule(kernel.getSchedule().getValue()),
        plan(::dgemm::planSharedMemory(problem, schedule)), builder(store),
        loc(store.getLoc()), wg(store.getWg()), fragments(store.getValues()),
        element(elementTypeOf(kernel.getContext(), problem.d)) {}

  /// Reports what `run` could not rewrite.
  LogicalResult verify();
  void run();

private:
  int columnOf(int nBlock) const { return nBlock * schedule.nPerBlock(); }
  bool swapped() const { return schedule.form != ::dgemm::Form::Plain; }
  const ::dgemm::ScaleSpec &specOf(Operand operand) const {
    return operand == Operand::ScaleA ? problem.scaleA : problem.scaleB;
  }
  /// Whether scales wait for the epilogue: one for each operand, or for each
  /// of its rows.
  bool scalesLate() const {
    return problem.scaleA.present() && !problem.scaleA.blockedAlongK();
  }
  Operation *findReadingPoint();
  void readLateScales();
  void applyLateScales();
  void addC();
  void storeFromRegisters(OpBuilder &body);
  void storeStaged(OpBuilder &body);
  /// One store box: columns of the tile, and the m64 block it is cut from.
  struct Box {
    int block, column;
  };
  SmallVector<Box> boxes() const;
  void stageBox(OpBuilder &body, const Box &box, int64_t offset);
  void onLeader(OpBuilder &body, function_ref<void(OpBuilder &)> fill);

  KernelOp kernel;
  TileStoreOp store;
  ::dgemm::Problem problem;
  ::dgemm::Schedule schedule;
  ::dgemm::SmemPlan plan;
  OpBuilder builder;
  Location loc;
  Value wg;
  SmallVector<Value> fragments;
  Type element;
  Value sizeM, sizeN;
  /// First row in D of each m64 block; first column in D of each n-block; the
  /// other way round in swap-AB form.
  SmallVector<Value> rows, cols;
  /// Late scales of each m64 block's rows (none, or a thread's two) and of
  /// each n-block's columns (one, or a thread's own).
  SmallVector<SmallVector<Value>> rowScales, colScales;
};
} // namespace

/// Registers that a consumer needs beside accumulators and scales.
static constexpr int kOtherRegisters = 24;
/// And more where a tile may be stored in either of two ways: 128x256 tiles
/// spilled without.
static constexpr int kCheckedStoreRegisters = 16;

/// Scales are read while the tile's last products still run, if there are
/// registers for them beside the accumulators; else when they are needed.
Operation *EpilogueLowering::findReadingPoint() {
  if (!scalesLate())
    return store;
  auto wait = fragments.front().getDefiningOp<WgmmaWaitOp>();
  int available = schedule.usesSetMaxRegisters()
                      ? schedule.regsConsumer
                      : ::dgemm::registersAtEntry(schedule, {});
  int needed = ::dgemm::accumulatorRegisters(problem, schedule) +
               schedule.mmaCols() / 4 + 2 * schedule.mBlocks();
  if (schedule.store == ::dgemm::StoreKind::Tma &&
      ::dgemm::mayHaveRaggedColumns(problem))
    needed += kCheckedStoreRegisters;
  bool early = wait && wait->getBlock() == store->getBlock() &&
               needed + kOtherRegisters <= available;
  return early ? wait.getOperation() : store.getOperation();
}

void EpilogueLowering::readLateScales() {
  if (!scalesLate())
    return;
  Type f32 = builder.getF32Type();
  Value none = constantI32(builder, loc, 0);
  Value noStride = constantI64(builder, loc, 0);
  auto strideOf = [&](Operand operand) -> Value {
    if (specOf(operand).major == ::dgemm::ScaleMajor::MN)
      return constantI64(builder, loc, 1);
    return kernel.getSize(operand == Operand::ScaleA ? Symbol::LdScaleA
                                                     : Symbol::LdScaleB);
  };
  Operand ofRows = swapped() ? Operand::ScaleB : Operand::ScaleA;
  Operand ofCols = swapped() ? Operand::ScaleA : Operand::ScaleB;
  rowScales.resize(rows.size());
  colScales.resize(cols.size());
  Value factor;
  if (specOf(ofRows).perTensor()) {
    factor = LLVM::LoadOp::create(builder, loc, f32, kernel.getPointer(ofRows));
  } else {
    Value stride = strideOf(ofRows), limit = swapped() ? sizeN : sizeM;
    for (auto [row, scales] : llvm::zip(rows, rowScales)) {
      auto op =
          GlobalRowScalesOp::create(builder, loc, kernel.getPointer(ofRows),
                                    row, limit, none, stride, noStride);
      scales = {op.getUpper(), op.getLower()};
    }
  }
  if (specOf(ofCols).perTensor()) {
    Value scale =
        LLVM::LoadOp::create(builder, loc, f32, kernel.getPointer(ofCols));
    colScales.assign(cols.size(), {scale});
  } else {
    Value stride = strideOf(ofCols), limit = swapped() ? sizeM : sizeN;
    SmallVector<Type> types(schedule.nPerBlock() / 4, f32);
    for (auto [col, scales] : llvm::zip(cols, colScales)) {
      auto op = GlobalColumnScalesOp::create(builder, loc, types,
                                             kernel.getPointer(ofCols), col,
                                             limit, none, stride, noStride);
      scales = SmallVector<Value>(op.getScales());
    }
  }
  if (!factor)
    return;
  for (SmallVector<Value> &scales : colScales)
    for (Value &scale : scales)
      scale = arith::MulFOp::create(builder, loc, factor, scale);
}

void EpilogueLowering::applyLateScales() {
  if (!scalesLate())
    return;
  for (auto [index, fragment] : llvm::enumerate(fragments)) {
    int mb = index / schedule.nBlocks, nb = index % schedule.nBlocks;
    fragment = ScaleFragmentOp::create(builder, loc, fragment.getType(),
                                       fragment, rowScales[mb], colScales[nb]);
  }
}

void EpilogueLowering::addC() {
  if (!problem.accumulate)
    return;
  for (auto [index, fragment] : llvm::enumerate(fragments)) {
    int mb = index / schedule.nBlocks, nb = index % schedule.nBlocks;
    fragment = AddGlobalOp::create(
        builder, loc, fragment.getType(), fragment,
        kernel.getPointer(Operand::C), rows[mb], cols[nb],
        swapped() ? sizeN : sizeM, swapped() ? sizeM : sizeN,
        kernel.getSize(Symbol::LdC), element, swapped());
  }
}

void EpilogueLowering::storeFromRegisters(OpBuilder &body) {
  for (auto [index, fragment] : llvm::enumerate(fragments)) {
    int mb = index / schedule.nBlocks, nb = index % schedule.nBlocks;
    StoreGlobalOp::create(body, loc, fragment, kernel.getPointer(Operand::D),
                          rows[mb], cols[nb], swapped() ? sizeN : sizeM,
                          swapped() ? sizeM : sizeN,
                          kernel.getSize(Symbol::LdD), element, swapped());
  }
}

SmallVector<EpilogueLowering::Box> EpilogueLowering::boxes() const {
  SmallVector<Box> all;
  int width = plan.storeBoxColumns;
  for (int mb = 0; mb < schedule.mBlocks(); ++mb)
    for (int column = 0; column < schedule.tileN; column += width)
      // The last box overlaps its neighbour rather than reaching into the next
      // tile: both write the same values there.
      all.push_back({mb, std::min(column, schedule.tileN - width)});
  return all;
}

/// A box may take its columns from two n-blocks.
void EpilogueLowering::stageBox(OpBuilder &body, const Box &box,
                                int64_t offset) {
  int width = plan.storeBoxColumns, n = schedule.nPerBlock();
  for (int nb = 0; nb < schedule.nBlocks; ++nb) {
    int from = std::max(box.column, columnOf(nb));
    int to = std::min(box.column + width, columnOf(nb) + n);
    if (from >= to)
      continue;
    StageOp::create(body, loc, fragments[box.block * schedule.nBlocks + nb], wg,
                    from - columnOf(nb), to - from, from - box.column, width,
                    static_cast<int32_t>(offset), element);
  }
}

void EpilogueLowering::onLeader(OpBuilder &body,
                                function_ref<void(OpBuilder &)> fill) {
  Value leader = IsLeaderOp::create(body, loc, body.getI1Type());
  scf::IfOp::create(body, loc, leader, [&](OpBuilder &inner, Location loc) {
    fill(inner);
    scf::YieldOp::create(inner, loc);
  });
}

void EpilogueLowering::storeStaged(OpBuilder &body) {
  SmallVector<Box> all = boxes();
  Value map = kernel.getTensorMap(Operand::D);
  for (size_t first = 0; first < all.size(); first += plan.storeBoxesPerChunk) {
    ArrayRef<Box> chunk =
        ArrayRef<Box>(all).slice(first).take_front(plan.storeBoxesPerChunk);
    // The staging area may still be read by the copies of the last round.
    onLeader(body, [&](OpBuilder &inner) {
      StoreWaitOp::create(inner, loc, 0, /*read=*/true);
    });
    WarpgroupBarrierOp::create(body, loc, wg);
    for (auto [slot, box] : llvm::enumerate(chunk))
      stageBox(body, box, slot * plan.storeBoxBytes);
    WarpgroupBarrierOp::create(body, loc, wg);
    onLeader(body, [&](OpBuilder &inner) {
      for (auto [slot, box] : llvm::enumerate(chunk)) {
        Value column = arith::AddIOp::create(
            inner, loc, store.getN0(), constantI32(inner, loc, box.column));
        TmaStoreOp::create(inner, loc, map, column, rows[box.block], wg,
                           static_cast<int32_t>(slot * plan.storeBoxBytes));
      }
      StoreCommitOp::create(inner, loc);
    });
  }
}

LogicalResult EpilogueLowering::verify() {
  auto role = store->getParentOfType<RoleOp>();
  if (wg && (!role || role != findRole(kernel, "consumer")))
    return store.emitOpError("must stand in the kernel's consumer role");
  size_t expected = schedule.mBlocks() * schedule.nBlocks;
  if (fragments.size() != expected)
    return store.emitOpError()
           << "expected " << expected << " blocks of a consumer's tile, found "
           << fragments.size();
  Type block = FragmentType::get(kernel.getContext(), schedule.rowsPerBlock(),
                                 schedule.nPerBlock(),
                                 Float32Type::get(kernel.getContext()));
  for (Value fragment : fragments)
    if (fragment.getType() != block)
      return store.emitOpError()
             << "expected blocks of type " << block << ", as scheduled; found "
             << fragment.getType();
  return success();
}

void EpilogueLowering::run() {
  builder.setInsertionPoint(findReadingPoint());
  sizeM = sizeOf(builder, loc, kernel, Symbol::M);
  sizeN = sizeOf(builder, loc, kernel, Symbol::N);
  // Swapped, the fragments are blocks of D transposed.
  Value row = store.getM0(), col = store.getN0();
  if (swapped())
    std::swap(row, col);
  if (wg && schedule.mode == ::dgemm::ConsumerMode::Cooperative) {
    Value below = arith::MulIOp::create(
        builder, loc, wg,
        constantI32(builder, loc, schedule.rowsPerConsumer()));
    row = arith::AddIOp::create(builder, loc, row, below);
  }
  for (int mb = 0; mb < schedule.mBlocks(); ++mb)
    rows.push_back(arith::AddIOp::create(
        builder, loc, row,
        constantI32(builder, loc, schedule.rowsPerBlock() * mb)));
  for (int nb = 0; nb < schedule.nBlocks; ++nb)
    cols.push_back(arith::AddIOp::create(
        builder, loc, col, constantI32(builder, loc, columnOf(nb))));
  readLateScales();
  builder.setInsertionPoint(store);
  applyLateScales();
  addC();

  if (schedule.store != ::dgemm::StoreKind::Tma) {
    storeFromRegisters(builder);
  } else if (!::dgemm::mayHaveRaggedColumns(problem)) {
    storeStaged(builder);
  } else {
    // TMA clips a box at D's last column, but in granules of 16 bytes: a tile
    // that ends inside a granule would touch what lies beyond D.
    Value granule = constantI32(builder, loc, 16 / ::dgemm::sizeOf(problem.d));
    Value rest = arith::RemUIOp::create(builder, loc, sizeN, granule);
    Value ragged = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         rest, constantI32(builder, loc, 0));
    Value end = arith::AddIOp::create(
        builder, loc, store.getN0(), constantI32(builder, loc, schedule.tileN));
    Value beyond = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sgt, end, sizeN);
    Value checked = arith::AndIOp::create(builder, loc, ragged, beyond);
    scf::IfOp::create(
        builder, loc, checked,
        [&](OpBuilder &body, Location loc) {
          storeFromRegisters(body);
          scf::YieldOp::create(body, loc);
        },
        [&](OpBuilder &body, Location loc) {
          storeStaged(body);
          scf::YieldOp::create(body, loc);
        });
  }
  store.erase();
}

namespace {
struct LowerEpiloguePass
    : public mlir::dgemm::impl::DgemmLowerEpiloguePassBase<LowerEpiloguePass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<TileStoreOp> stores;
    // In register form there are no warpgroups: one warp stores.
    bool registers =
        kernel.getSchedule().getValue().form == ::dgemm::Form::Register;
    kernel.walk([&](TileStoreOp store) {
      if (store.getWg() || registers)
        stores.push_back(store);
    });
    if (stores.empty())
      return;
    for (TileStoreOp store : stores)
      if (failed(EpilogueLowering(kernel, store).verify()))
        return signalPassFailure();
    for (TileStoreOp store : stores)
      EpilogueLowering(kernel, store).run();
    if (kernel.getSchedule().getValue().store == ::dgemm::StoreKind::Tma)
      drainStores(findRole(kernel, "consumer"));
  }

  /// A warpgroup's shared memory must outlive the copies that read it.
  void drainStores(RoleOp consumer) {
    OpBuilder builder = OpBuilder::atBlockEnd(&consumer.getBody().front());
    Location loc = consumer.getLoc();
    Value leader = IsLeaderOp::create(builder, loc, builder.getI1Type());
    scf::IfOp::create(builder, loc, leader, [&](OpBuilder &body, Location loc) {
      StoreWaitOp::create(body, loc, 0, /*read=*/true);
      scf::YieldOp::create(body, loc);
    });
  }
};
} // namespace
