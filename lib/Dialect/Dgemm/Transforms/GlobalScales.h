// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The scales that a promoting K loop reads from global memory, early enough
// that their latency stands in front of no promotion.

#ifndef DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_GLOBALSCALES_H
#define DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_GLOBALSCALES_H

#include "KernelUtils.h"

namespace mlir::dgemm {

/// One K loop's reader. Lanes are used as a buffer: a value holds one scale of
/// several K blocks, each lane another's: of 32 for a B scale block, or of 4
/// where rows of A, whose scale four lanes share, are read from memory too. The
/// K loop becomes a loop over chunks of that many K blocks and one over a
/// chunk's steps, which takes each scale from the lane that holds it; a chunk's
/// scales are asked for while the one before is multiplied.
///
/// Where a thread's rows of A are not shared by four lanes (swap-AB), or a
/// stage has more than four K blocks, A's scales are read one step ahead, by
/// each lane for itself.
class GlobalScales {
public:
  /// Where the scales lie; made once for a tile, whatever loops follow.
  struct Place {
    /// i32: first row of A of the tile, and first row of each m64 block.
    Value m0;
    SmallVector<Value> rows;
    /// i32: number of the B scale block of each group that is read, counted
    /// along N, and how many blocks there are.
    SmallVector<Value> groups;
    Value numGroups;
    /// i32: M, and the last K block.
    Value limit, lastBlock;
  };

  GlobalScales(OpBuilder &builder, Location loc, KernelOp kernel, Place place);

  /// Scales of A that `of` gives for each K block: two for each m64 block, or
  /// swapped, two for every 8 columns; none when they travel by the ring.
  size_t numOfA() const { return countA; }
  /// Steps of a chunk; 0 when one chunk is enough for all of K.
  int64_t chunkSteps() const { return oneChunk ? 0 : stepsOfChunk; }

  /// What the chunk that starts with step `first` holds. Reads memory, so there
  /// must be such a step; behind the last one it may repeat scales.
  SmallVector<Value> chunk(Value first);
  size_t numHeld() const {
    return (directA ? 0 : countA) + place.groups.size();
  }
  /// What the steps of a chunk hand from one to the next, and what the first
  /// one is given.
  size_t numCarried() const {
    return directA ? countA * schedule.kBlocksPerStage : 0;
  }
  SmallVector<Value> initial(Value first);

  /// At the head of step `step` of the chunk that starts with step `first`,
  /// where no multiplication runs yet. Returns what to carry to the next one.
  SmallVector<Value> enter(ValueRange held, ValueRange carried, Value step,
                           Value first);
  /// A's scales, then those of the groups, for a K block of the step.
  ArrayRef<Value> of(int kBlock) const {
    size_t count = countA + place.groups.size();
    return ArrayRef<Value>(scales).slice(kBlock * count, count);
  }

private:
  int64_t lanes() const;
  void readA(Value kBlock, SmallVectorImpl<Value> &into);
  SmallVector<Value> readStepOfA(Value step);
  Value i32(int64_t value) { return constantI32(builder, loc, value); }

  OpBuilder &builder;
  Location loc;
  KernelOp kernel;
  ::dgemm::Problem problem;
  ::dgemm::Schedule schedule;
  Place place;
  size_t countA = 0;
  /// A's scales are read one step ahead, by each lane for itself.
  bool directA = false;
  int64_t stepsOfChunk = 0;
  bool oneChunk = true;
  SmallVector<Value> scales;
};

} // namespace mlir::dgemm

#endif // DGEMM_LIB_DIALECT_DGEMM_TRANSFORMS_GLOBALSCALES_H
