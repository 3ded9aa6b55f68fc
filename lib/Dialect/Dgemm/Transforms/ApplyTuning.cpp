// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-apply-tuning: writes what a tuning database knows into the decisions
// that are still open, and leaves the rest to the cost model.

#include "DecisionRows.h"

#include "dgemm/CostModel/Realisation.h"
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h"
#include "dgemm/TuningDB/TunedChoice.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMAPPLYTUNINGPASS
#include "dgemm/Dialect/Dgemm/Transforms/Passes.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::TunedRow;
using ::dgemm::TuningDatabase;

static void explain(Operation *op, const std::vector<TunedRow> &rows,
                    size_t numRows) {
  for (const TunedRow &row : rows) {
    std::string prefix = rowPrefix(row.maxM, numRows);
    if (row.record)
      remark::passed(op->getLoc(), scheduleRemark(op, "schedule-tuned"))
          << (prefix + "tuned " + ::dgemm::toString(row.record->schedule))
          << remark::reason("{0}", row.why)
          << remark::metric("microseconds", row.record->medianUs);
    else
      remark::missed(op->getLoc(), scheduleRemark(op, "schedule-not-tuned"))
          << (prefix + "no tuned schedule") << remark::reason("{0}", row.why);
  }
}

namespace {
struct ApplyTuning : mlir::dgemm::impl::DgemmApplyTuningPassBase<ApplyTuning> {
  using DgemmApplyTuningPassBase::DgemmApplyTuningPassBase;
  ApplyTuning(const DgemmApplyTuningPassOptions &options,
              std::shared_ptr<const TuningDatabase> database)
      : DgemmApplyTuningPassBase(options), database(std::move(database)) {}

  LogicalResult initialize(MLIRContext *context) override {
    auto error = [&](const char *option, const std::string &message) {
      return emitError(UnknownLoc::get(context))
             << "option '" << option << "': " << message;
    };
    ::dgemm::Result<::dgemm::DeviceModel> found =
        ::dgemm::findDevice(deviceName);
    if (!found)
      return error("device", found.message());
    device = *found;
    if (maxKernels < 1)
      return error("max-kernels",
                   "expected at least 1, found " + std::to_string(maxKernels));
    if (database)
      return success();
    auto opened = ::dgemm::openTuningDatabase(db);
    if (!opened)
      return error("db", opened.message());
    database = *opened;
    for (const ::dgemm::SkippedRecord &skipped : database->skipped())
      emitWarning(UnknownLoc::get(context)) << ::dgemm::toString(skipped);
    return success();
  }

  void runOnOperation() override {
    // Without a record there is nothing to say, either.
    if (database->empty())
      return;
    getOperation()->walk([&](ScheduledOpInterface op) {
      if (isUndecided(op))
        decide(op);
    });
  }

  /// A record may be of a build that could more, or of hand-written kernels.
  static void leaveOutUnrealised(ScheduledOpInterface op,
                                 const ::dgemm::Problem &problem,
                                 TunedRow &row) {
    if (!row.record)
      return;
    std::string reason = whyNotRealised(problem, row.record->schedule);
    if (reason.empty())
      return;
    row.why = "the record of M = " + std::to_string(row.record->problem.m) +
              " cannot be used: " + reason;
    op->emitWarning() << row.why;
    row.record.reset();
  }

  void decide(ScheduledOpInterface op) {
    ::dgemm::DeviceModel target = device;
    if (TargetAttr attribute = TargetAttr::lookup(op))
      target.limits = attribute.getLimits();
    ::dgemm::Problem problem = op.getProblem();
    auto tuned = StringAttr::get(&getContext(), "tuned");
    SmallVector<DecisionRow> rows;
    std::vector<TunedRow> found;
    ::dgemm::TunedOptions options;
    options.maxKernels = maxKernels;
    for (const DecisionRow &row : readDecision(op)) {
      options.maxM = row.maxM;
      if (row.schedule) {
        rows.push_back(row);
      } else {
        for (TunedRow &part :
             ::dgemm::chooseTuned(*database, problem, target, options)) {
          // A known M has one row for whatever range it stands in.
          if (problem.m != ::dgemm::kDynamic)
            part.maxM = row.maxM;
          leaveOutUnrealised(op, problem, part);
          DecisionRow decision;
          decision.maxM = part.maxM;
          if (part.record) {
            decision.schedule =
                ScheduleAttr::get(&getContext(), part.record->schedule);
            decision.source = tuned;
            ++numTuned;
          } else {
            ++numMissed;
          }
          rows.push_back(decision);
          found.push_back(std::move(part));
        }
      }
      options.aboveM = row.maxM;
    }
    explain(op, found, rows.size());
    if (llvm::any_of(found, [](const TunedRow &row) { return !!row.record; }))
      writeDecision(op, rows);
  }

  std::shared_ptr<const TuningDatabase> database;
  ::dgemm::DeviceModel device;
};
} // namespace

std::unique_ptr<Pass> mlir::dgemm::createDgemmApplyTuningPass(
    const DgemmApplyTuningPassOptions &options,
    std::shared_ptr<const TuningDatabase> database) {
  return std::make_unique<ApplyTuning>(options, std::move(database));
}
