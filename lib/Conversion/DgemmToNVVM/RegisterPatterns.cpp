// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The register form: strips of operands from global memory into registers,
// their products, and the sum over the warps of a CTA.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

/// Lanes that share a row of a strip, and bytes of it that each loads at once.
static constexpr int64_t kLanesPerRow = 4, kPieceBytes = 16;
/// 32-bit words of a piece.
static constexpr int64_t kPieceWords = kPieceBytes / 4;

namespace {
struct WarpIdPattern : KernelPattern<WarpIdOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WarpIdOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, context.warp);
    return success();
  }
};

/// One 16-byte load for each row of a lane and each 64 bytes of K.
struct LoadStripPattern : KernelPattern<LoadStripOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadStripOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    StripType strip = op.getStrip().getType();
    int64_t size = strip.getElementType().getIntOrFloatBitWidth() / 8;
    Value column = firstColumn(rewriter, loc, adaptor.getKblock(), strip);
    // Broadcast to hide a K known at compile time, and so which pieces lie
    // beyond it: ptxas 13.0 converts a constant 8-bit zero for the tensor core
    // wrongly (F2FP.UNPACK_B of 48), which turns them into rubbish.
    Value depth = adaptor.getDepth();
    if (depth && size == 1)
      depth = KernelContext::broadcast(rewriter, loc, depth);
    SmallVector<Value> words;
    for (int64_t group = 0; group < strip.getRows() / 8; ++group) {
      Value start = rowStart(rewriter, op, adaptor, group, size);
      for (int64_t piece = 0; piece < strip.getPieces(); ++piece) {
        int64_t skipped = piece * kLanesPerRow * kPieceBytes / size;
        Value address = element(rewriter, loc, start, column, size);
        address = elementAt(rewriter, loc, address, skipped, size);
        if (!depth) {
          Value all = load(rewriter, op, address, adaptor.getPredicate());
          appendWords(rewriter, loc, all, words);
          continue;
        }
        Value left = arith::SubIOp::create(rewriter, loc, depth, column);
        left = arith::SubIOp::create(rewriter, loc, left,
                                     constantI32(rewriter, loc, skipped));
        loadChecked(rewriter, op, adaptor, address, left, words);
      }
    }
    auto type =
        cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(strip));
    rewriter.replaceOp(op, pack(rewriter, loc, type, words));
    return success();
  }

  /// Column of the lane's first element in the K block.
  Value firstColumn(OpBuilder &builder, Location loc, Value kblock,
                    StripType strip) const {
    int64_t size = strip.getElementType().getIntOrFloatBitWidth() / 8;
    Value quad = arith::AndIOp::create(builder, loc, context.lane,
                                       constantI32(builder, loc, 3));
    Value within = arith::MulIOp::create(
        builder, loc, quad, constantI32(builder, loc, kPieceBytes / size));
    auto noWrap =
        arith::IntegerOverflowFlags::nuw | arith::IntegerOverflowFlags::nsw;
    Value first = arith::MulIOp::create(
        builder, loc, kblock, constantI32(builder, loc, strip.getCols()),
        noWrap);
    return arith::AddIOp::create(builder, loc, first, within, noWrap);
  }

  /// Address of the lane's row in the 8 rows with number `group`.
  Value rowStart(OpBuilder &builder, LoadStripOp op, OpAdaptor adaptor,
                 int64_t group, int64_t size) const {
    Location loc = op.getLoc();
    Type i64 = builder.getI64Type();
    Value laneRow = arith::ShRUIOp::create(builder, loc, context.lane,
                                           constantI32(builder, loc, 2));
    Value row = arith::AddIOp::create(builder, loc, adaptor.getRow(), laneRow);
    row = arith::AddIOp::create(builder, loc, row,
                                constantI32(builder, loc, 8 * group));
    Value last = arith::SubIOp::create(builder, loc, adaptor.getRows(),
                                       constantI32(builder, loc, 1));
    row = arith::MinUIOp::create(builder, loc, row, last);
    Value wide = arith::ExtUIOp::create(builder, loc, i64, row);
    Value index =
        arith::MulIOp::create(builder, loc, wide, adaptor.getStride());
    return LLVM::GEPOp::create(builder, loc, adaptor.getBase().getType(),
                               builder.getIntegerType(8 * size),
                               adaptor.getBase(), ValueRange{index});
  }

  static Value element(OpBuilder &builder, Location loc, Value start,
                       Value index, int64_t size) {
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), index);
    return LLVM::GEPOp::create(builder, loc, start.getType(),
                               builder.getIntegerType(8 * size), start,
                               ValueRange{wide});
  }
  static Value elementAt(OpBuilder &builder, Location loc, Value start,
                         int64_t index, int64_t size) {
    return LLVM::GEPOp::create(
        builder, loc, start.getType(), builder.getIntegerType(8 * size), start,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }

  static Value load(OpBuilder &builder, LoadStripOp op, Value address,
                    Value predicate) {
    auto words = VectorType::get(kPieceWords, builder.getI32Type());
    return LoadGlobalOp::create(builder, op.getLoc(), words, address, predicate,
                                /*no_allocate=*/op.getStreamed(),
                                /*evict_first=*/op.getStreamed());
  }

  static void appendWords(OpBuilder &builder, Location loc, Value vector,
                          SmallVectorImpl<Value> &words) {
    for (int64_t i = 0; i < kPieceWords; ++i)
      words.push_back(LLVM::ExtractElementOp::create(
          builder, loc, vector, constantI32(builder, loc, i)));
  }

  /// A piece that may lie beyond K: `left` elements from its first one on are
  /// inside. It is loaded at once where all are, and element by element where
  /// K ends inside it, as what follows the last row may not be ours to read.
  void loadChecked(OpBuilder &builder, LoadStripOp op, OpAdaptor adaptor,
                   Value address, Value left,
                   SmallVectorImpl<Value> &words) const {
    Location loc = op.getLoc();
    int64_t bits =
        op.getStrip().getType().getElementType().getIntOrFloatBitWidth();
    int64_t count = 8 * kPieceBytes / bits;
    auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) {
      Value value = arith::CmpIOp::create(builder, loc, predicate, left,
                                          constantI32(builder, loc, bound));
      if (!adaptor.getPredicate())
        return value;
      return arith::AndIOp::create(builder, loc, value, adaptor.getPredicate())
          .getResult();
    };
    Value whole = compare(arith::CmpIPredicate::sge, count);
    SmallVector<Value> loaded;
    appendWords(builder, loc, load(builder, op, address, whole), loaded);
    int64_t k = context.problem.k;
    if (k != ::dgemm::kDynamic && k % count == 0) {
      llvm::append_range(words, loaded);
      return;
    }
    Value some = compare(arith::CmpIPredicate::sgt, 0);
    Value none = arith::XOrIOp::create(
        builder, loc, whole,
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    Value partly = arith::AndIOp::create(builder, loc, some, none);
    auto choice = scf::IfOp::create(
        builder, loc, partly,
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(body, loc,
                               loadElements(body, loc, address, left, bits));
        },
        [&](OpBuilder &body, Location loc) {
          scf::YieldOp::create(body, loc, loaded);
        });
    llvm::append_range(words, choice.getResults());
  }

  /// The words of a piece of which only the first `left` elements are read.
  static SmallVector<Value> loadElements(OpBuilder &builder, Location loc,
                                         Value address, Value left,
                                         int64_t bits) {
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    Type type = builder.getIntegerType(bits);
    Value zero = constantI64(builder, loc, 0);
    auto loop = scf::ForOp::create(
        builder, loc, constantI32(builder, loc, 0), left,
        constantI32(builder, loc, 1), ValueRange{zero, zero},
        [&](OpBuilder &body, Location loc, Value i, ValueRange halves) {
          Value place = LLVM::GEPOp::create(body, loc, address.getType(), type,
                                            address, ValueRange{i});
          Value value = LLVM::LoadOp::create(body, loc, type, place);
          Value wide = arith::ExtUIOp::create(body, loc, i64, value);
          Value bit =
              arith::MulIOp::create(body, loc, i, constantI32(body, loc, bits));
          Value within =
              arith::AndIOp::create(body, loc, bit, constantI32(body, loc, 63));
          Value shift = arith::ExtUIOp::create(body, loc, i64, within);
          Value placed = arith::ShLIOp::create(body, loc, wide, shift);
          Value isUpper =
              arith::CmpIOp::create(body, loc, arith::CmpIPredicate::uge, bit,
                                    constantI32(body, loc, 64));
          Value lower =
              arith::SelectOp::create(body, loc, isUpper, zero, placed);
          Value upper =
              arith::SelectOp::create(body, loc, isUpper, placed, zero);
          scf::YieldOp::create(
              body, loc,
              ValueRange{arith::OrIOp::create(body, loc, halves[0], lower),
                         arith::OrIOp::create(body, loc, halves[1], upper)});
        });
    SmallVector<Value> words;
    for (Value half : loop.getResults())
      for (int64_t shift : {0, 32}) {
        Value word = arith::ShRUIOp::create(builder, loc, half,
                                            constantI64(builder, loc, shift));
        words.push_back(arith::TruncIOp::create(builder, loc, i32, word));
      }
    return words;
  }
};

