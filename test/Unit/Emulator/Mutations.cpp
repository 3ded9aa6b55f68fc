// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The kinds of fault. Each is a function that edits one op; listing and
// applying walk the module in the same way, so an index names one edit.

#include "Mutations.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"

#include <array>
#include <functional>

using namespace mlir;
using namespace ::dgemm::test;

namespace {
/// Called for every possible fault with the edit that plants it.
using Visit = std::function<void(const char *kind, Operation *op,
                                 const std::function<void()> &edit)>;
} // namespace

static Value constant(Operation *before, Type type, int64_t value) {
  OpBuilder b(before);
  return LLVM::ConstantOp::create(b, before->getLoc(), type,
                                  b.getIntegerAttr(type, value));
}

static void addTo(Operation *op, unsigned operand, int64_t delta) {
  Value old = op->getOperand(operand);
  OpBuilder b(op);
  Value sum = LLVM::AddOp::create(b, op->getLoc(), old,
                                  constant(op, old.getType(), delta));
  op->setOperand(operand, sum);
}

static void xorWith(Operation *op, unsigned operand, int64_t bits) {
  Value old = op->getOperand(operand);
  OpBuilder b(op);
  Value changed = LLVM::XOrOp::create(b, op->getLoc(), old,
                                      constant(op, old.getType(), bits));
  op->setOperand(operand, changed);
}

static void orWith(Operation *op, unsigned operand, int64_t bits) {
  Value old = op->getOperand(operand);
  OpBuilder b(op);
  op->setOperand(operand,
                 LLVM::OrOp::create(b, op->getLoc(), old,
                                    constant(op, old.getType(), bits)));
}

/// Moves a shared-memory pointer operand by some bytes.
static void shiftPointer(Operation *op, unsigned operand, int32_t bytes) {
  Value old = op->getOperand(operand);
  OpBuilder b(op);
  Value moved =
      LLVM::GEPOp::create(b, op->getLoc(), old.getType(), b.getI8Type(), old,
                          ArrayRef<LLVM::GEPArg>{bytes});
  op->setOperand(operand, moved);
}

/// The op of `block` that holds `op`, or is it.
static Operation *ancestorIn(Block *block, Operation *op) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}

/// The wgmma_wait that stands before `op` in an enclosing block of the same
/// loop body; null when there is none.
static Operation *precedingWait(Operation *op, Operation *&mover) {
  for (Operation *at = op; at && !isa<LLVM::LLVMFuncOp>(at);
       at = at->getParentOp()) {
    for (Operation *before = at->getPrevNode(); before;
         before = before->getPrevNode())
      if (isa<mlir::dgemm::WgmmaWaitOp>(before)) {
        mover = at;
        return before;
      }
    if (isa<scf::ForOp>(at))
      return nullptr;
  }
  return nullptr;
}

/// True when everything `op` uses is defined before `place`.
static bool canMoveBefore(Operation *op, Operation *place) {
  bool fine = true;
  op->walk([&](Operation *inner) {
    for (Value used : inner->getOperands()) {
      Operation *def = used.getDefiningOp();
      if (!def || op->isAncestor(def))
        continue;
      Operation *there = ancestorIn(place->getBlock(), def);
      if (there && !there->isBeforeInBlock(place))
        fine = false;
    }
  });
  return fine;
}

