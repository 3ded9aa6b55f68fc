// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What the conversion patterns of one kernel share: its schedule and memory
// plan, the values every thread computes at entry, and address arithmetic.

#ifndef DGEMM_LIB_CONVERSION_DGEMMTONVVM_KERNELCONTEXT_H
#define DGEMM_LIB_CONVERSION_DGEMMTONVVM_KERNELCONTEXT_H

#include "dgemm/Dialect/Dgemm/IR/BuilderUtils.h"
#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::dgemm {

struct KernelContext {
  ::dgemm::Problem problem;
  ::dgemm::Schedule schedule;
  ::dgemm::SmemPlan plan;

  // Parameters of the function; null when the kernel has none of the kind.
  Value sizeM, sizeN, sizeK, rasterGroup, workspace;
  SmallVector<Value> tensorMaps;

  // Computed at entry.
  Value smem;        ///< !llvm.ptr<3>, start of dynamic shared memory
  Value smemUnits;   ///< i64, its address in descriptor units (16 bytes)
  Value thread;      ///< i32, tid.x
  Value warp;        ///< i32, thread / 32, uniform in the warp
  Value lane;        ///< i32, thread % 32
  Value warpInGroup; ///< i32, warp % 4
  Value warpgroup;   ///< i32, warp / 4
  Value kSteps;      ///< i32, ring steps of one tile, unknown to compilers
  /// i32, place of this CTA in its cluster of tiles along M and N; null where
  /// a cluster is one tile.
  Value clusterRow, clusterCol;

  /// Emits the entry values.
  void emitEntry(OpBuilder &builder, Location loc);
  /// `offset` bytes (i32) into shared memory.
  Value smemAt(OpBuilder &builder, Location loc, Value offset) const;
  Value smemAt(OpBuilder &builder, Location loc, int64_t offset) const;
  /// Element `slot` of an array at `base` with `step` bytes.
  Value slotAddress(OpBuilder &builder, Location loc, int64_t base,
                    int64_t step, Value slot) const;
  Value fullBarrier(OpBuilder &builder, Location loc, Value slot) const;
  Value emptyBarrier(OpBuilder &builder, Location loc, Value slot) const;
  /// Waits, suspended, for the barrier's phase of this parity.
  static void wait(OpBuilder &builder, Location loc, Value barrier,
                   Value parity);
  /// `value` as lane 0 has it, in all lanes of a warp, which all execute this;
  /// the compiler then knows it to be uniform.
  static Value broadcast(OpBuilder &builder, Location loc, Value value);
  /// `value` as lane `index` of each `lanes` (a power of two) neighbours has
  /// it. All lanes of a warp execute this.
  static Value shuffle(OpBuilder &builder, Location loc, Value value,
                       Value index, int64_t lanes);
  /// Row of this thread's upper accumulators within a block: 64 rows of a
  /// warpgroup, in register form 16 rows of each warp.
  Value fragmentRow(OpBuilder &builder, Location loc) const;
  /// Threads of a CTA that hold parts of finished fragments.
  int64_t fragmentThreads() const;
  /// i1: first thread of its warpgroup.
  Value isGroupLeader(OpBuilder &builder, Location loc) const;
};

/// The bit pattern of the L2 cache policy of a TMA hint; 0: none.
int64_t cachePolicy(StringRef hint);

/// Registers of a fragment: struct of cols / 2 values of f32.
LLVM::LLVMStructType registersOf(FragmentType fragment);
/// Registers of a strip: struct of i32.
LLVM::LLVMStructType registersOf(StripType strip);

/// The values of such a struct; of a fragment 4 for each group of 8 columns,
/// the upper row's pair first.
SmallVector<Value> unpack(OpBuilder &builder, Location loc, Value registers);
/// The values of several, one after the other.
SmallVector<Value> unpackAll(OpBuilder &builder, Location loc,
                             ValueRange registers);
/// A struct of `type` of these values, and several of them.
Value pack(OpBuilder &builder, Location loc, Type type, ValueRange values);
SmallVector<Value> packAll(OpBuilder &builder, Location loc, TypeRange types,
                           ValueRange values);

void populateTypeConversions(TypeConverter &converter);
void populateTileLoopPatterns(RewritePatternSet &patterns,
                              const TypeConverter &converter,
                              const KernelContext &context);
void populateTilePatterns(RewritePatternSet &patterns,
                          const TypeConverter &converter,
                          const KernelContext &context);
void populateRingPatterns(RewritePatternSet &patterns,
                          const TypeConverter &converter,
                          const KernelContext &context);
void populateRegisterPatterns(RewritePatternSet &patterns,
                              const TypeConverter &converter,
                              const KernelContext &context);
void populateClusterPatterns(RewritePatternSet &patterns,
                             const TypeConverter &converter,
                             const KernelContext &context);
void populateWorkspacePatterns(RewritePatternSet &patterns,
                               const TypeConverter &converter,
                               const KernelContext &context);
void populateMmaPatterns(RewritePatternSet &patterns,
                         const TypeConverter &converter,
                         const KernelContext &context);
void populateEpiloguePatterns(RewritePatternSet &patterns,
                              const TypeConverter &converter,
                              const KernelContext &context);

/// Base of patterns that need the kernel's context.
template <typename OpT> class KernelPattern : public OpConversionPattern<OpT> {
public:
  KernelPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                const KernelContext &context)
      : OpConversionPattern<OpT>(converter, mlirContext), context(context) {}

protected:
  const KernelContext &context;
};

} // namespace mlir::dgemm

#endif // DGEMM_LIB_CONVERSION_DGEMMTONVVM_KERNELCONTEXT_H