/// One dgemm.mma_sync for each 32 bytes of K and each 8 columns: two words of
/// every row of a piece are one instruction's share of K.
struct StripMmaPattern : KernelPattern<StripMmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StripMmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    StripType a = op.getA().getType(), b = op.getB().getType();
    LLVM::LLVMStructType type = registersOf(op.getType());
    Type f32 = rewriter.getF32Type();
    SmallVector<Value> sums;
    if (adaptor.getAccumulator())
      sums = unpack(rewriter, loc, adaptor.getAccumulator());
    else
      sums.assign(type.getBody().size(),
                  arith::ConstantOp::create(rewriter, loc,
                                            rewriter.getF32FloatAttr(0.0)));
    auto word = [&](Value strip, StripType type, int64_t group,
                    int64_t number) {
      return LLVM::ExtractValueOp::create(
                 rewriter, loc, strip,
                 group * type.getPieces() * kPieceWords + number)
          .getResult();
    };
    SmallVector<Type> results(4, f32);
    for (int64_t group = 0; group < b.getRows() / 8; ++group)
      for (int64_t first = 0; first < a.getPieces() * kPieceWords; first += 2) {
        auto mine = MutableArrayRef<Value>(sums).slice(4 * group, 4);
        auto mma = MmaSyncOp::create(
            rewriter, loc, results, word(adaptor.getA(), a, 0, first),
            word(adaptor.getA(), a, 1, first),
            word(adaptor.getA(), a, 0, first + 1),
            word(adaptor.getA(), a, 1, first + 1),
            word(adaptor.getB(), b, group, first),
            word(adaptor.getB(), b, group, first + 1), mine[0], mine[1],
            mine[2], mine[3], a.getElementType(), b.getElementType());
        llvm::copy(mma->getResults(), mine.begin());
      }
    rewriter.replaceOp(op, pack(rewriter, loc, type, sums));
    return success();
  }
};