/// True behind the loop over K: what encloses `op` waits on no mbarrier itself.
static bool isBehindLoop(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && !loop.walk([&](NVVM::MBarrierTryWaitParityOp wait) {
                        return wait->getParentOfType<scf::ForOp>() == loop
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
}

/// True when a cluster barrier right behind a CTA barrier makes the same order.
static bool isCoveredByCluster(NVVM::BarrierOp barrier) {
  Operation *arrive = barrier->getNextNode();
  return !barrier.getNumberOfThreads() &&
         isa_and_nonnull<NVVM::ClusterArriveOp>(arrive) &&
         isa_and_nonnull<NVVM::ClusterWaitOp>(arrive->getNextNode());
}

/// True of what stands right in front of WGMMAs, behind it nothing but values
/// and a fence: the wait for a consumer's turn, or the end of a chain's first
/// half. Turns say when to multiply, not what.
static bool isBeforeWgmma(Operation *op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (isa<mlir::dgemm::WgmmaOp>(next))
      return true;
    if (!isPure(next) && !isa<mlir::dgemm::WgmmaFenceOp>(next))
      return false;
  }
  return false;
}

/// True where consumers multiply in turn.
static bool hasTurns(Operation *op) {
  return op->getParentOfType<LLVM::LLVMFuncOp>()
      .walk([](NVVM::BarrierOp barrier) {
        return isBeforeWgmma(barrier) ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What can be wrong with the phase that a wait or a test asks for; `kinds`
/// names the inverted parity, the constant ones and the wrong barrier.
static void visitPhase(Operation *op, const std::array<const char *, 4> &kinds,
                       const Visit &visit) {
  visit(kinds[0], op, [=] { xorWith(op, 1, 1); });
  for (int parity : {0, 1})
    visit(kinds[1 + parity], op, [=] {
      op->setOperand(1, constant(op, op->getOperand(1).getType(), parity));
    });
  visit(kinds[3], op, [=] { shiftPointer(op, 0, 8); });
}

static void visitBarriers(Operation *op, bool oneTile, const Visit &visit) {
  if (isa<NVVM::MBarrierArriveOp>(op)) {
    if (oneTile && isBehindLoop(op))
      return;
    visit("drop-arrive", op, [=] { op->erase(); });
    visit("arrive-wrong-barrier", op, [=] { shiftPointer(op, 0, 8); });
    visit("arrive-twice", op, [=] {
      OpBuilder b(op);
      b.clone(*op);
    });
    Operation *mover = nullptr;
    if (Operation *wait = precedingWait(op, mover))
      if (canMoveBefore(mover, wait))
        visit("early-release", op, [=] { mover->moveBefore(wait); });
  } else if (isa<NVVM::MBarrierArriveExpectTxOp>(op)) {
    visit("bytes-more", op, [=] { addTo(op, 1, 128); });
    visit("bytes-fewer", op, [=] { addTo(op, 1, -128); });
    visit("bytes-much-fewer", op, [=] { addTo(op, 1, -4096); });
    visit("expect-wrong-barrier", op, [=] { shiftPointer(op, 0, 8); });
    visit("drop-expect", op, [=] { op->erase(); });
  } else if (isa<NVVM::MBarrierTryWaitParityOp>(op)) {
    visit("drop-wait", op, [=] { op->erase(); });
    visitPhase(op,
               {"flip-parity", "freeze-parity-0", "freeze-parity-1",
                "wait-wrong-barrier"},
               visit);
  } else if (isa<NVVM::MBarrierTestWaitOp>(op)) {
    // "No" is always a right answer: the thread then waits.
    visit("test-says-yes", op, [=] {
      OpBuilder b(op);
      op->getResult(0).replaceAllUsesWith(LLVM::ConstantOp::create(
          b, op->getLoc(), b.getI1Type(), b.getBoolAttr(true)));
      op->erase();
    });
    visitPhase(op,
               {"test-flip-parity", "test-freeze-parity-0",
                "test-freeze-parity-1", "test-wrong-barrier"},
               visit);
  } else if (isa<NVVM::MBarrierInitOp>(op)) {
    visit("count-more", op, [=] { addTo(op, 1, 1); });
    visit("count-fewer", op, [=] { addTo(op, 1, -1); });
    visit("drop-init", op, [=] { op->erase(); });
    visit("init-wrong-place", op, [=] { shiftPointer(op, 0, 8); });
  } else if (isa<NVVM::FenceMbarrierInitOp>(op)) {
    visit("drop-init-fence", op, [=] { op->erase(); });
  } else if (isa<NVVM::FenceProxyOp>(op)) {
    visit("drop-proxy-fence", op, [=] { op->erase(); });
  } else if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    if (isCoveredByCluster(barrier))
      return;
    if (!isBeforeWgmma(op))
      visit("drop-barrier", op, [=] { op->erase(); });
    if (barrier.getNumberOfThreads())
      visit("barrier-more-threads", op,
            [=] { addTo(op, op->getNumOperands() - 1, 32); });
  } else if (isa<NVVM::BarrierArriveOp>(op)) {
    visit("drop-barrier-arrive", op, [=] { op->erase(); });
    // Whoever has the first of all turns, the others follow.
    bool firstTurn = !op->getParentOfType<scf::ForOp>() && hasTurns(op);
    if (op->getNumOperands() == 2 && !firstTurn)
      visit("barrier-arrive-wrong-id", op, [=] { addTo(op, 0, 1); });
  } else if (isa<NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp>(op)) {
    Operation *wait = op->getNextNode();
    if (wait && isa<NVVM::ClusterWaitOp>(wait))
      visit("drop-cluster-barrier", op, [=] {
        wait->erase();
        op->erase();
      });
    else
      visit("drop-cluster-arrive", op, [=] { op->erase(); });
    // It orders something where the CTAs store into each other; elsewhere the
    // mbarriers do.
    bool storesAway = false;
    op->getParentOfType<LLVM::LLVMFuncOp>().walk([&](LLVM::StoreOp store) {
      storesAway |= store.getAddr().getType().getAddressSpace() == 7;
    });
    if (isa<NVVM::ClusterArriveOp>(op) && storesAway)
      visit("cluster-arrive-relaxed", op, [=] {
        OpBuilder b(op);
        NVVM::ClusterArriveRelaxedOp::create(b, op->getLoc(), b.getUnitAttr());
        op->erase();
      });
  } else if (isa<NVVM::ClusterWaitOp>(op)) {
    visit("drop-cluster-wait", op, [=] { op->erase(); });
  } else if (isa<NVVM::MapaOp>(op)) {
    // Lanes that signal one CTA each must not be permuted.
    visit("mapa-wrong-rank", op, [=] { orWith(op, 1, 1); });
    visit("mapa-shifted", op, [=] { shiftPointer(op, 0, 8); });
  }
}

/// Split K through global memory: CTAs count themselves in and order their
/// partial sums by fences.
static void visitAtomics(Operation *op, const Visit &visit) {
  if (isa<LLVM::FenceOp, NVVM::MembarOp>(op)) {
    visit("drop-fence", op, [=] { op->erase(); });
  } else if (isa<LLVM::AtomicRMWOp>(op)) {
    if (op->getResult(0).getType().isInteger()) {
      visit("count-in-more", op, [=] { addTo(op, 1, 1); });
      visit("count-in-elsewhere", op, [=] { shiftPointer(op, 0, 64); });
    } else {
      visit("add-elsewhere", op, [=] { shiftPointer(op, 0, 64); });
    }
  } else if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    if (load.getOrdering() == LLVM::AtomicOrdering::acquire)
      visit("load-relaxed", op, [=]() mutable {
        load.setOrdering(LLVM::AtomicOrdering::monotonic);
      });
  } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    if (store.getOrdering() == LLVM::AtomicOrdering::release)
      visit("store-relaxed", op, [=]() mutable {
        store.setOrdering(LLVM::AtomicOrdering::monotonic);
      });
  }
}

/// Every kernel may start before the one in front of it has ended.
static void visitGrid(Operation *op, const Visit &visit) {
  auto control = dyn_cast<NVVM::GriddepcontrolOp>(op);
  if (!control || control.getKind() != NVVM::GridDepActionKind::wait)
    return;
  visit("drop-grid-wait", op, [=] { op->erase(); });
  visit("late-grid-wait", op,
        [=] { op->moveBefore(op->getBlock()->getTerminator()); });
  visit("grid-wait-of-one", op, [=] {
    OpBuilder b(op);
    Value thread = NVVM::ThreadIdXOp::create(b, op->getLoc(), b.getI32Type());
    Value first = LLVM::ICmpOp::create(b, op->getLoc(), LLVM::ICmpPredicate::eq,
                                       thread, constant(op, b.getI32Type(), 0));
    auto one = scf::IfOp::create(b, op->getLoc(), first,
                                 /*withElseRegion=*/false);
    op->moveBefore(one.thenBlock()->getTerminator());
  });
}

static void visitCopies(Operation *op, const Visit &visit) {
  if (auto load =
          dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)) {
    const unsigned first = 2; // after destination and tensor map
    const unsigned barrier = first + unsigned(load.getCoordinates().size());
    visit("drop-load", op, [=] { op->erase(); });
    visit("load-wrong-barrier", op, [=] { shiftPointer(op, barrier, 8); });
    visit("load-shifted", op, [=] { shiftPointer(op, 0, 128); });
    visit("load-far-shifted", op, [=] { shiftPointer(op, 0, 4096); });
    visit("load-coordinate-0", op, [=] { addTo(op, first, 1); });
    visit("load-coordinate-1", op, [=] { addTo(op, first + 1, 1); });
    visit("load-swapped-coordinates", op, [=] {
      Value x = op->getOperand(first);
      op->setOperand(first, op->getOperand(first + 1));
      op->setOperand(first + 1, x);
    });
    if (Value mask = load.getMulticastMask()) {
      unsigned index = 0;
      while (op->getOperand(index) != mask)
        ++index;
      visit("multicast-wrong-mask", op, [=] { xorWith(op, index, 1); });
      visit("multicast-other-mask", op, [=] { xorWith(op, index, 2); });
    }
  } else if (isa<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op)) {
    visit("drop-store", op, [=] { op->erase(); });
    visit("store-shifted", op, [=] { shiftPointer(op, 1, 128); });
    visit("store-coordinate-0", op, [=] { addTo(op, 2, 8); });
    visit("store-coordinate-1", op, [=] { addTo(op, 3, 1); });
  } else if (isa<NVVM::CpAsyncBulkCommitGroupOp>(op)) {
    visit("drop-bulk-commit", op, [=] { op->erase(); });
  } else if (auto wait = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op)) {
    visit("drop-bulk-wait", op, [=] { op->erase(); });
    visit("bulk-wait-weaker", op,
          [=]() mutable { wait.setGroup(wait.getGroup() + 1); });
  } else if (isa<NVVM::StMatrixOp>(op)) {
    visit("stmatrix-shifted", op, [=] { shiftPointer(op, 0, 16); });
  } else if (isa<mlir::dgemm::LoadGlobalOp>(op)) {
    visit("global-load-shifted", op, [=] { shiftPointer(op, 0, 16); });
  }
}

