// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry values, addresses and types shared by the conversion patterns.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

int64_t mlir::dgemm::cachePolicy(StringRef hint) {
  // createpolicy.fractional encodings with fraction 1.0 (PTX ISA, cache
  // eviction priority hints).
  if (hint == "evict_first")
    return 0x12F0000000000000;
  if (hint == "evict_last")
    return 0x14F0000000000000;
  return 0;
}

LLVM::LLVMStructType mlir::dgemm::registersOf(FragmentType fragment) {
  int64_t blocks = fragment.getRows() == 16 ? 1 : fragment.getRows() / 64;
  SmallVector<Type> values(blocks * fragment.getCols() / 2,
                           fragment.getElementType());
  return LLVM::LLVMStructType::getLiteral(fragment.getContext(), values);
}

LLVM::LLVMStructType mlir::dgemm::registersOf(StripType strip) {
  SmallVector<Type> words(strip.getRows() / 8 * strip.getPieces() * 4,
                          IntegerType::get(strip.getContext(), 32));
  return LLVM::LLVMStructType::getLiteral(strip.getContext(), words);
}

SmallVector<Value> mlir::dgemm::unpack(OpBuilder &builder, Location loc,
                                       Value registers) {
  auto type = cast<LLVM::LLVMStructType>(registers.getType());
  SmallVector<Value> values;
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, registers, i));
  return values;
}

SmallVector<Value> mlir::dgemm::unpackAll(OpBuilder &builder, Location loc,
                                          ValueRange registers) {
  SmallVector<Value> values;
  for (Value one : registers)
    llvm::append_range(values, unpack(builder, loc, one));
  return values;
}

Value mlir::dgemm::pack(OpBuilder &builder, Location loc, Type type,
                        ValueRange values) {
  Value result = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, value] : llvm::enumerate(values))
    result = LLVM::InsertValueOp::create(builder, loc, result, value, i);
  return result;
}

SmallVector<Value> mlir::dgemm::packAll(OpBuilder &builder, Location loc,
                                        TypeRange types, ValueRange values) {
  SmallVector<Value> results;
  for (Type type : types) {
    size_t count = cast<LLVM::LLVMStructType>(type).getBody().size();
    results.push_back(pack(builder, loc, type, values.take_front(count)));
    values = values.drop_front(count);
  }
  return results;
}

void mlir::dgemm::populateTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](FragmentType fragment) -> Type { return registersOf(fragment); });
  converter.addConversion(
      [](StripType strip) -> Type { return registersOf(strip); });
  converter.addConversion([](RingType ring) -> Type {
    return LLVM::LLVMPointerType::get(ring.getContext(), 3);
  });
  converter.addConversion([](TensorMapType map) -> Type {
    return LLVM::LLVMPointerType::get(map.getContext());
  });
}

/// Suspend-time hint of a barrier wait, in nanoseconds; the wait loops anyway.
static constexpr int64_t kWaitHint = 10000000;

void KernelContext::wait(OpBuilder &builder, Location loc, Value barrier,
                         Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(builder, loc, barrier, parity,
                                        constantI32(builder, loc, kWaitHint));
}

Value KernelContext::broadcast(OpBuilder &builder, Location loc, Value value) {
  return shuffle(builder, loc, value, constantI32(builder, loc, 0), 32);
}

Value KernelContext::shuffle(OpBuilder &builder, Location loc, Value value,
                             Value index, int64_t lanes) {
  // PTX: bits 8 to 12 cut the warp into segments, bits 0 to 4 are the highest
  // lane that may be read.
  int64_t maskAndClamp = ((32 - lanes) << 8) | 31;
  return NVVM::ShflOp::create(
      builder, loc, value.getType(), constantI32(builder, loc, -1), value,
      index, constantI32(builder, loc, maskAndClamp),
      NVVM::ShflKindAttr::get(builder.getContext(), NVVM::ShflKind::idx),
      UnitAttr());
}

