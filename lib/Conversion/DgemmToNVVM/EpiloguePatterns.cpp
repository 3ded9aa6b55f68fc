// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Finished accumulators: scaling, C, staging in shared memory, stores, and the
// barriers between warpgroups.

#include "KernelContext.h"

using namespace mlir;
using namespace mlir::dgemm;

/// Two f32 rounded to nearest even, as one 32-bit register of bf16.
static Value toBF16Pair(OpBuilder &builder, Location loc, Value low,
                        Value high) {
  auto pair = VectorType::get(2, builder.getBF16Type());
  Value packed = NVVM::ConvertF32x2ToBF16x2Op::create(
      builder, loc, pair, high, low, Value(), NVVM::FPRoundingMode::RN);
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), packed);
}

/// The matrix ops convert to and from bf16 and f32 only, one block of a
/// warpgroup or a warp at a time.
template <typename OpT> static LogicalResult verifyBlock(OpT op) {
  Type element = op.getElementType();
  if (!element.isBF16() && !element.isF32())
    return op.emitOpError()
           << "elements must be bf16 or f32, found " << element;
  int64_t rows = op.getValue().getType().getRows();
  if (rows != 64 && rows != 16)
    return op.emitOpError() << "expected a fragment of 64 or 16 rows, found "
                            << op.getValue().getType();
  return success();
}

static Value compare(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

namespace {
struct ScaleFragmentPattern : KernelPattern<ScaleFragmentOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScaleFragmentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> values = unpack(rewriter, loc, adaptor.getValue());
    auto rows = adaptor.getRows(), cols = adaptor.getCols();
    for (auto [i, value] : llvm::enumerate(values)) {
      if (!rows.empty())
        value = arith::MulFOp::create(rewriter, loc, value, rows[i % 4 / 2]);
      if (!cols.empty())
        value = arith::MulFOp::create(
            rewriter, loc, value,
            cols[cols.size() == 1 ? 0 : i / 4 * 2 + i % 2]);
    }
    rewriter.replaceOp(
        op, pack(rewriter, loc, adaptor.getValue().getType(), values));
    return success();
  }
};

/// This thread's place in a row-major matrix: two rows, 8 apart, and column
/// pairs 8 apart.
class GlobalBlock {
public:
  GlobalBlock(OpBuilder &builder, Location loc, const KernelContext &context,
              Value base, Value row, Value col, Value rows, Value cols,
              Value stride, Type element)
      : loc(loc), rows(rows), element(element) {
    Value fragmentRow = context.fragmentRow(builder, loc);
    Value upper = arith::AddIOp::create(builder, loc, row, fragmentRow);
    Value lower = arith::AddIOp::create(builder, loc, upper,
                                        constantI32(builder, loc, 8));
    threadRows = {upper, lower};
    Value quad = arith::AndIOp::create(builder, loc, context.lane,
                                       constantI32(builder, loc, 3));
    Value pair =
        arith::ShLIOp::create(builder, loc, quad, constantI32(builder, loc, 1));
    Value firstCol = arith::AddIOp::create(builder, loc, col, pair);
    colsLeft = arith::SubIOp::create(builder, loc, cols, firstCol);
    Type i64 = builder.getI64Type();
    Value wideCol = arith::ExtUIOp::create(builder, loc, i64, firstCol);
    for (Value threadRow : threadRows) {
      Value wide = arith::ExtUIOp::create(builder, loc, i64, threadRow);
      Value start = arith::MulIOp::create(builder, loc, wide, stride);
      Value index = arith::AddIOp::create(builder, loc, start, wideCol);
      rowStarts.push_back(LLVM::GEPOp::create(
          builder, loc, base.getType(), element, base, ValueRange{index}));
    }
  }

