// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits FP8 products into one partial product per K block and its promotion.

#include "KernelUtils.h"

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Runtime/KernelInterface.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMINSERTSCALINGPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct InsertScalingPass
    : public mlir::dgemm::impl::DgemmInsertScalingPassBase<InsertScalingPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const ::dgemm::Problem &problem = kernel.getProblem().getValue();
    const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
    if (!problem.fp8() || schedule.promotion == 0)
      return;
    SmallVector<TileMmaOp> mmas;
    kernel.walk([&](TileMmaOp op) {
      if (op.getAccumulator())
        mmas.push_back(op);
    });
    for (TileMmaOp mma : mmas)
      split(mma, problem, schedule);
  }

  void split(TileMmaOp mma, const ::dgemm::Problem &problem,
             const ::dgemm::Schedule &schedule) {
    auto loop = mma->getParentOfType<scf::ForOp>();
    auto tiles = mma->getParentOfType<TilesOp>();
    if (!loop || !tiles)
      return;
    OpBuilder builder(mma);
    Location loc = mma.getLoc();
    Value m0 = tiles.getBody().getArgument(0);
    Value n0 = tiles.getBody().getArgument(1);
    Value kb = loop.getInductionVar();
    Value rowScales;
    auto slots = slotTiles(getOperation());
    if (slots.size() == 3)
      rowScales =
          LoadOp::create(builder, loc, slots[2].second, "scale_a", m0, kb);
    Value partial = TileMmaOp::create(builder, loc, mma.getType(), mma.getA(),
                                      mma.getB(), Value{});
    Value sum =
        TilePromoteOp::create(builder, loc, mma.getType(), mma.getAccumulator(),
                              partial, m0, n0, kb, rowScales);
    mma.replaceAllUsesWith(sum);
    mma.erase();
  }
};
} // namespace