static void visitWgmma(Operation *op, const Visit &visit) {
  if (auto wait = dyn_cast<mlir::dgemm::WgmmaWaitOp>(op)) {
    // In front of a turn handed on, it only says when.
    bool timing = wait->getNumResults() == 0 && wait->getNextNode() &&
                  isa<NVVM::BarrierArriveOp>(wait->getNextNode());
    if (!timing)
      visit("wgmma-wait-weaker", op,
            [=]() mutable { wait.setPending(wait.getPending() + 1); });
  } else if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    if (!isBeforeWgmma(op))
      visit("drop-wgmma-commit", op, [=] { op->erase(); });
  } else if (auto fence = dyn_cast<mlir::dgemm::WgmmaFenceOp>(op)) {
    // A fence can be left out when its values are in flight already; it
    // matters when they are fresh, as their registers were in use before.
    const bool fresh = llvm::any_of(op->getOperands(), [](Value value) {
      return value.getDefiningOp<mlir::dgemm::WgmmaUndefOp>() != nullptr;
    });
    if (fresh && llvm::equal(fence->getOperandTypes(), fence->getResultTypes()))
      visit("drop-wgmma-fence", op, [=] {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
      });
  } else if (auto multiply = dyn_cast<mlir::dgemm::WgmmaOp>(op)) {
    for (unsigned operand : {0u, 1u}) {
      const bool a = operand == 0;
      visit(a ? "descriptor-a-step" : "descriptor-b-step", op,
            [=] { addTo(op, operand, 1); });
      visit(a ? "descriptor-a-swizzle" : "descriptor-b-swizzle", op,
            [=] { xorWith(op, operand, int64_t(3ull << 62)); });
      visit(a ? "descriptor-a-stride" : "descriptor-b-stride", op,
            [=] { xorWith(op, operand, int64_t(96) << 32); });
      visit(a ? "descriptor-a-slot" : "descriptor-b-slot", op,
            [=] { addTo(op, operand, 1024 / 16 * 8); });
    }
    visit("scale-d", op, [=]() mutable {
      multiply.setScaleD(multiply.getScaleD() == "zero" ? "one" : "zero");
    });
  }
}

