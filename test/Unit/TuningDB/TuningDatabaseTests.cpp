// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which records a database takes and prefers; opening, filling up, merging.

#include "TestRecords.h"

#include "dgemm/Support/File.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace dgemm;

static RecordFile fileOf(const std::vector<TuningRecord> &records,
                         const std::string &name = "db") {
  std::string text;
  for (const TuningRecord &record : records)
    text += toLine(record) + "\n";
  return parseRecords(text, name);
}

static TuningDatabase databaseOf(const std::vector<TuningRecord> &records) {
  TuningDatabase database;
  database.add(fileOf(records));
  return database;
}

TEST(TuningDatabase, Buckets) {
  EXPECT_EQ(tuningBucket(1), 1);
  EXPECT_EQ(tuningBucket(3), 4);
  EXPECT_EQ(tuningBucket(64), 64);
  EXPECT_EQ(tuningBucket(65), 128);
  EXPECT_EQ(tuningBucket(8192), 8192);
  EXPECT_EQ(tuningBucket(100000), 8192);
}

TEST(TuningDatabase, KeepsTheFastestOfAProblem) {
  TuningRecord slow = testRecord(4096, 130), fast = testRecord(4096, 120),
               other = testRecord(2048, 70);
  fast.schedule.tileN = 192;
  for (const auto &order :
       {std::vector{slow, fast, other}, std::vector{other, fast, slow}}) {
    TuningDatabase database = databaseOf(order);
    ASSERT_TRUE(database.find(slow.problem, "H200"));
    EXPECT_EQ(database.find(slow.problem, "H200")->record, fast);
    EXPECT_EQ(database.best().size(), 2u);
    // By rising M.
    EXPECT_EQ(database.toText(), toLine(other) + "\n" + toLine(fast) + "\n");
    EXPECT_TRUE(database.skipped().empty());
  }
}

TEST(TuningDatabase, ALaterMeasurementOfAScheduleReplacesTheEarlier) {
  TuningRecord lucky = testRecord(4096, 110), again = testRecord(4096, 125),
               other = testRecord(4096, 120);
  again.date = "2026-02-01T00:00:00Z";
  other.schedule.tileN = 192;
  for (const auto &order :
       {std::vector{lucky, other, again}, std::vector{again, other, lucky}})
    EXPECT_EQ(databaseOf(order).find(lucky.problem, "H200")->record, other);
}

TEST(TuningDatabase, DevicesAndL2StatesAreApart) {
  TuningRecord clean = testRecord(4096, 100), dirty = testRecord(4096, 120),
               h100 = testRecord(4096, 90);
  dirty.l2 = L2State::Dirty;
  h100.device = "H100";
  TuningDatabase database = databaseOf({clean, dirty, h100});
  EXPECT_EQ(database.best().size(), 3u);
  EXPECT_EQ(database.find(clean.problem, "H200", L2State::Clean)->record,
            clean);
  EXPECT_EQ(database.find(clean.problem, "H200")->record, dirty);
  EXPECT_EQ(database.find(clean.problem, "H100")->record, h100);
  EXPECT_EQ(database.find(clean.problem, "H20"), nullptr);
}

TEST(TuningDatabase, OnlyTheSameProblemIsFound) {
  TuningDatabase database = databaseOf({testRecord(4096)});
  Problem problem = testRecord(4096).problem;
  ASSERT_TRUE(database.find(problem, "H200"));
  Problem other = problem;
  other.n += 64;
  EXPECT_FALSE(database.find(other, "H200"));
  other = problem;
  other.k += 64;
  EXPECT_FALSE(database.find(other, "H200"));
  other = problem;
  other.a = other.b = DType::F16;
  EXPECT_FALSE(database.find(other, "H200"));
  other = problem;
  other.accumulate = true;
  EXPECT_FALSE(database.find(other, "H200"));
}

