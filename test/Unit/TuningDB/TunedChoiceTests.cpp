// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From problems to records: exact M, buckets, tables over M, and why not.

#include "TestRecords.h"

#include "dgemm/CostModel/Selector.h"
#include "dgemm/TuningDB/TunedChoice.h"

#include <gtest/gtest.h>

using namespace dgemm;

static TuningDatabase databaseOf(const std::vector<TuningRecord> &records) {
  std::string text;
  for (const TuningRecord &record : records)
    text += toLine(record) + "\n";
  TuningDatabase database;
  database.add(parseRecords(text, "db"));
  EXPECT_TRUE(database.skipped().empty());
  return database;
}

static DeviceModel h200() { return *findDevice("H200"); }

static Problem problemOf(int64_t m) {
  Problem problem = testRecord(1).problem;
  problem.m = m;
  return problem;
}

/// A record whose schedule is the model's own for its M.
static TuningRecord modelRecord(int64_t m) {
  TuningRecord record = testRecord(m);
  Result<Selection> selection = selectSchedule(record.problem, h200());
  EXPECT_TRUE(selection.ok());
  record.schedule = selection->schedule;
  return record;
}

TEST(TunedChoice, TheExactRecordWins) {
  TuningRecord bucket = modelRecord(128), exact = modelRecord(100);
  exact.schedule.stages -= 1;
  std::vector<TunedRow> rows =
      chooseTuned(databaseOf({bucket, exact}), problemOf(100), h200());
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_TRUE(rows[0].record);
  EXPECT_EQ(*rows[0].record, exact);
  EXPECT_EQ(rows[0].maxM, -1);
}

TEST(TunedChoice, ABucketStandsForSmallerM) {
  TuningDatabase database = databaseOf({modelRecord(128), modelRecord(8192)});
  for (int64_t m : {126, 127, 128}) {
    std::vector<TunedRow> rows = chooseTuned(database, problemOf(m), h200());
    ASSERT_TRUE(rows[0].record) << m << ": " << rows[0].why;
    EXPECT_EQ(rows[0].record->problem.m, 128);
  }
  // Larger than every bucket.
  EXPECT_TRUE(chooseTuned(database, problemOf(16384), h200())[0].record);
  // Another bucket has none, even where the next larger one does.
  std::vector<TunedRow> rows = chooseTuned(database, problemOf(64), h200());
  EXPECT_FALSE(rows[0].record);
  EXPECT_EQ(rows[0].why,
            "no record of m=64,n=4096,k=7168,a=bf16,b=bf16,d=bf16,layout=nt on "
            "H200");
  rows = chooseTuned(database, problemOf(1000), h200());
  EXPECT_FALSE(rows[0].record);
  EXPECT_NE(rows[0].why.find(", nor of M = 1024"), std::string::npos);
}

TEST(TunedChoice, ABucketFarOffIsLeftToTheModel) {
  // One tile of 256 rows is fine for M = 256 and mostly padding for M = 129.
  TuningRecord record = testRecord(256);
  record.schedule = *parseSchedule("tile = 256x128x64, stages = 4");
  DeviceModel device = h200();
  Problem near = problemOf(129);
  double here = predict(near, record.schedule, device).microseconds /
                selectSchedule(near, device)->cost.microseconds;
  double there = predict(record.problem, record.schedule, device).microseconds /
                 selectSchedule(record.problem, device)->cost.microseconds;
  ASSERT_GT(here, 1.05 * std::max(there, 1.0)) << "the example is no example";
  std::vector<TunedRow> rows = chooseTuned(databaseOf({record}), near, device);
  EXPECT_FALSE(rows[0].record);
  EXPECT_NE(rows[0].why.find("slower than the model's choice at M = 129"),
            std::string::npos)
      << rows[0].why;
  // At its own M it is taken, whatever the model thinks of it.
  EXPECT_TRUE(
      chooseTuned(databaseOf({record}), record.problem, device)[0].record);
}

TEST(TunedChoice, ForbiddenSchedulesAreLeftOut) {
  DeviceModel small = h200();
  small.limits.sharedMemoryPerBlock = 100000;
  std::vector<TunedRow> rows =
      chooseTuned(databaseOf({testRecord(4096)}), problemOf(4096), small);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].record);
  EXPECT_NE(rows[0].why.find("the record of M = 4096 cannot be used: shared "
                             "memory"),
            std::string::npos);
}

TEST(TunedChoice, SizesThatNobodyMeasures) {
  TuningDatabase database = databaseOf({testRecord(4096)});
  Problem problem = problemOf(4096);
  problem.n = kDynamic;
  EXPECT_NE(chooseTuned(database, problem, h200())[0].why.find("run time"),
            std::string::npos);
  problem = problemOf(0);
  EXPECT_NE(chooseTuned(database, problem, h200())[0].why.find("size of 0"),
            std::string::npos);
}

