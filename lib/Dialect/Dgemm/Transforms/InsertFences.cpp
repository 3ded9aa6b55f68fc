// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Orders asynchronous multiplications and stores: fences in front, commits
// behind, waits before the results or the slot are needed.

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"

#include "mlir/IR/Builders.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMINSERTFENCESPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

namespace {
/// Walks one block in order. State never crosses a block's end: accumulators
/// that stay in flight over a loop's back edge are typed as such.
class FenceInserter {
public:
  explicit FenceInserter(Block &block)
      : block(block), builder(block.getParentOp()->getContext()) {
    // A loop that carries accumulators in flight starts with the groups of its
    // last iteration still running.
    if (llvm::any_of(block.getArgumentTypes(), llvm::IsaPred<InflightType>))
      completed = -1;
  }

  void run();

private:
  struct Outstanding {
    Value value;
    int group;
  };

  size_t fenceRun(ArrayRef<Operation *> ops, size_t first);
  void commitAfter(Operation *op);
  /// Waits until at most `pending` groups run; resolves what is then complete.
  void waitFor(Operation *before, int pending);
  void visitPromote(PromoteOp promote);
  /// Waits before `op` unless at most `pending` groups run there anyway.
  void visitPending(Operation *op, int pending);
  /// Takes the fragments to pin, as operands of a tied op.
  SmallVector<Value> takePins();
  void replacePins(ArrayRef<Value> pins, ValueRange pinned, Operation *by);

  Block &block;
  OpBuilder builder;
  /// Groups committed in this block, and how many of them are known to be
  /// complete; -1: not even those committed before it.
  int groups = 0;
  int completed = 0;
  SmallVector<Outstanding> outstanding;
  /// Temporaries whose values have been promoted: the registers of the next
  /// fresh product, which keeps the compiler from doubling them.
  SmallVector<Value> spent;
  /// Sums computed since the last tied op; tied into the next one, or the
  /// compiler sinks their arithmetic below it.
  SmallVector<Value> pins;
  bool staged = false;
};
} // namespace

SmallVector<Value> FenceInserter::takePins() {
  SmallVector<Value> taken;
  std::swap(taken, pins);
  return taken;
}

void FenceInserter::replacePins(ArrayRef<Value> before, ValueRange after,
                                Operation *by) {
  for (size_t i = 0; i < before.size(); ++i) {
    Value old = before[i];
    old.replaceAllUsesExcept(after[i], by);
  }
}

void FenceInserter::commitAfter(Operation *op) {
  builder.setInsertionPointAfter(op);
  WgmmaCommitOp::create(builder, op->getLoc());
  ++groups;
}

/// Fences the run of multiplications that starts at `first`; returns the index
/// behind it. Scalar arithmetic in between does not end a run.
size_t FenceInserter::fenceRun(ArrayRef<Operation *> ops, size_t first) {
  SmallVector<MmaOp> run;
  size_t end = first;
  for (; end < ops.size(); ++end) {
    if (auto mma = dyn_cast<MmaOp>(ops[end]))
      run.push_back(mma);
    else if (!isa<WgmmaUndefOp>(ops[end]) && !isPure(ops[end]))
      break;
    else if (isa<PromoteOp>(ops[end]))
      break;
  }

  // A product in halves: the second goes on where the first one of this run
  // left off, with no fence of its own but a group of its own.
  auto continues = [&](MmaOp mma) {
    return llvm::is_contained(run, mma.getAccumulator().getDefiningOp<MmaOp>());
  };
  SmallVector<Value> accumulators;
  SmallVector<Type> handedTypes;
  SmallVector<MmaOp> tied;
  for (MmaOp mma : run) {
    Value accumulator = mma.getAccumulator();
    if (continues(mma))
      continue;
    if (mma.getFresh()) {
      if (spent.empty())
        continue;
      accumulator = spent.pop_back_val();
    }
    accumulators.push_back(accumulator);
    handedTypes.push_back(mma.getType());
    tied.push_back(mma);
  }
  SmallVector<Value> pin = takePins();
  builder.setInsertionPoint(run.front());
  auto fence =
      WgmmaFenceOp::create(builder, run.front().getLoc(), handedTypes,
                           ValueRange(pin).getTypes(), accumulators, pin);
  replacePins(pin, fence.getPinned(), fence);
  for (auto [mma, handed] : llvm::zip(tied, fence.getHanded())) {
    Operation *old = mma.getAccumulator().getDefiningOp();
    mma.getAccumulatorMutable().assign(handed);
    if (isa_and_nonnull<WgmmaUndefOp>(old) && old->use_empty())
      old->erase();
  }
  bool open = false;
  for (MmaOp mma : run) {
    open = !mma.getFresh() && !continues(mma);
    if (open)
      continue;
    if (!mma.getFresh())
      llvm::erase_if(outstanding, [&](const Outstanding &entry) {
        return entry.value == mma.getAccumulator();
      });
    outstanding.push_back({mma.getResult(), groups});
    commitAfter(mma);
  }
  if (open)
    commitAfter(run.back());
  return end;
}