/// Every warp writes its registers, 16 bytes a lane; after the CTA's barrier
/// the first adds them in the order of the warps.
struct WarpReducePattern : KernelPattern<WarpReduceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WarpReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> values = unpackAll(rewriter, loc, adaptor.getValues());
    SmallVector<Value> sums = values;
    if (op.getWarps() > 1) {
      send(rewriter, loc, values);
      NVVM::BarrierOp::create(rewriter, loc);
      Value isFirst =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                context.warp, constantI32(rewriter, loc, 0));
      auto summed = scf::IfOp::create(
          rewriter, loc, isFirst,
          [&](OpBuilder &body, Location loc) {
            for (int64_t warp = 1; warp < op.getWarps(); ++warp)
              receive(body, loc, warp, sums);
            scf::YieldOp::create(body, loc, sums);
          },
          [&](OpBuilder &body, Location loc) {
            scf::YieldOp::create(body, loc, values);
          });
      sums.assign(summed.getResults().begin(), summed.getResults().end());
    }
    rewriter.replaceOp(
        op, packAll(rewriter, loc, adaptor.getValues().getTypes(), sums));
    return success();
  }

  /// This lane's first value in the part of warp `warp` (i32).
  Value laneStart(OpBuilder &builder, Location loc, Value warp,
                  int64_t numValues) const {
    Value part = context.slotAddress(builder, loc, context.plan.offsetStore,
                                     32 * 4 * numValues, warp);
    Value mine = arith::ShLIOp::create(builder, loc, context.lane,
                                       constantI32(builder, loc, 4));
    return LLVM::GEPOp::create(builder, loc, part.getType(),
                               builder.getI8Type(), part, ValueRange{mine});
  }

  /// Four values of a lane, those of the others beside them.
  static Value fourAt(OpBuilder &builder, Location loc, Value start,
                      int64_t first) {
    return LLVM::GEPOp::create(
        builder, loc, start.getType(), builder.getI8Type(), start,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first * 4 * 32)});
  }

  void send(OpBuilder &builder, Location loc, ArrayRef<Value> values) const {
    auto four = VectorType::get(4, builder.getF32Type());
    Value start = laneStart(builder, loc, context.warp, values.size());
    for (size_t first = 0; first < values.size(); first += 4) {
      Value vector = LLVM::PoisonOp::create(builder, loc, four);
      for (int64_t i = 0; i < 4; ++i)
        vector = LLVM::InsertElementOp::create(builder, loc, vector,
                                               values[first + i],
                                               constantI32(builder, loc, i));
      LLVM::StoreOp::create(builder, loc, vector,
                            fourAt(builder, loc, start, first));
    }
  }

  void receive(OpBuilder &builder, Location loc, int64_t warp,
               SmallVectorImpl<Value> &sums) const {
    auto four = VectorType::get(4, builder.getF32Type());
    Value start =
        laneStart(builder, loc, constantI32(builder, loc, warp), sums.size());
    for (size_t first = 0; first < sums.size(); first += 4) {
      Value vector = LLVM::LoadOp::create(builder, loc, four,
                                          fourAt(builder, loc, start, first));
      for (int64_t i = 0; i < 4; ++i) {
        Value value = LLVM::ExtractElementOp::create(
            builder, loc, vector, constantI32(builder, loc, i));
        sums[first + i] =
            LLVM::FAddOp::create(builder, loc, sums[first + i], value);
      }
    }
  }
};
} // namespace

void mlir::dgemm::populateRegisterPatterns(RewritePatternSet &patterns,
                                           const TypeConverter &converter,
                                           const KernelContext &context) {
  patterns
      .add<WarpIdPattern, LoadStripPattern, StripMmaPattern, WarpReducePattern>(
          converter, patterns.getContext(), context);
}
