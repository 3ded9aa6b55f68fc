// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewriting of barriers, copies and WGMMA.

#include "OpRewriter.h"

#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

using namespace mlir;
using ::dgemm::DType;
using namespace ::dgemm::emu;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

bool OpRewriter::rewriteBarriers(Operation *op) {
  Location loc = op->getLoc();
  // Replaces the op by a call that may be predicated; a result becomes 0 when
  // the predicate is false, as no such form has a result.
  const auto finish = [&](StringRef name, ArrayRef<Value> operands,
                          Value predicate, bool hasState) {
    guard(predicate);
    Value state = call(name, hasState ? i64 : Type(), operands);
    if (op->getNumResults() == 1 && !predicate) {
      replace({state});
      return;
    }
    op->erase();
  };
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op)) {
    finish("emu_mbar_init", {init.getAddr(), init.getCount(), site()},
           init.getPredicate(), false);
    return true;
  }
  if (isa<NVVM::MBarrierInvalOp>(op)) {
    finish("emu_mbar_inval", {op->getOperand(0), site()}, {}, false);
    return true;
  }
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveOp>(op)) {
    Value count = arrive.getCount() ? arrive.getCount() : constant(1);
    finish("emu_mbar_arrive", {arrive.getAddr(), count, site()}, {}, true);
    return true;
  }
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op)) {
    finish("emu_mbar_arrive_expect",
           {arrive.getAddr(), arrive.getTxcount(), site()},
           arrive.getPredicate(), true);
    return true;
  }
  if (auto expect = dyn_cast<NVVM::MBarrierExpectTxOp>(op)) {
    finish("emu_mbar_expect", {expect.getAddr(), expect.getTxcount(), site()},
           {}, false);
    return true;
  }
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op)) {
    finish("emu_mbar_wait", {wait.getAddr(), wait.getPhase(), site()}, {},
           false);
    return true;
  }
  if (isa<NVVM::MBarrierTryWaitOp, NVVM::MBarrierTestWaitOp>(op)) {
    Value state = op->getOperand(1);
    if (state.getType() == i32)
      state = LLVM::ZExtOp::create(builder, loc, i64, state);
    Value done = call("emu_mbar_test", i32,
                      {op->getOperand(0), state,
                       constant(isa<NVVM::MBarrierTryWaitOp>(op)), site()});
    replace({LLVM::TruncOp::create(builder, loc, builder.getI1Type(), done)});
    return true;
  }
  if (isa<NVVM::FenceMbarrierInitOp>(op)) {
    finish("emu_fence_mbar_init", {}, {}, false);
    return true;
  }
  if (auto fence = dyn_cast<NVVM::FenceProxyOp>(op)) {
    // Of the proxies only generic to async over shared memory has two views.
    if (fence.getKind() == NVVM::ProxyKind::async ||
        fence.getKind() == NVVM::ProxyKind::async_shared)
      call("emu_fence_proxy", {}, {});
    op->erase();
    return true;
  }
  if (isa<NVVM::Barrier0Op>(op)) {
    finish("emu_barrier", {constant(0), constant(0), constant(1), site()}, {},
           false);
    return true;
  }
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    finish("emu_barrier",
           {orZero(barrier.getBarrierId()),
            orZero(barrier.getNumberOfThreads()), constant(1), site()},
           {}, false);
    return true;
  }
  if (auto barrier = dyn_cast<NVVM::BarrierArriveOp>(op)) {
    finish("emu_barrier",
           {orZero(barrier.getBarrierId()), barrier.getNumberOfThreads(),
            constant(0), site()},
           {}, false);
    return true;
  }
  if (isa<NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp>(op)) {
    finish("emu_cluster_arrive",
           {constant(isa<NVVM::ClusterArriveRelaxedOp>(op)), site()}, {},
           false);
    return true;
  }
  if (isa<NVVM::ClusterWaitOp>(op)) {
    finish("emu_cluster_wait", {site()}, {}, false);
    return true;
  }
  if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op)) {
    // That the next kernel may start changes nothing for this one.
    if (control.getKind() == NVVM::GridDepActionKind::wait)
      call("emu_grid_wait", {}, {});
    op->erase();
    return true;
  }
  if (auto map = dyn_cast<NVVM::MapaOp>(op)) {
    Value address = LLVM::PtrToIntOp::create(builder, loc, i64, map.getA());
    Value remote = call("emu_mapa", i64, {address, map.getB(), site()});
    replace({LLVM::IntToPtrOp::create(builder, loc, map.getType(), remote)});
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

bool OpRewriter::rewriteCopies(Operation *op) {
  Location loc = op->getLoc();
  const auto widened = [&](Value mask) {
    return mask ? Value(LLVM::ZExtOp::create(builder, loc, i32, mask))
                : constant(0);
  };
  // Five coordinates, then how many there are.
  const auto addCoordinates = [&](SmallVectorImpl<Value> &operands,
                                  ValueRange coordinates) {
    for (Value c : coordinates)
      operands.push_back(c);
    for (size_t i = coordinates.size(); i < 5; ++i)
      operands.push_back(constant(0));
    operands.push_back(constant(int64_t(coordinates.size())));
  };
  if (auto load =
          dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)) {
    guard(load.getPredicate());
    SmallVector<Value> operands = {load.getDstMem(), load.getTmaDescriptor(),
                                   load.getMbar()};
    addCoordinates(operands, load.getCoordinates());
    operands.push_back(widened(load.getMulticastMask()));
    operands.push_back(site());
    call("emu_tma_load", {}, operands);
    op->erase();
    return true;
  }
  if (auto store = dyn_cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op)) {
    guard(store.getPredicate());
    SmallVector<Value> operands = {store.getSrcMem(), store.getTmaDescriptor()};
    addCoordinates(operands, store.getCoordinates());
    operands.push_back(constant(-1));
    operands.push_back(site());
    call("emu_tma_store", {}, operands);
    op->erase();
    return true;
  }
  if (auto reduce = dyn_cast<NVVM::CpAsyncBulkTensorReduceOp>(op)) {
    SmallVector<Value> operands = {reduce.getSrcMem(),
                                   reduce.getTmaDescriptor()};
    addCoordinates(operands, reduce.getCoordinates());
    operands.push_back(constant(int64_t(reduce.getRedKind())));
    operands.push_back(site());
    call("emu_tma_store", {}, operands);
    op->erase();
    return true;
  }
  if (auto load = dyn_cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op)) {
    call("emu_bulk_load", {},
         {load.getDstMem(), load.getSrcMem(), load.getMbar(), load.getSize(),
          widened(load.getMulticastMask()), site()});
    op->erase();
    return true;
  }
  if (auto store = dyn_cast<NVVM::CpAsyncBulkSharedCTAToGlobalOp>(op)) {
    if (store.getByteMask())
      return false;
    call("emu_bulk_store", {},
         {store.getDstMem(), store.getSrcMem(), store.getSize(), site()});
    op->erase();
    return true;
  }
  if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op)) {
    Value size = constant(copy.getSize());
    call("emu_async_copy", {},
         {copy.getDst(), copy.getSrc(), size,
          copy.getCpSize() ? copy.getCpSize() : size, site()});
    op->erase();
    return true;
  }
  if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    call("emu_async_commit", {}, {site()});
    op->erase();
    return true;
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    call("emu_async_wait", {}, {constant(wait.getN()), site()});
    op->erase();
    return true;
  }
  if (auto arrive = dyn_cast<NVVM::CpAsyncMBarrierArriveOp>(op)) {
    call("emu_async_arrive", {},
         {arrive.getAddr(), constant(arrive.getNoinc()), site()});
    op->erase();
    return true;
  }
  if (isa<NVVM::CpAsyncBulkCommitGroupOp>(op)) {
    call("emu_bulk_commit", {}, {site()});
    op->erase();
    return true;
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op)) {
    call("emu_bulk_wait", {},
         {constant(wait.getGroup()), constant(wait.getRead().has_value()),
          site()});
    op->erase();
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// WGMMA
//===----------------------------------------------------------------------===//

/// Columns of the fragment a struct of registers holds.
static int64_t columns(Type registers) {
  return int64_t(cast<LLVM::LLVMStructType>(registers).getBody().size()) * 2;
}

static bool allStructs(ValueRange values) {
  return llvm::all_of(values, [](Value v) {
    auto type = dyn_cast<LLVM::LLVMStructType>(v.getType());
    return type &&
           llvm::all_of(type.getBody(), [](Type t) { return t.isF32(); });
  });
}

bool OpRewriter::rewriteWgmma(Operation *op) {
  Location loc = op->getLoc();
  if (isa<mlir::dgemm::WgmmaUndefOp>(op)) {
    auto n = op->getAttrOfType<IntegerAttr>("emu.columns");
    replace({call("emu_wgmma_undef", i64, {constant(n.getInt()), site()})});
    return true;
  }
  if (auto fence = dyn_cast<mlir::dgemm::WgmmaFenceOp>(op)) {
    SmallVector<Value> results;
    for (Value value : fence.getAccumulators()) {
      if (value.getType() == i64) {
        results.push_back(value);
        continue;
      }
      if (!allStructs(value))
        return false;
      LLVM::StoreOp::create(builder, loc, value, scratch());
      results.push_back(
          call("emu_wgmma_hand", i64,
               {scratch(), constant(columns(value.getType())), site()}));
    }
    for (Value value : fence.getPin())
      results.push_back(value);
    call("emu_wgmma_fence", {}, {});
    replace(results);
    return true;
  }
  if (auto wait = dyn_cast<mlir::dgemm::WgmmaWaitOp>(op)) {
    SmallVector<Value> results;
    Value pending = constant(wait.getPending());
    call("emu_wgmma_wait", {}, {pending, site()});
    if (!allStructs(wait.getResolved()))
      return false;
    for (auto [handle, result] :
         llvm::zip(wait.getResolve(), wait.getResolved())) {
      Type type = result.getType();
      call("emu_wgmma_resolve", {},
           {handle, scratch(), constant(columns(type)), pending, site()});
      results.push_back(LLVM::LoadOp::create(builder, loc, type, scratch()));
    }
    for (Value value : wait.getKeep())
      results.push_back(value);
    for (Value value : wait.getPin())
      results.push_back(value);
    replace(results);
    return true;
  }
  if (auto multiply = dyn_cast<mlir::dgemm::WgmmaOp>(op)) {
    const DType a = mlir::dgemm::toDType(multiply.getAType());
    const DType b = mlir::dgemm::toDType(multiply.getBType());
    const int64_t flags = int64_t(multiply.getScaleD() == "zero") |
                          int64_t(multiply.getTransA()) << 1 |
                          int64_t(multiply.getTransB()) << 2;
    replace({call("emu_wgmma", i64,
                  {multiply.getDescriptorA(), multiply.getDescriptorB(),
                   op->getOperand(2), constant(multiply.getN()),
                   constant(multiply.getK()), constant(int64_t(a)),
                   constant(int64_t(b)), constant(flags), site()})});
    return true;
  }
  if (auto multiply = dyn_cast<mlir::dgemm::WgmmaRegistersOp>(op)) {
    LLVM::StoreOp::create(builder, loc, multiply.getA(), scratch());
    const int64_t flags = int64_t(multiply.getScaleD() == "zero") |
                          int64_t(multiply.getTransB()) << 2;
    replace({call("emu_wgmma_registers", i64,
                  {scratch(), multiply.getDescriptorB(), op->getOperand(2),
                   constant(multiply.getN()), constant(multiply.getK()),
                   constant(int64_t(mlir::dgemm::toDType(multiply.getAType()))),
                   constant(int64_t(mlir::dgemm::toDType(multiply.getBType()))),
                   constant(flags), constant(fencedA.contains(op)), site()})});
    return true;
  }
  if (isa<NVVM::WgmmaFenceAlignedOp>(op)) {
    call("emu_wgmma_fence", {}, {});
    op->erase();
    return true;
  }
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    call("emu_wgmma_commit", {}, {site()});
    op->erase();
    return true;
  }
  if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op)) {
    call("emu_wgmma_wait", {}, {constant(int64_t(wait.getGroup())), site()});
    op->erase();
    return true;
  }
  return false;
}
