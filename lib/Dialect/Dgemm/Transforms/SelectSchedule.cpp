// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-select-schedule: writes the decision how a GEMM is computed, and says
// why. It never replaces a decision that stands there, and nothing else in the
// IR changes.

#include "DecisionRows.h"

#include "dgemm/CostModel/Selector.h"
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"

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

static void explain(Operation *op, const Rows &rows, size_t numRows) {
  for (const auto &[maxM, selection] : rows) {
    std::string prefix = rowPrefix(maxM, numRows);
    remark::passed(op->getLoc(), scheduleRemark(op, "schedule-chosen"))
        << (prefix + "chose " + ::dgemm::toString(selection.schedule))
        << remark::reason("{0}", selection.reason)
        << remark::metric("microseconds", selection.cost.microseconds);
    for (const auto &[schedule, time] : selection.alternatives)
      remark::analysis(op->getLoc(), scheduleRemark(op, "schedule-alternative"))
          << (prefix + "slower: " + ::dgemm::toString(schedule))
          << remark::reason("{0}", time);
    for (const auto &[schedule, rule] : selection.rejected)
      remark::missed(op->getLoc(), scheduleRemark(op, "schedule-rejected"))
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
    if (schedule &&
        failed(check(op, problem, schedule.getValue(), limits,
                     rowPrefix(table.getMaxM(row), table.getNumRows()))))
      result = failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// The model's rows for aboveM < M <= maxM (-1: no end).
static ::dgemm::Result<Rows> choose(const ::dgemm::Problem &problem,
                                    const ::dgemm::DeviceModel &device,
                                    int64_t aboveM, int64_t maxM) {
  if (problem.m == ::dgemm::kDynamic) {
    ::dgemm::SelectorOptions options;
    options.aboveM = aboveM;
    options.maxM = maxM;
    return ::dgemm::selectDispatch(problem, device, options);
  }
  ::dgemm::Result<Selection> selection =
      ::dgemm::selectSchedule(problem, device);
  if (!selection)
    return selection.status();
  return Rows{{maxM, *selection}};
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
      if (failed(checkGiven(op, given, problem, device.limits)))
        return failure();
      if (!isUndecided(op)) {
        ++numKept;
        return success();
      }
    }
    if (wanted && failed(check(op, problem, wanted.getValue(), device.limits)))
      return failure();
    auto user = StringAttr::get(&getContext(), "user");
    auto model = StringAttr::get(&getContext(), "model");
    SmallVector<DecisionRow> rows;
    Rows selected;
    int64_t aboveM = 0;
    for (const DecisionRow &row : readDecision(op)) {
      if (row.schedule) {
        rows.push_back(row);
      } else if (wanted) {
        rows.push_back({row.maxM, wanted, user});
      } else {
        ::dgemm::Result<Rows> chosen =
            choose(problem, device, aboveM, row.maxM);
        if (!chosen)
          return op->emitOpError()
                 << "no schedule can be chosen: " << chosen.message();
        for (const auto &[maxM, selection] : *chosen) {
          if (failed(check(op, problem, selection.schedule, device.limits)))
            return failure();
          rows.push_back({maxM,
                          ScheduleAttr::get(&getContext(), selection.schedule),
                          model});
          selected.emplace_back(maxM, selection);
        }
      }
      aboveM = row.maxM;
    }
    explain(op, selected, rows.size());
    writeDecision(op, rows);
    ++numSelected;
    return success();
  }
};
} // namespace
