// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplications and the arithmetic on accumulators.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct ZeroPattern : KernelPattern<ZeroOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ZeroOp>(
        op, registersOf(op.getResult().getType()));
    return success();
  }
};
} // namespace

/// Bits 16 and up of a matrix descriptor for a K-major tile whose rows are one
/// swizzle span: leading offset (unused by swizzled layouts, 1), stride offset
/// between groups of 8 rows, layout code.
static int64_t descriptorBits(int64_t swizzle) {
  int64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  int64_t strideUnits = 8 * swizzle / 16;
  return static_cast<int64_t>((static_cast<uint64_t>(code) << 62) |
                              (static_cast<uint64_t>(strideUnits) << 32) |
                              (uint64_t(1) << 16));
}

namespace {
/// One dgemm.wgmma for each 32 bytes of the slot's K.
struct MmaPattern : KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingType ring = op.getRing().getType();
    // The tile whose rows are the rows of the result, and its place.
    const ::dgemm::SmemPlan &plan = context.plan;
    Type sides[] = {ring.getMembers()[0], ring.getMembers()[1]};
    int64_t offsets[] = {plan.offsetA, plan.offsetB};
    int64_t slotBytes[] = {plan.slotBytesA, plan.slotBytesB};
    int rowSide = op.getSwapped() ? 1 : 0, colSide = 1 - rowSide;
    auto tileA = cast<TileType>(sides[rowSide]);
    auto tileB = cast<TileType>(sides[colSide]);
    int64_t bytes = tileA.getElementType().getIntOrFloatBitWidth() / 8;
    // A slot holds its K blocks one after another; the rows of each are one
    // swizzle span wide.
    int64_t rowBytes = context.schedule.tileK * bytes;
    int64_t blocks = context.schedule.kBlocksPerStage;
    // Where fewer rows of A are loaded, the blocks lie closer.
    int64_t rowsA =
        op.getSwapped() ? tileA.getRows() : context.schedule.rowsLoaded();
    int64_t blockA = rowsA * rowBytes / 16;
    int64_t blockB = tileB.getRows() * rowBytes / 16;
    // Descriptors describe rows of exactly one swizzle span.
    for (TileType tile : {tileA, tileB})
      if (bytes == 0 || tile.getSwizzle() == 0 ||
          tile.getSwizzle() != rowBytes || tile.getCols() != tileA.getCols())
        return op.emitOpError()
               << "operand tiles must have rows of one "
               << "swizzle span (32, 64 or 128 bytes), found " << tile;

    Type i64 = rewriter.getI64Type();
    Value slot = arith::ExtUIOp::create(rewriter, loc, i64, adaptor.getSlot());
    Value row = arith::ExtUIOp::create(rewriter, loc, i64, adaptor.getRow());
    Value rowOffset = arith::MulIOp::create(
        rewriter, loc, row, constantI64(rewriter, loc, rowBytes / 16));
    Value baseA = descriptorBase(rewriter, loc, tileA, offsets[rowSide]);
    baseA = arith::AddIOp::create(rewriter, loc, baseA, rowOffset);
    baseA = atSlot(rewriter, loc, baseA, slot, slotBytes[rowSide]);
    Value baseB = descriptorBase(rewriter, loc, tileB,
                                 offsets[colSide] + op.getCol() * rowBytes);
    baseB = atSlot(rewriter, loc, baseB, slot, slotBytes[colSide]);