void KernelContext::emitEntry(OpBuilder &builder, Location loc) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  thread = NVVM::ThreadIdXOp::create(builder, loc, i32);
  Value five = constantI32(builder, loc, 5);
  Value raw = arith::ShRUIOp::create(builder, loc, thread, five);
  // Broadcast, so that the compiler knows branches on it to be uniform.
  warp = broadcast(builder, loc, raw);
  lane = arith::AndIOp::create(builder, loc, thread,
                               constantI32(builder, loc, 31));
  warpInGroup =
      arith::AndIOp::create(builder, loc, warp, constantI32(builder, loc, 3));
  warpgroup =
      arith::ShRUIOp::create(builder, loc, warp, constantI32(builder, loc, 2));
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value symbol = LLVM::AddressOfOp::create(builder, loc, pointer, "smem");
  // Broadcast as well, which hides the symbol from the assembler: where every
  // address is the symbol plus a constant, ptxas 13.0 was seen to compute it
  // under the predicate of one use and to read it unpredicated in another.
  Value address = broadcast(
      builder, loc,
      LLVM::PtrToIntOp::create(builder, loc, i32, symbol).getResult());
  smem = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  Value window = arith::AndIOp::create(builder, loc, address,
                                       constantI32(builder, loc, 0x3FFFF));
  Value units = arith::ShRUIOp::create(builder, loc, window,
                                       constantI32(builder, loc, 4));
  smemUnits = arith::ExtUIOp::create(builder, loc, i64, units);
  // Broadcast to hide a number known at compile time: loops of few steps would
  // be unrolled, in every clone of them, until the descriptors of all their
  // products no longer fit into uniform registers. ptxas 13.0 was seen to spill
  // those wrongly (tile 64x24x128, K = 512, two K blocks in a stage).
  int64_t depth = int64_t(schedule.tileK) * schedule.kBlocksPerStage;
  kSteps = broadcast(builder, loc, ceilDivide(builder, loc, sizeK, depth));
  if (schedule.clusterM * schedule.clusterN > 1) {
    Value rank = NVVM::ClusterId::create(builder, loc, i32);
    Value rows = constantI32(builder, loc, schedule.clusterM);
    // A side of one CTA is spelt out: consumers have no register to spare for
    // what is known.
    Value zero = constantI32(builder, loc, 0);
    clusterRow =
        schedule.clusterM == 1 ? zero
        : schedule.clusterN == 1
            ? rank
            : arith::RemUIOp::create(builder, loc, rank, rows).getResult();
    clusterCol =
        schedule.clusterN == 1 ? zero
        : schedule.clusterM == 1
            ? rank
            : arith::DivUIOp::create(builder, loc, rank, rows).getResult();
  }
}

Value KernelContext::smemAt(OpBuilder &builder, Location loc,
                            Value offset) const {
  return LLVM::GEPOp::create(builder, loc, smem.getType(), builder.getI8Type(),
                             smem, ValueRange{offset});
}

Value KernelContext::smemAt(OpBuilder &builder, Location loc,
                            int64_t offset) const {
  return smemAt(builder, loc, constantI32(builder, loc, offset));
}

Value KernelContext::slotAddress(OpBuilder &builder, Location loc, int64_t base,
                                 int64_t step, Value slot) const {
  Value scaled = arith::MulIOp::create(builder, loc, slot,
                                       constantI32(builder, loc, step));
  Value offset = arith::AddIOp::create(builder, loc, scaled,
                                       constantI32(builder, loc, base));
  return smemAt(builder, loc, offset);
}

Value KernelContext::fullBarrier(OpBuilder &builder, Location loc,
                                 Value slot) const {
  return slotAddress(builder, loc, plan.fullBarrier(0), 8, slot);
}

Value KernelContext::emptyBarrier(OpBuilder &builder, Location loc,
                                  Value slot) const {
  return slotAddress(builder, loc, plan.emptyBarrier(0, schedule.stages), 8,
                     slot);
}

Value KernelContext::fragmentRow(OpBuilder &builder, Location loc) const {
  Value laneRow =
      arith::ShRUIOp::create(builder, loc, lane, constantI32(builder, loc, 2));
  if (schedule.form == ::dgemm::Form::Register)
    return laneRow;
  Value warpRow = arith::ShLIOp::create(builder, loc, warpInGroup,
                                        constantI32(builder, loc, 4));
  return arith::AddIOp::create(builder, loc, warpRow, laneRow);
}

int64_t KernelContext::fragmentThreads() const {
  // Register form: the sums over the warps are in the first of them.
  return schedule.form == ::dgemm::Form::Register ? 32
                                                  : 128 * schedule.consumers;
}

Value KernelContext::isGroupLeader(OpBuilder &builder, Location loc) const {
  Value inGroup = arith::AndIOp::create(builder, loc, thread,
                                        constantI32(builder, loc, 127));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, inGroup,
                               constantI32(builder, loc, 0));
}
