// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Attaches the shared-memory plan that problem and schedule imply.

#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMPLANSMEMPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;

namespace {
struct PlanSmemPass
    : public mlir::dgemm::impl::DgemmPlanSmemPassBase<PlanSmemPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const ::dgemm::Schedule &schedule = kernel.getSchedule().getValue();
    ::dgemm::TargetLimits limits;
    ::dgemm::SmemPlan plan = ::dgemm::planSharedMemory(
        kernel.getProblem().getValue(), schedule, limits);
    int64_t available = ::dgemm::sharedMemoryBudget(schedule, limits);
    if (plan.total > available) {
      kernel.emitOpError() << "shared memory: " << plan.total << " bytes used, "
                           << available << " available";
      return signalPassFailure();
    }
    kernel.setSmemAttr(SmemPlanAttr::get(&getContext(), plan));
  }
};
} // namespace