    int32_t k = static_cast<int32_t>(32 / bytes);
    Value sum = adaptor.getAccumulator();
    int64_t first = op.getKBlock().value_or(0);
    int64_t last = op.getKBlock() ? first + 1 : blocks;
    int64_t steps = rowBytes / 32;
    int64_t begin = first * steps, end = last * steps;
    if (op.getHalf()) {
      if (end - begin < 2)
        return op.emitOpError("half of a product that is one WGMMA: expected "
                              "rows of at least 64 bytes");
      int64_t middle = begin + (end - begin) / 2;
      (*op.getHalf() == 0 ? end : begin) = middle;
    }
    for (int64_t i = begin; i < end; ++i) {
      int64_t block = i / steps, within = i % steps * 2;
      Value a = arith::AddIOp::create(
          rewriter, loc, baseA,
          constantI64(rewriter, loc, block * blockA + within));
      Value b = arith::AddIOp::create(
          rewriter, loc, baseB,
          constantI64(rewriter, loc, block * blockB + within));
      bool fresh = op.getFresh() && i == begin;
      sum = WgmmaOp::create(rewriter, loc, op.getType(), a, b, sum,
                            static_cast<uint32_t>(op.getType().getCols()), k,
                            tileA.getElementType(), tileB.getElementType(),
                            fresh ? "zero" : "one", /*trans_a=*/false,
                            /*trans_b=*/false);
    }
    rewriter.replaceOp(op, sum);
    return success();
  }

  Value descriptorBase(OpBuilder &builder, Location loc, TileType tile,
                       int64_t offset) const {
    Value bits = constantI64(builder, loc,
                             descriptorBits(tile.getSwizzle()) + offset / 16);
    return arith::AddIOp::create(builder, loc, context.smemUnits, bits);
  }
  static Value atSlot(OpBuilder &builder, Location loc, Value base, Value slot,
                      int64_t slotBytes) {
    Value offset = arith::MulIOp::create(
        builder, loc, slot, constantI64(builder, loc, slotBytes / 16));
    return arith::AddIOp::create(builder, loc, base, offset);
  }
};

struct CommitPattern : KernelPattern<WgmmaCommitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WgmmaCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
    return success();
  }
};

/// The fence and the wait stay; fragments among their operands become structs.
template <typename OpT> struct TiedPattern : KernelPattern<OpT> {
  using KernelPattern<OpT>::KernelPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(this->getTypeConverter()->convertTypes(op->getResultTypes(),
                                                      types)))
      return failure();
    OperationState state(op.getLoc(), op->getName());
    state.addOperands(adaptor.getOperands());
    state.addTypes(types);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct PromotePattern : KernelPattern<PromoteOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(PromoteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!isa<FragmentType>(op.getPartial().getType()))
      return op.emitOpError("reads a product that is still in flight");
    auto rows = adaptor.getRows();
    auto cols = adaptor.getCols();
    // factors[block][row]: a thread's two rows times each column block, or
    // times each of the thread's columns.
    SmallVector<SmallVector<Value, 2>> factors(std::max<size_t>(cols.size(), 1),
                                               SmallVector<Value, 2>(2));
    for (auto [block, factor] : llvm::enumerate(factors))
      for (int row = 0; row < 2; ++row) {
        if (!rows.empty() && !cols.empty())
          factor[row] =
              arith::MulFOp::create(rewriter, loc, rows[row], cols[block]);
        else if (!rows.empty())
          factor[row] = rows[row];
        else if (!cols.empty())
          factor[row] = cols[block];
      }

    Type f32 = rewriter.getF32Type();
    LLVM::LLVMStructType type = registersOf(op.getType());
    Value result = LLVM::PoisonOp::create(rewriter, loc, type);
    size_t block = 0;
    ArrayRef<int32_t> boundaries = op.getBoundaries();
    for (int64_t i = 0, e = type.getBody().size(); i < e; ++i) {
      int64_t column = i / 4 * 8;
      if (op.getEachColumn())
        block = i / 4 * 2 + i % 2;
      while (block < boundaries.size() && column >= boundaries[block])
        ++block;
      Value sum = LLVM::ExtractValueOp::create(rewriter, loc,
                                               adaptor.getAccumulator(), i);
      Value partial =
          LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getPartial(), i);
      Value factor = factors[block][i % 4 / 2];
      Value value;
      if (factor)
        value = LLVM::FMAOp::create(rewriter, loc, f32, factor, partial, sum);
      else
        value = LLVM::FAddOp::create(rewriter, loc, f32, partial, sum);
      result = LLVM::InsertValueOp::create(rewriter, loc, result, value, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void mlir::dgemm::populateMmaPatterns(RewritePatternSet &patterns,
                                      const TypeConverter &converter,
                                      const KernelContext &context) {
  patterns
      .add<ZeroPattern, MmaPattern, CommitPattern, TiedPattern<WgmmaFenceOp>,
           TiedPattern<WgmmaWaitOp>, PromotePattern>(
          converter, patterns.getContext(), context);
}