TEST(TuningDatabase, UnusableRecordsAreSkippedWithTheReason) {
  TuningRecord wrong = testRecord(1), foreign = testRecord(2),
               outdated = testRecord(3), newer = testRecord(4);
  wrong.status = RecordStatus::Wrong;
  foreign.device = "B200";
  outdated.versions.generation -= 1;
  newer.versions.llvm = "99.0";
  RecordFile file = fileOf({wrong, foreign, testRecord(64), outdated, newer});
  file.skipped.push_back({"db:9", "nonsense"});
  TuningDatabase database;
  database.add(file);
  EXPECT_EQ(database.best().size(), 1u);
  ASSERT_EQ(database.skipped().size(), 5u);
  EXPECT_EQ(toString(database.skipped()[0]),
            "db:9: tuning record skipped: nonsense");
  EXPECT_EQ(toString(database.skipped()[1]),
            "db:1: tuning record skipped: its status is wrong");
  EXPECT_NE(toString(database.skipped()[2])
                .find("db:2: tuning record skipped: "
                      "unknown device 'B200'"),
            std::string::npos);
  EXPECT_NE(database.skipped()[3].reason.find("kernels of generation"),
            std::string::npos);
  EXPECT_EQ(database.skipped()[4].place, "db:5");
  EXPECT_NE(database.skipped()[4].reason.find("LLVM 99.0"), std::string::npos);
}

TEST(TuningDatabase, FillsUpOnlyWhatItDoesNotKnow) {
  TuningRecord own = testRecord(4096, 130), base = testRecord(4096, 100),
               more = testRecord(64, 10);
  TuningDatabase database = databaseOf({own});
  database.fillFrom(databaseOf({base, more}));
  EXPECT_EQ(database.find(own.problem, "H200")->record, own);
  EXPECT_EQ(database.find(more.problem, "H200")->record, more);
}

TEST(TuningDatabase, DescribesWhatAProblemCouldGet) {
  TuningDatabase database =
      databaseOf({testRecord(100), testRecord(64), testRecord(128)});
  Problem problem = testRecord(100).problem;
  EXPECT_EQ(database.describe(problem, "H200"),
            toLine(testRecord(100)) + "\n" + toLine(testRecord(64)) + "\n" +
                toLine(testRecord(128)) + "\n");
  problem.m = kDynamic;
  EXPECT_EQ(database.describe(problem, "H200"),
            toLine(testRecord(64)) + "\n" + toLine(testRecord(128)) + "\n");
  EXPECT_EQ(database.describe(problem, "H100"), "");
  EXPECT_EQ(TuningDatabase().describe(problem, "H200"), "empty\n");
}

TEST(TuningDatabase, UnreadLinesAreFoundAsIfTheyWereRead) {
  const TuningDatabase &unread = shippedTuningDatabase();
  std::vector<LocatedRecord> all = unread.best();
  EXPECT_GT(all.size(), 100u);
  for (const LocatedRecord &located : all) {
    const TuningRecord &record = located.record;
    const LocatedRecord *found =
        unread.find(record.problem, record.device, record.l2);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->record, record);
    EXPECT_EQ(found->place, located.place);
  }
}

TEST(TuningDatabase, UnreadLinesAreReadWhenTheyAreAskedFor) {
  TuningRecord a = testRecord(2048), b = a, c = a;
  b.problem.m = 2 * a.problem.m;
  c.problem.n = 2 * a.problem.n;
  // The second is no good, the last not as toLine writes it.
  std::string bad = toLine(b), odd = toLine(a);
  bad.replace(bad.find("tile = "), 7, "tail = ");
  odd.replace(odd.find("\"problem\":"), 10, "\"problem\" :");
  std::string text = toLine(a) + "\n" + bad + "\n" + toLine(c) + "\nno\n" + odd;
  TuningDatabase database;
  EXPECT_TRUE(database.empty());
  database.addUnread(text.c_str(), "table");
  EXPECT_FALSE(database.empty());
  EXPECT_TRUE(database.skipped().empty());

  // "no" may be about anything, so it is read with the first problem.
  const LocatedRecord *found = database.find(c.problem, c.device, c.l2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record, c);
  EXPECT_EQ(found->place, "table:3");
  ASSERT_EQ(database.skipped().size(), 1u);
  EXPECT_EQ(database.skipped()[0].place, "table:4");

  // Any M reads all lines of the problem.
  EXPECT_FALSE(database.find(b.problem, b.device, b.l2));
  ASSERT_EQ(database.skipped().size(), 2u);
  EXPECT_EQ(database.skipped()[1].place, "table:2");
  EXPECT_NE(database.skipped()[1].reason.find("tail"), std::string::npos);
  EXPECT_EQ(database.find(a.problem, a.device, a.l2)->record, a);
  EXPECT_EQ(found, database.find(c.problem, c.device, c.l2));
  EXPECT_EQ(database.best().size(), 2u);

  // What another database knows itself comes first.
  TuningDatabase own;
  a.medianUs = 2 * a.medianUs;
  own.add(parseRecords(toLine(a), "own"));
  own.fillFrom(database);
  EXPECT_EQ(own.find(a.problem, a.device, a.l2)->place, "own:1");
  EXPECT_EQ(own.find(c.problem, c.device, c.l2)->place, "table:3");
  EXPECT_EQ(own.best().size(), 2u);
}