  Value rowInside(OpBuilder &builder, int row) const {
    return compare(builder, loc, threadRows[row], rows);
  }
  /// i1: column `offset` beyond the thread's first one lies inside.
  Value colInside(OpBuilder &builder, int64_t offset) const {
    return compare(builder, loc, constantI32(builder, loc, offset), colsLeft);
  }
  Value address(OpBuilder &builder, int row, int64_t offset) const {
    return LLVM::GEPOp::create(
        builder, loc, rowStarts[row].getType(), element, rowStarts[row],
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }

private:
  Location loc;
  Value rows;
  /// Columns inside, counted from the thread's first one; may be negative.
  Value colsLeft;
  Type element;
  SmallVector<Value, 2> threadRows, rowStarts;
};

/// The same where the fragment is a block of the transposed matrix: the
/// thread's columns are rows of the matrix, whose neighbouring elements
/// neighbouring lanes hold.
class TransposedBlock {
public:
  TransposedBlock(OpBuilder &builder, Location loc,
                  const KernelContext &context, Value base, Value row,
                  Value col, Value rows, Value cols, Value stride, Type element)
      : loc(loc), stride(stride), element(element) {
    Type i64 = builder.getI64Type();
    Value upper = arith::AddIOp::create(builder, loc, row,
                                        context.fragmentRow(builder, loc));
    Value quad = arith::AndIOp::create(builder, loc, context.lane,
                                       constantI32(builder, loc, 3));
    Value pair =
        arith::ShLIOp::create(builder, loc, quad, constantI32(builder, loc, 1));
    Value firstCol = arith::AddIOp::create(builder, loc, col, pair);
    colsLeft = arith::SubIOp::create(builder, loc, cols, firstCol);
    rowsLeft = arith::SubIOp::create(builder, loc, rows, upper);
    Value wideRow = arith::ExtUIOp::create(builder, loc, i64, upper);
    Value wideCol = arith::ExtUIOp::create(builder, loc, i64, firstCol);
    Value start = arith::MulIOp::create(builder, loc, wideCol, stride);
    Value index = arith::AddIOp::create(builder, loc, start, wideRow);
    corner = LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                                 ValueRange{index});
  }

  /// i1: column `offset` beyond the thread's first one lies inside.
  Value colInside(OpBuilder &builder, int64_t offset) const {
    return compare(builder, loc, constantI32(builder, loc, offset), colsLeft);
  }
  /// i1: row `offset` beyond the thread's upper one lies inside.
  Value rowInside(OpBuilder &builder, int64_t offset) const {
    return compare(builder, loc, constantI32(builder, loc, offset), rowsLeft);
  }
  Value columnStart(OpBuilder &builder, int64_t col) const {
    Value offset = arith::MulIOp::create(builder, loc, stride,
                                         constantI64(builder, loc, col));
    return LLVM::GEPOp::create(builder, loc, corner.getType(), element, corner,
                               ValueRange{offset});
  }
  Value address(OpBuilder &builder, Value columnStart, int32_t row) const {
    return LLVM::GEPOp::create(builder, loc, corner.getType(), element,
                               columnStart, ArrayRef<LLVM::GEPArg>{row});
  }

private:
  Location loc;
  Value stride;
  Type element;
  Value corner, rowsLeft, colsLeft;
};

static Value toF32(OpBuilder &builder, Location loc, Value value) {
  Type f32 = builder.getF32Type();
  if (value.getType() == f32)
    return value;
  return LLVM::FPExtOp::create(builder, loc, f32, value);
}