void FenceInserter::waitFor(Operation *before, int pending) {
  completed = groups - pending;
  SmallVector<Value> resolve;
  SmallVector<Type> types;
  while (!outstanding.empty() && outstanding.front().group < completed) {
    Value value = outstanding.front().value;
    auto inflight = cast<InflightType>(value.getType());
    resolve.push_back(value);
    types.push_back(FragmentType::get(value.getContext(), inflight.getRows(),
                                      inflight.getCols(),
                                      inflight.getElementType()));
    outstanding.erase(outstanding.begin());
  }
  SmallVector<Value> pin = takePins();
  builder.setInsertionPoint(before);
  auto wait = WgmmaWaitOp::create(builder, before->getLoc(), types, TypeRange{},
                                  ValueRange(pin).getTypes(), pending, resolve,
                                  ValueRange{}, pin);
  replacePins(pin, wait.getPinned(), wait);
  for (auto [value, resolved] : llvm::zip(resolve, wait.getResolved()))
    value.replaceUsesWithIf(resolved, [](OpOperand &use) {
      return isa<PromoteOp>(use.getOwner());
    });
}

void FenceInserter::visitPromote(PromoteOp promote) {
  for (const Outstanding &entry : outstanding)
    if (entry.value == promote.getPartial()) {
      waitFor(promote, groups - entry.group - 1);
      break;
    }
  spent.push_back(promote.getPartial());
  pins.push_back(promote.getResult());
}

void FenceInserter::visitPending(Operation *op, int pending) {
  if (groups - pending > completed)
    waitFor(op, pending);
}

void FenceInserter::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (size_t i = 0; i < ops.size();) {
    Operation *op = ops[i];
    if (isa<MmaOp>(op)) {
      i = fenceRun(ops, i);
      continue;
    }
    if (auto promote = dyn_cast<PromoteOp>(op)) {
      visitPromote(promote);
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      visitPending(op, release.getPending());
    } else if (auto arrive = dyn_cast<OrderArriveOp>(op);
               arrive && arrive.getPending()) {
      visitPending(op, *arrive.getPending());
    } else if (isa<StageOp>(op)) {
      staged = true;
    } else if (isa<WarpgroupBarrierOp>(op) && staged) {
      // The threads that wrote fence; the barrier then lets the one that
      // issues the copy go.
      builder.setInsertionPoint(op);
      FenceAsyncOp::create(builder, op->getLoc());
      staged = false;
    } else if (auto guarded = dyn_cast<scf::IfOp>(op)) {
      // The wait is for all threads, so it stands outside the condition.
      for (ReleaseOp release : guarded.thenBlock()->getOps<ReleaseOp>())
        visitPending(op, release.getPending());
    }
    for (Region &region : op->getRegions())
      for (Block &nested : region)
        FenceInserter(nested).run();
    ++i;
  }
}

namespace {
struct InsertFencesPass
    : public mlir::dgemm::impl::DgemmInsertFencesPassBase<InsertFencesPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    bool done = false;
    kernel.walk([&](WgmmaCommitOp) { done = true; });
    if (done)
      return;
    for (RoleOp role : kernel.getBody().getOps<RoleOp>())
      if (!role.isProducer())
        FenceInserter(role.getBody().front()).run();
  }
};
} // namespace