TEST(TuningDatabase, TheShippedTableIsSound) {
  EXPECT_FALSE(shippedTuningDatabase().best().empty());
  for (const SkippedRecord &skipped : shippedTuningDatabase().skipped())
    ADD_FAILURE() << toString(skipped);
}

TEST(TuningDatabase, Opens) {
  Result<TempDir> folder = TempDir::create();
  ASSERT_TRUE(folder.ok());
  std::string path = folder->path() + "/db.jsonl";
  TuningRecord record = testRecord(4096);
  record.problem.n = 4160; // not in any shipped table
  EXPECT_NE(openTuningDatabase(path).message().find(
                "tuning database: cannot open '" + path + "'"),
            std::string::npos);
  EXPECT_NE(openTuningDatabase(folder->path()).message().find("directory"),
            std::string::npos);
  ASSERT_TRUE(appendRecord(path, record).ok());
  auto first = openTuningDatabase(path);
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_TRUE((*first)->find(record.problem, "H200"));
  // Read once, and again after a change.
  EXPECT_EQ(*openTuningDatabase(path), *first);
  record.problem.m = 2048;
  ASSERT_TRUE(appendRecord(path, record).ok());
  auto second = openTuningDatabase(path);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE((*second)->find(record.problem, "H200"));
  EXPECT_FALSE((*first)->find(record.problem, "H200"));
  EXPECT_TRUE((*openTuningDatabase("none"))->empty());
  EXPECT_EQ((*openTuningDatabase("shipped")).get(), &shippedTuningDatabase());
}

TEST(TuningDatabase, TheOptionBeatsTheVariable) {
  ASSERT_EQ(::setenv("DGEMM_DB", "/some/db", 1), 0);
  EXPECT_EQ(tuningDatabaseName("mine"), "mine");
  EXPECT_EQ(tuningDatabaseName(""), "/some/db");
  ::unsetenv("DGEMM_DB");
  EXPECT_EQ(tuningDatabaseName(""), "shipped");
}

TEST(TuningDatabase, MergesIntoAFile) {
  Result<TempDir> folder = TempDir::create();
  ASSERT_TRUE(folder.ok());
  std::string path = folder->path() + "/db.jsonl";
  TuningRecord slow = testRecord(4096, 130), fast = testRecord(4096, 120),
               more = testRecord(64, 10), outdated = testRecord(1);
  fast.schedule.tileN = 192;
  outdated.versions.generation += 1;
  ASSERT_TRUE(appendRecord(path, outdated).ok());
  ASSERT_TRUE(appendRecord(path, slow).ok());
  std::vector<SkippedRecord> skipped;
  Status status =
      mergeIntoFile(path, {fileOf({fast}), fileOf({more})}, skipped);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].place, path + ":1");
  EXPECT_EQ(*readFile(path), toLine(more) + "\n" + toLine(fast) + "\n");

  // A file of something else is not overwritten.
  std::string text = folder->path() + "/notes.txt";
  ASSERT_TRUE(writeFile(text, "dear diary\n").ok());
  EXPECT_NE(mergeIntoFile(text, {fileOf({fast})}, skipped)
                .message()
                .find("holds no tuning records"),
            std::string::npos);
  EXPECT_EQ(*readFile(text), "dear diary\n");
}