/// acc + C, pair by pair; what lies outside C adds nothing. Both rows of a
/// column pair stand together, so that no comparison lives long.
struct AddGlobalPattern : KernelPattern<AddGlobalOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AddGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(verifyBlock(op)))
      return failure();
    Location loc = op.getLoc();
    Type element = op.getElementType();
    SmallVector<Value> values = unpack(rewriter, loc, adaptor.getValue());
    if (op.getTransposed()) {
      addTransposed(rewriter, op, adaptor, values);
      rewriter.replaceOp(
          op, pack(rewriter, loc, adaptor.getValue().getType(), values));
      return success();
    }
    GlobalBlock block(rewriter, loc, context, adaptor.getBase(),
                      adaptor.getRow(), adaptor.getCol(), adaptor.getRows(),
                      adaptor.getCols(), adaptor.getStride(), element);
    Value rowInside[] = {block.rowInside(rewriter, 0),
                         block.rowInside(rewriter, 1)};
    for (size_t i = 0; i < values.size(); i += 2) {
      int row = i / 2 % 2;
      auto [first, second] = loadPair(rewriter, loc, block, row, i / 4 * 8,
                                      rowInside[row], element);
      values[i] = arith::AddFOp::create(rewriter, loc, values[i], first);
      values[i + 1] =
          arith::AddFOp::create(rewriter, loc, values[i + 1], second);
      if (i % kPinned == kPinned - 2 || i + 2 == values.size())
        pinSums(rewriter, loc, values, i / kPinned * kPinned, i + 2);
    }
    rewriter.replaceOp(
        op, pack(rewriter, loc, adaptor.getValue().getType(), values));
    return success();
  }

  void addTransposed(OpBuilder &builder, AddGlobalOp op, OpAdaptor adaptor,
                     MutableArrayRef<Value> values) const {
    Location loc = op.getLoc();
    Type element = op.getElementType();
    TransposedBlock block(builder, loc, context, adaptor.getBase(),
                          adaptor.getRow(), adaptor.getCol(), adaptor.getRows(),
                          adaptor.getCols(), adaptor.getStride(), element);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0));
    for (auto [i, value] : llvm::enumerate(values)) {
      int64_t column = i / 4 * 8 + i % 2;
      int32_t row = i / 2 % 2 * 8;
      Value inside =
          arith::AndIOp::create(builder, loc, block.colInside(builder, column),
                                block.rowInside(builder, row));
      auto one = scf::IfOp::create(
          builder, loc, inside,
          [&](OpBuilder &body, Location loc) {
            Value place =
                block.address(body, block.columnStart(body, column), row);
            Value loaded = LLVM::LoadOp::create(body, loc, element, place);
            scf::YieldOp::create(body, loc, toF32(body, loc, loaded));
          },
          [&](OpBuilder &body, Location loc) {
            scf::YieldOp::create(body, loc, zero);
          });
      value = arith::AddFOp::create(builder, loc, value, one.getResult(0));
    }
  }

  /// Sums that are finished together, before more of C is loaded.
  static constexpr size_t kPinned = 16;

  /// Left alone, the compiler loads all of C first and keeps it beside the
  /// accumulators until the store, which is more than there are registers.
  /// The wait itself has nothing to wait for.
  static void pinSums(OpBuilder &builder, Location loc,
                      MutableArrayRef<Value> values, size_t begin, size_t end) {
    auto type = LLVM::LLVMStructType::getLiteral(
        builder.getContext(),
        SmallVector<Type>(end - begin, builder.getF32Type()));
    Value packed = pack(builder, loc, type, values.slice(begin, end - begin));
    auto wait =
        WgmmaWaitOp::create(builder, loc, TypeRange{}, TypeRange{}, type, 0,
                            ValueRange{}, ValueRange{}, packed);
    SmallVector<Value> pinned = unpack(builder, loc, wait.getPinned()[0]);
    llvm::copy(pinned, values.begin() + begin);
  }

  /// Two neighbouring elements as f32, zero where they lie outside.
  static std::pair<Value, Value> loadPair(OpBuilder &builder, Location loc,
                                          const GlobalBlock &block, int row,
                                          int64_t offset, Value rowInside,
                                          Type element) {
    auto loadBoth = [&](OpBuilder &body, Location loc) {
      Value both = LLVM::LoadOp::create(body, loc, VectorType::get(2, element),
                                        block.address(body, row, offset));
      SmallVector<Value, 2> pair;
      for (int64_t i : {0, 1})
        pair.push_back(toF32(body, loc,
                             LLVM::ExtractElementOp::create(
                                 body, loc, both, constantI32(body, loc, i))));
      scf::YieldOp::create(body, loc, pair);
    };
    auto loadFirst = [&](OpBuilder &body, Location loc) {
      Value zero =
          arith::ConstantOp::create(body, loc, body.getF32FloatAttr(0.0));
      Value inside = arith::AndIOp::create(body, loc, rowInside,
                                           block.colInside(body, offset));
      auto one = scf::IfOp::create(
          body, loc, inside,
          [&](OpBuilder &inner, Location loc) {
            Value value = LLVM::LoadOp::create(
                inner, loc, element, block.address(inner, row, offset));
            scf::YieldOp::create(inner, loc, toF32(inner, loc, value));
          },
          [&](OpBuilder &inner, Location loc) {
            scf::YieldOp::create(inner, loc, zero);
          });
      scf::YieldOp::create(body, loc, ValueRange{one.getResult(0), zero});
    };
    Value inside = arith::AndIOp::create(builder, loc, rowInside,
                                         block.colInside(builder, offset + 1));
    auto pair = scf::IfOp::create(builder, loc, inside, loadBoth, loadFirst);
    return {pair.getResult(0), pair.getResult(1)};
  }
};

