// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients are found again from records that were made with them, and what
// the records do not show is kept and named.

#include "TestJournal.h"

#include "dgemm/Tuner/Calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dgemm;
using namespace dgemm::tuner;

static DeviceModel h200() { return *findDevice("H200"); }

static std::vector<TuningRecord> journal(const DeviceModel &truth) {
  std::vector<TuningRecord> out;
  for (bool fp8 : {false, true})
    for (auto [n, k] : {std::pair<int64_t, int64_t>{7168, 2048}, {4096, 7168}})
      for (int64_t m : {16, 128, 4096}) {
        Problem problem = testProblem(m, n, k, fp8);
        addJournal(out, problem, truth, 60);
        if (m <= 128)
          addJournal(out, problem, truth, 60, L2State::Dirty);
      }
  return out;
}

static double errorOf(const CalibrationReport &report, size_t part) {
  return report.parts[part].result.medianErrorAfter;
}

TEST(Calibrate, FindsBothFormulasAgain) {
  DeviceModel truth = h200();
  truth.large.clock16 *= 0.95;
  truth.large.loadLatency *= 1.3;
  truth.decode.hbm *= 0.9;
  truth.decode.step *= 1.4;
  truth.decode.dirty *= 1.5;
  std::vector<TuningRecord> records = journal(truth);
  Result<CalibrationReport> report =
      calibrateFromRecords(h200(), records, "2026-01-31");
  ASSERT_TRUE(report.ok()) << report.message();
  ASSERT_EQ(report->parts.size(), 2u);
  EXPECT_TRUE(report->fittedAny());
  EXPECT_EQ(report->used, records.size());
  EXPECT_LT(errorOf(*report, 0), 0.005);
  EXPECT_LT(errorOf(*report, 1), 0.005);
  const DeviceModel &found = report->device;
  EXPECT_NEAR(found.large.clock16 / truth.large.clock16, 1, 0.02);
  EXPECT_NEAR(found.large.loadLatency / truth.large.loadLatency, 1, 0.05);
  EXPECT_NEAR(found.decode.hbm / truth.decode.hbm, 1, 0.02);
  EXPECT_NEAR(found.decode.step / truth.decode.step, 1, 0.1);
  EXPECT_NEAR(found.decode.dirty / truth.decode.dirty, 1, 0.1);
  // The file says where the numbers come from, and which are older.
  DeviceModel device = found;
  EXPECT_EQ(device.sources["decode.hbm"].find("fit 2026-01-31, +- "), 0u);
  DeviceModel start = h200();
  EXPECT_EQ(device.sources["decode.register_form"],
            start.sources["decode.register_form"]);
  EXPECT_EQ(found.decode.registerForm, start.decode.registerForm);
  Result<DeviceModel> parsed = parseDeviceModel(toText(found));
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(parsed->decode.hbm, found.decode.hbm);
  // Four digits, in the file as in the table.
  for (const FittedCoefficient &c : report->parts[1].result.coefficients)
    if (c.name == "decode.hbm") {
      EXPECT_EQ(c.value, found.decode.hbm);
      EXPECT_EQ(c.unit, "TB/s");
    }
}

TEST(Calibrate, LeavesAPartWithoutRecords) {
  std::vector<TuningRecord> records;
  addJournal(records, testProblem(64, 4096, 7168, false), h200(), 100);
  addJournal(records, testProblem(64, 7168, 2048, false), h200(), 100);
  Result<CalibrationReport> report =
      calibrateFromRecords(h200(), records, "2026-01-31");
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_NE(report->parts[0].left.find("measurements with M > 128"),
            std::string::npos)
      << report->parts[0].left;
  EXPECT_EQ(report->parts[1].left, "");
  DeviceModel device = report->device, start = h200();
  for (const DeviceField &field : deviceFields())
    if (field.fit != DeviceField::Fit::Decode)
      EXPECT_EQ(field.access(device), field.access(start)) << field.name;
  std::string text = toText(*report);
  EXPECT_NE(text.find("left as it is"), std::string::npos);
  EXPECT_NE(text.find("decode.register_form"), std::string::npos);
  EXPECT_NE(text.find("not determined"), std::string::npos);
  EXPECT_NE(text.find("median error of"), std::string::npos);
}

TEST(Calibrate, UsesOnlyWhatSaysSomething) {
  std::vector<TuningRecord> records;
  Problem problem = testProblem(64, 4096, 7168, false);
  addJournal(records, problem, h200(), 200);
  size_t sound = records.size();
  TuningRecord bad = records[0];
  bad.medianUs = 1e-3; // would spoil the fit
  bad.status = RecordStatus::Wrong;
  records.push_back(bad);
  bad.status = RecordStatus::SlowWarning;
  records.push_back(bad);
  bad.status = RecordStatus::Ok;
  bad.device = "H20";
  records.push_back(bad);
  bad.device = "H200";
  bad.versions.generation = -1;
  records.push_back(bad);
  bad = records[0];
  bad.medianUs = 0;
  records.push_back(bad);
  Result<CalibrationReport> report =
      calibrateFromRecords(h200(), records, "2026-01-31");
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_EQ(report->used, sound);
  EXPECT_EQ(report->skipped, 5u);

  auto none = [](const Problem &) { return false; };
  Result<CalibrationReport> empty =
      calibrateFromRecords(h200(), records, "2026-01-31", none);
  EXPECT_FALSE(empty.ok());
  EXPECT_NE(empty.message().find("no record to calibrate H200 with"),
            std::string::npos);
}
