// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-select-schedule: writes the decision how a GEMM is computed, and says
// why. It never replaces a decision that stands there, and nothing else in the
// IR changes.

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMSELECTSCHEDULEPASS
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::Selection;

/// Rows (largest M, -1: any) with what was selected for them.
using Rows = std::vector<std::pair<int64_t, Selection>>;

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

static remark::RemarkOpts remarkOptions(Operation *op, StringRef name) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(name)
      .category("dgemm-schedule")
      .function(function ? function.getName() : StringRef());
}

/// "M <= 64: " for a row of a table, nothing for the only one.
static std::string rowPrefix(int64_t maxM, size_t numRows) {
  if (numRows == 1)
    return "";
  return maxM < 0 ? "other M: " : "M <= " + std::to_string(maxM) + ": ";
}

static void explain(Operation *op, const Rows &rows) {
  for (const auto &[maxM, selection] : rows) {
    std::string prefix = rowPrefix(maxM, rows.size());
    remark::passed(op->getLoc(), remarkOptions(op, "schedule-chosen"))
        << (prefix + "chose " + ::dgemm::toString(selection.schedule))
        << remark::reason("{0}", selection.reason)
        << remark::metric("microseconds", selection.cost.microseconds);
    for (const auto &[schedule, time] : selection.alternatives)
      remark::analysis(op->getLoc(), remarkOptions(op, "schedule-alternative"))
          << (prefix + "slower: " + ::dgemm::toString(schedule))
          << remark::reason("{0}", time);
    for (const auto &[schedule, rule] : selection.rejected)
      remark::missed(op->getLoc(), remarkOptions(op, "schedule-rejected"))
          << (prefix + "rejected " + ::dgemm::toString(schedule))
          << remark::reason("{0}", rule);
  }
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// Where the limits come from, for a note on an error.
static void noteLimits(InFlightDiagnostic &error, Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto target =
            parent->getAttrOfType<TargetAttr>(TargetAttr::kAttrName)) {
      error.attachNote(parent->getLoc()) << "limits are those of " << target;
      return;
    }
  error.attachNote() << "limits are those of sm_90a; no enclosing op has '"
                     << TargetAttr::kAttrName << "'";
}

/// Reports every rule that `schedule` breaks for this problem and target.
static LogicalResult check(Operation *op, const ::dgemm::Problem &problem,
                           const ::dgemm::Schedule &schedule,
                           const ::dgemm::TargetLimits &limits,
                           const Twine &row = "") {
  std::vector<::dgemm::ScheduleViolation> violations =
      ::dgemm::verifySchedule(problem, schedule, limits);
  for (const ::dgemm::ScheduleViolation &violation : violations) {
    InFlightDiagnostic error =
        op->emitOpError() << row
                          << "schedule cannot be used: " << violation.message;
    noteLimits(error, op);
    if (!violation.hint.empty())
      error.attachNote() << violation.hint;
  }
  return success(violations.empty());
}

static LogicalResult checkGiven(Operation *op, Attribute decision,
                                const ::dgemm::Problem &problem,
                                const ::dgemm::TargetLimits &limits) {
  if (auto schedule = dyn_cast<ScheduleAttr>(decision))
    return check(op, problem, schedule.getValue(), limits);
  auto table = cast<DispatchAttr>(decision);
  LogicalResult result = success();
  for (auto [row, schedule] : llvm::enumerate(table.getSchedules()))
    if (failed(check(op, problem, schedule.getValue(), limits,
                     rowPrefix(table.getMaxM(row), table.getNumRows()))))
      result = failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// One schedule where every M has the same, else a table.
static Attribute toAttribute(MLIRContext *context, const Rows &rows) {
  SmallVector<int64_t> bounds;
  SmallVector<ScheduleAttr> schedules;
  for (const auto &[maxM, selection] : rows) {
    if (maxM >= 0)
      bounds.push_back(maxM);
    schedules.push_back(ScheduleAttr::get(context, selection.schedule));
  }
  if (schedules.size() == 1)
    return schedules.front();
  SmallVector<StringAttr> sources(schedules.size());
  return DispatchAttr::get(context, bounds, schedules, sources);
}

static ::dgemm::Result<Rows> choose(const ::dgemm::Problem &problem,
                                    const ::dgemm::DeviceModel &device) {
  if (problem.m == ::dgemm::kDynamic)
    return ::dgemm::selectDispatch(problem, device);
  ::dgemm::Result<Selection> selection =
      ::dgemm::selectSchedule(problem, device);
  if (!selection)
    return selection.status();
  return Rows{{-1, *selection}};
}

namespace {
struct SelectSchedule
    : mlir::dgemm::impl::DgemmSelectSchedulePassBase<SelectSchedule> {
  using DgemmSelectSchedulePassBase::DgemmSelectSchedulePassBase;

  void runOnOperation() override {
    ::dgemm::Result<::dgemm::DeviceModel> device =
        ::dgemm::findDevice(deviceName);
    if (!device) {
      emitError(getOperation()->getLoc())
          << "option 'device': " << device.message();
      return signalPassFailure();
    }
    ScheduleAttr wanted;
    if (!schedule.empty()) {
      wanted = ScheduleAttr::parseText(&getContext(), schedule, [&] {
        return emitError(getOperation()->getLoc()) << "option 'schedule': ";
      });
      if (!wanted)
        return signalPassFailure();
    }
    // All ops are looked at, so that one run reports everything.
    getOperation()->walk([&](ScheduledOpInterface op) {
      if (failed(decide(op, wanted, *device)))
        signalPassFailure();
    });
  }

  LogicalResult decide(ScheduledOpInterface op, ScheduleAttr wanted,
                       ::dgemm::DeviceModel device) {
    TargetAttr target = TargetAttr::lookup(op);
    if (target)
      device.limits = target.getLimits();
    ::dgemm::Problem problem = op.getProblem();
    if (Attribute given = op.getScheduleAttr()) {
      ++numKept;
      return checkGiven(op, given, problem, device.limits);
    }
    if (wanted) {
      if (failed(check(op, problem, wanted.getValue(), device.limits)))
        return failure();
      return write(op, wanted, "user");
    }
    ::dgemm::Result<Rows> rows = choose(problem, device);
    if (!rows)
      return op->emitOpError()
             << "no schedule can be chosen: " << rows.message();
    for (const auto &[maxM, selection] : *rows)
      if (failed(check(op, problem, selection.schedule, device.limits)))
        return failure();
    explain(op, *rows);
    return write(op, toAttribute(&getContext(), *rows), "model");
  }

  LogicalResult write(ScheduledOpInterface op, Attribute decision,
                      StringRef source) {
    op.setScheduleAttr(decision);
    op.setSourceAttr(StringAttr::get(&getContext(), source));
    ++numSelected;
    return success();
  }
};
} // namespace