static void visitAll(ModuleOp module, bool oneTile, const Visit &visit) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    visitBarriers(op, oneTile, visit);
    visitAtomics(op, visit);
    visitGrid(op, visit);
    visitCopies(op, visit);
    visitWgmma(op, visit);
  }
}

namespace dgemm::test {
std::vector<Mutation> listMutations(ModuleOp l3, bool oneTile) {
  std::vector<Mutation> out;
  llvm::DenseMap<Operation *, unsigned> numbers;
  unsigned number = 0;
  l3.walk<WalkOrder::PreOrder>([&](Operation *op) { numbers[op] = ++number; });
  visitAll(l3, oneTile,
           [&](const char *kind, Operation *op, const std::function<void()> &) {
             out.push_back({kind, op->getName().getStringRef().str() + " #" +
                                      std::to_string(numbers[op])});
           });
  return out;
}
} // namespace dgemm::test

namespace dgemm::test {
void applyMutation(ModuleOp l3, bool oneTile, size_t index) {
  size_t next = 0;
  std::function<void()> chosen;
  visitAll(l3, oneTile,
           [&](const char *, Operation *, const std::function<void()> &edit) {
             if (next++ == index)
               chosen = edit;
           });
  if (chosen)
    chosen();
}
} // namespace dgemm::test