struct StoreGlobalPattern : KernelPattern<StoreGlobalOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(verifyBlock(op)))
      return failure();
    Location loc = op.getLoc();
    Type element = op.getElementType();
    SmallVector<Value> values = unpack(rewriter, loc, adaptor.getValue());
    if (op.getTransposed()) {
      storeTransposed(rewriter, op, adaptor, values);
      rewriter.eraseOp(op);
      return success();
    }
    GlobalBlock block(rewriter, loc, context, adaptor.getBase(),
                      adaptor.getRow(), adaptor.getCol(), adaptor.getRows(),
                      adaptor.getCols(), adaptor.getStride(), element);
    for (int row = 0; row < 2; ++row)
      scf::IfOp::create(rewriter, loc, block.rowInside(rewriter, row),
                        [&](OpBuilder &body, Location loc) {
                          for (size_t i = 2 * row; i < values.size(); i += 4)
                            storePair(body, loc, block, row, i / 4 * 8,
                                      values[i], values[i + 1], element);
                          scf::YieldOp::create(body, loc);
                        });
    rewriter.eraseOp(op);
    return success();
  }

  /// Column c of the fragment is a row of the matrix, one element a store.
  void storeTransposed(OpBuilder &builder, StoreGlobalOp op, OpAdaptor adaptor,
                       ArrayRef<Value> values) const {
    Location loc = op.getLoc();
    Type element = op.getElementType();
    TransposedBlock block(builder, loc, context, adaptor.getBase(),
                          adaptor.getRow(), adaptor.getCol(), adaptor.getRows(),
                          adaptor.getCols(), adaptor.getStride(), element);
    for (int64_t i = 0, e = values.size(); i < e; i += 4)
      for (int64_t j : {0, 1}) {
        int64_t column = i / 4 * 8 + j;
        scf::IfOp::create(builder, loc, block.colInside(builder, column),
                          [&](OpBuilder &body, Location loc) {
                            Value start = block.columnStart(body, column);
                            for (int half : {0, 1})
                              storeElement(body, loc, block, start, 8 * half,
                                           values[i + 2 * half + j], element);
                            scf::YieldOp::create(body, loc);
                          });
      }
  }

  /// One element, `row` further along, if that is inside.
  static void storeElement(OpBuilder &builder, Location loc,
                           const TransposedBlock &block, Value columnStart,
                           int32_t row, Value value, Type element) {
    scf::IfOp::create(builder, loc, block.rowInside(builder, row),
                      [&](OpBuilder &body, Location loc) {
                        LLVM::StoreOp::create(
                            body, loc, toElement(body, loc, value, element),
                            block.address(body, columnStart, row));
                        scf::YieldOp::create(body, loc);
                      });
  }

  static Value toElement(OpBuilder &builder, Location loc, Value value,
                         Type element) {
    if (!element.isBF16())
      return value;
    Value pair = toBF16Pair(builder, loc, value, value);
    Value bits =
        LLVM::TruncOp::create(builder, loc, builder.getI16Type(), pair);
    return LLVM::BitcastOp::create(builder, loc, element, bits);
  }

  /// The first of the pair decides whether anything is stored, the second
  /// whether the pair goes out as one.
  static void storePair(OpBuilder &builder, Location loc,
                        const GlobalBlock &block, int row, int64_t offset,
                        Value first, Value second, Type element) {
    auto storeBoth = [&](OpBuilder &body, Location loc) {
      Value both;
      if (element.isBF16())
        both = toBF16Pair(body, loc, first, second);
      else
        both = packF32(body, loc, first, second);
      LLVM::StoreOp::create(body, loc, both, block.address(body, row, offset));
      scf::YieldOp::create(body, loc);
    };
    auto storeFirst = [&](OpBuilder &body, Location loc) {
      scf::IfOp::create(body, loc, block.colInside(body, offset),
                        [&](OpBuilder &inner, Location loc) {
                          LLVM::StoreOp::create(
                              inner, loc, toElement(inner, loc, first, element),
                              block.address(inner, row, offset));
                          scf::YieldOp::create(inner, loc);
                        });
      scf::YieldOp::create(body, loc);
    };
    scf::IfOp::create(builder, loc, block.colInside(builder, offset + 1),
                      storeBoth, storeFirst);
  }

  static Value packF32(OpBuilder &builder, Location loc, Value first,
                       Value second) {
    auto pair = VectorType::get(2, builder.getF32Type());
    Value result = LLVM::PoisonOp::create(builder, loc, pair);
    result = LLVM::InsertElementOp::create(builder, loc, result, first,
                                           constantI32(builder, loc, 0));
    return LLVM::InsertElementOp::create(builder, loc, result, second,
                                         constantI32(builder, loc, 1));
  }
};