/// "upper bound: M of the record or -", separated by spaces.
static std::string shape(const std::vector<TunedRow> &rows) {
  std::string text;
  for (const TunedRow &row : rows)
    text += (text.empty() ? "" : " ") + std::to_string(row.maxM) + ":" +
            (row.record ? std::to_string(row.record->problem.m) : "-");
  return text;
}

/// Records for these M whose schedules all differ.
static std::vector<TuningRecord> recordsOf(std::initializer_list<int64_t> ms) {
  std::vector<TuningRecord> records;
  for (int64_t m : ms) {
    TuningRecord record = testRecord(m);
    record.schedule.tileN = 64 + 8 * int(records.size());
    // The store's boxes want the swizzle that their columns fill.
    record.schedule.store = StoreKind::Vector;
    records.push_back(record);
  }
  return records;
}

TEST(TunedChoice, ARunTimeMGetsATable) {
  Problem any = problemOf(kDynamic);
  EXPECT_EQ(shape(chooseTuned(databaseOf({}), any, h200())), "-1:-");
  EXPECT_EQ(shape(chooseTuned(databaseOf(recordsOf({64, 256})), any, h200())),
            "32:- 64:64 128:- 256:256 -1:-");
  EXPECT_EQ(shape(chooseTuned(databaseOf(recordsOf({8192})), any, h200())),
            "4096:- -1:8192");
  // A record between buckets is for its own M alone.
  EXPECT_EQ(shape(chooseTuned(databaseOf(recordsOf({100})), any, h200())),
            "-1:-");
}

TEST(TunedChoice, ATableCoversTheRangeAskedFor) {
  TuningDatabase database = databaseOf(recordsOf({64, 128, 256, 8192}));
  Problem any = problemOf(kDynamic);
  TunedOptions options;
  options.aboveM = 64;
  options.maxM = 200;
  EXPECT_EQ(shape(chooseTuned(database, any, h200(), options)),
            "128:128 200:256");
  options.aboveM = 20;
  options.maxM = 64;
  EXPECT_EQ(shape(chooseTuned(database, any, h200(), options)), "32:- 64:64");
  options.aboveM = 10000;
  options.maxM = -1;
  EXPECT_EQ(shape(chooseTuned(database, any, h200(), options)), "-1:8192");
}

TEST(TunedChoice, EqualKernelsShareARow) {
  std::vector<TuningRecord> records = {testRecord(64), testRecord(128),
                                       testRecord(256)};
  records[0].schedule.rasterGroup = 4;
  records[2].schedule.tileN = 192;
  EXPECT_EQ(
      shape(chooseTuned(databaseOf(records), problemOf(kDynamic), h200())),
      "32:- 128:128 256:256 -1:-");
}

TEST(TunedChoice, ATableHasNoMoreKernelsThanAllowed) {
  TuningDatabase database = databaseOf(recordsOf({64, 128, 256, 512, 8192}));
  TunedOptions options;
  for (int most : {4, 3, 2}) {
    options.maxKernels = most;
    std::vector<TunedRow> rows =
        chooseTuned(database, problemOf(kDynamic), h200(), options);
    int kernels = 0;
    for (const TunedRow &row : rows)
      kernels += bool(row.record);
    EXPECT_EQ(kernels, most);
    EXPECT_EQ(rows.back().record->problem.m, 8192);
    EXPECT_FALSE(rows.front().record);
  }
  // Ranges with a gap between them cannot be joined.
  options.maxKernels = 1;
  EXPECT_EQ(shape(chooseTuned(database, problemOf(kDynamic), h200(), options)),
            "32:- 512:512 4096:- -1:8192");
}

TEST(TunedChoice, FiguresAreALine) {
  EXPECT_EQ(describeFigures(testRecord(4096, 125)),
            "125.0 us measured at M = 4096 (least 124.8 us, spread 0.8 %, 30 "
            "launches, L2 clean, 2026-01-31), predicted 13.00 us, the model's "
            "choice took 14.00 us (-88.8 %)");
}

TEST(TunedChoice, Explains) {
  TuningDatabase database = databaseOf({testRecord(4096)});
  Result<std::string> text = explainTuning(database, problemOf(4096), h200());
  ASSERT_TRUE(text.ok()) << text.message();
  for (const char *part :
       {"M = 4096\n", "  tuned   tile = 128x128x64\n", "from db:1, dgemm ",
        "  model   tile = ", "  used    tuned\n"})
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  text = explainTuning(database, problemOf(kDynamic), h200());
  ASSERT_TRUE(text.ok()) << text.message();
  for (const char *part :
       {"M <= 2048\n", "2048 < M <= 4096\n", "4096 < M\n",
        "  tuned   nothing: no record of m=8192", "  used    model\n"})
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  DeviceModel tiny = h200();
  tiny.limits.sharedMemoryPerBlock = 4096;
  EXPECT_FALSE(explainTuning(database, problemOf(4096), tiny).ok());
}