/// Registers to the swizzled box: stmatrix for 16-bit elements, 8-byte stores
/// for f32. In both, the 16 rows of a warp keep their place and the 16-byte
/// chunk is permuted by the row as TMA will undo it.
struct StagePattern : KernelPattern<StageOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StageOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const ::dgemm::SmemPlan &plan = context.plan;
    int64_t perGroup = plan.storeBoxesPerChunk * plan.storeBoxBytes;
    Value box = context.slotAddress(rewriter, loc, plan.offsetStore, perGroup,
                                    adaptor.getWg());
    SmallVector<Value> values = unpack(rewriter, loc, adaptor.getValue());
    if (op.getElementType().isBF16())
      stageBF16(rewriter, op, box, values);
    else
      stageF32(rewriter, op, box, values);
    rewriter.eraseOp(op);
    return success();
  }

  /// What the row XORs into the chunk number: the address bits above a span of
  /// 128 bytes' worth of rows, as wide as the swizzle.
  Value rowPermutation(OpBuilder &builder, Location loc, Value row) const {
    int64_t swizzle = context.schedule.swizzleD;
    int64_t shift = swizzle == 128 ? 0 : swizzle == 64 ? 1 : 2;
    int64_t mask = swizzle == 0 ? 0 : swizzle / 16 - 1;
    Value shifted = arith::ShRUIOp::create(builder, loc, row,
                                           constantI32(builder, loc, shift));
    return arith::AndIOp::create(builder, loc, shifted,
                                 constantI32(builder, loc, mask));
  }

  Value rowAddress(OpBuilder &builder, Location loc, Value box, Value row,
                   int64_t rowBytes) const {
    Value offset = arith::MulIOp::create(builder, loc, row,
                                         constantI32(builder, loc, rowBytes));
    return LLVM::GEPOp::create(builder, loc, box.getType(), builder.getI8Type(),
                               box, ValueRange{offset});
  }

  /// `boxOffset`, in bytes, comes last: boxes then share the few addresses that
  /// differ in the permutation, which are kept in registers for all tiles.
  Value chunkAddress(OpBuilder &builder, Location loc, Value rowStart,
                     Value chunk, Value permutation, int64_t boxOffset) const {
    Value place = arith::XOrIOp::create(builder, loc, chunk, permutation);
    Value offset = arith::ShLIOp::create(builder, loc, place,
                                         constantI32(builder, loc, 4));
    Value inFirstBox =
        LLVM::GEPOp::create(builder, loc, rowStart.getType(),
                            builder.getI8Type(), rowStart, ValueRange{offset});
    return LLVM::GEPOp::create(
        builder, loc, rowStart.getType(), builder.getI8Type(), inFirstBox,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(boxOffset)});
  }

  void stageBF16(OpBuilder &builder, StageOp op, Value box,
                 ArrayRef<Value> values) const {
    Location loc = op.getLoc();
    // Lane l gives the address of row l % 8 of matrix l / 8: matrices 0 and 1
    // are the upper and lower 8 rows of a column group, 2 and 3 of the next.
    Value warpRow = arith::ShLIOp::create(builder, loc, context.warpInGroup,
                                          constantI32(builder, loc, 4));
    Value laneRow = arith::AndIOp::create(builder, loc, context.lane,
                                          constantI32(builder, loc, 15));
    Value row = arith::AddIOp::create(builder, loc, warpRow, laneRow);
    Value nextGroup = arith::ShRUIOp::create(builder, loc, context.lane,
                                             constantI32(builder, loc, 4));
    Value rowStart =
        rowAddress(builder, loc, box, row, int64_t(op.getBoxCols()) * 2);
    Value permutation = rowPermutation(builder, loc, row);
    int64_t first = op.getCol() / 8, groups = op.getWidth() / 8;
    for (int64_t g = 0; g < groups; g += 2) {
      bool two = g + 1 < groups;
      SmallVector<Value> registers;
      for (int64_t group = g; group < g + (two ? 2 : 1); ++group)
        for (int half = 0; half < 2; ++half) {
          size_t at = (first + group) * 4 + half * 2;
          registers.push_back(
              toBF16Pair(builder, loc, values[at], values[at + 1]));
        }
      Value chunk = arith::AddIOp::create(
          builder, loc, nextGroup,
          constantI32(builder, loc, op.getToCol() / 8 + g));
      // With one group left, lanes 16 to 31 give no address that is used, but
      // theirs must stay inside the box all the same.
      if (!two)
        chunk = constantI32(builder, loc, op.getToCol() / 8 + g);
      NVVM::StMatrixOp::create(
          builder, loc,
          chunkAddress(builder, loc, rowStart, chunk, permutation,
                       op.getOffset()),
          registers, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
    }
  }

  void stageF32(OpBuilder &builder, StageOp op, Value box,
                ArrayRef<Value> values) const {
    Location loc = op.getLoc();
    Value upper = context.fragmentRow(builder, loc);
    Value quad = arith::AndIOp::create(builder, loc, context.lane,
                                       constantI32(builder, loc, 3));
    Value half = arith::ShRUIOp::create(builder, loc, quad,
                                        constantI32(builder, loc, 1));
    Value within =
        arith::AndIOp::create(builder, loc, quad, constantI32(builder, loc, 1));
    int64_t first = op.getCol() / 8, groups = op.getWidth() / 8;
    for (int lower = 0; lower < 2; ++lower) {
      Value row = arith::AddIOp::create(builder, loc, upper,
                                        constantI32(builder, loc, 8 * lower));
      Value rowStart =
          rowAddress(builder, loc, box, row, int64_t(op.getBoxCols()) * 4);
      auto pair = VectorType::get(2, builder.getF32Type());
      Value threadStart = LLVM::GEPOp::create(
          builder, loc, rowStart.getType(), pair, rowStart, ValueRange{within});
      Value permutation = rowPermutation(builder, loc, row);
      for (int64_t g = 0; g < groups; ++g) {
        Value chunk = arith::AddIOp::create(
            builder, loc, half,
            constantI32(builder, loc, op.getToCol() / 4 + 2 * g));
        Value address = chunkAddress(builder, loc, threadStart, chunk,
                                     permutation, op.getOffset());
        size_t at = (first + g) * 4 + lower * 2;
        Value both = StoreGlobalPattern::packF32(builder, loc, values[at],
                                                 values[at + 1]);
        LLVM::StoreOp::create(builder, loc, both, address);
      }
    }
  }
};

struct TmaStorePattern : KernelPattern<TmaStoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TmaStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const ::dgemm::SmemPlan &plan = context.plan;
    Value box = context.slotAddress(
        rewriter, loc, plan.offsetStore + op.getOffset(),
        plan.storeBoxesPerChunk * plan.storeBoxBytes, adaptor.getWg());
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        rewriter, loc, adaptor.getMap(), box,
        ValueRange{adaptor.getCol(), adaptor.getRow()}, Value(),
        NVVM::TMAStoreMode::TILE, Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreCommitPattern : KernelPattern<StoreCommitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkCommitGroupOp>(op);
    return success();
  }
};

struct StoreWaitPattern : KernelPattern<StoreWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(
        op, op.getPending(), op.getReadAttr());
    return success();
  }
};

struct FenceAsyncPattern : KernelPattern<FenceAsyncOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(FenceAsyncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(rewriter.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    return success();
  }
};

/// Named barriers: 0 is the CTA's, 1 and up the consumers' own, behind them
/// those that hand the tensor core over.
Value barrierNumber(OpBuilder &builder, Location loc, Value wg, int64_t first) {
  return arith::AddIOp::create(builder, loc, wg,
                               constantI32(builder, loc, first));
}

struct WarpgroupBarrierPattern : KernelPattern<WarpgroupBarrierOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WarpgroupBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    NVVM::BarrierOp::create(
        rewriter, loc, Type(), barrierNumber(rewriter, loc, adaptor.getWg(), 1),
        constantI32(rewriter, loc, 128), NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct OrderWaitPattern : KernelPattern<OrderWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(OrderWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value number = barrierNumber(rewriter, loc, adaptor.getWg(),
                                 1 + context.schedule.consumers);
    NVVM::BarrierOp::create(rewriter, loc, Type(), number,
                            constantI32(rewriter, loc, 256),
                            NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct OrderArrivePattern : KernelPattern<OrderArriveOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(OrderArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value number = barrierNumber(rewriter, loc, adaptor.getWg(),
                                 1 + context.schedule.consumers);
    NVVM::BarrierArriveOp::create(rewriter, loc, number,
                                  constantI32(rewriter, loc, 256));
    rewriter.eraseOp(op);
    return success();
  }
};

struct IsLeaderPattern : KernelPattern<IsLeaderOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(IsLeaderOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, context.isGroupLeader(rewriter, op.getLoc()));
    return success();
  }
};
} // namespace

void mlir::dgemm::populateEpiloguePatterns(RewritePatternSet &patterns,
                                           const TypeConverter &converter,
                                           const KernelContext &context) {
  patterns.add<ScaleFragmentPattern, AddGlobalPattern, StoreGlobalPattern,
               StagePattern, TmaStorePattern, StoreCommitPattern,
               StoreWaitPattern, FenceAsyncPattern, WarpgroupBarrierPattern,
               OrderWaitPattern, OrderArrivePattern, IsLeaderPattern>(
      converter, patterns.getContext(), context);
}
