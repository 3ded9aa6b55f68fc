// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of records: unreadable lines, writers that are killed, many at once.

#include "TestRecords.h"

#include "dgemm/Support/File.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dgemm;

namespace {
struct RecordFileTest : testing::Test {
  void SetUp() override {
    Result<TempDir> made = TempDir::create();
    ASSERT_TRUE(made.ok()) << made.message();
    folder.emplace(std::move(*made));
    path = folder->path() + "/db.jsonl";
  }
  RecordFile read() {
    Result<RecordFile> file = readRecordFile(path);
    EXPECT_TRUE(file.ok()) << file.message();
    return file ? *file : RecordFile();
  }
  std::optional<TempDir> folder;
  std::string path;
};
} // namespace

TEST_F(RecordFileTest, AppendsAndReads) {
  for (int64_t m : {1, 64, 4096})
    ASSERT_TRUE(appendRecord(path, testRecord(m)).ok());
  RecordFile file = read();
  ASSERT_EQ(file.records.size(), 3u);
  EXPECT_TRUE(file.skipped.empty());
  EXPECT_EQ(file.records[1].record, testRecord(64));
  EXPECT_EQ(file.records[1].place, path + ":2");
}

TEST_F(RecordFileTest, BadLinesAreSkippedByNumber) {
  std::string text = toLine(testRecord(1)) + "\n\nnonsense\n" +
                     toLine(testRecord(2)) + "\r\n{\"format\":7}\n";
  ASSERT_TRUE(writeFile(path, text).ok());
  RecordFile file = read();
  ASSERT_EQ(file.records.size(), 2u);
  EXPECT_EQ(file.records[1].place, path + ":4");
  ASSERT_EQ(file.skipped.size(), 2u);
  EXPECT_EQ(toString(file.skipped[0]),
            path + ":3: tuning record skipped: expected a JSON object");
  EXPECT_EQ(toString(file.skipped[1]),
            path + ":5: tuning record skipped: field 'format': expected 1, "
                   "found 7");
}

TEST_F(RecordFileTest, AnUnfinishedLineIsSkippedAndStaysAlone) {
  std::string line = toLine(testRecord(2));
  // Wherever the writer was stopped.
  for (size_t cut : {size_t(1), line.size() / 2, line.size() - 1}) {
    ASSERT_TRUE(
        writeFile(path, toLine(testRecord(1)) + "\n" + line.substr(0, cut))
            .ok());
    RecordFile file = read();
    ASSERT_EQ(file.records.size(), 1u);
    ASSERT_EQ(file.skipped.size(), 1u);
    EXPECT_EQ(file.skipped[0].place, path + ":2");
    EXPECT_NE(file.skipped[0].reason.find("not finished"), std::string::npos);
    ASSERT_TRUE(appendRecord(path, testRecord(3)).ok());
    file = read();
    ASSERT_EQ(file.records.size(), 2u);
    EXPECT_EQ(file.records[1].record, testRecord(3));
    EXPECT_EQ(file.records[1].place, path + ":3");
  }
  // Only the end of the line is missing: nothing is lost.
  ASSERT_TRUE(writeFile(path, line).ok());
  ASSERT_TRUE(appendRecord(path, testRecord(3)).ok());
  EXPECT_EQ(read().records.size(), 2u);
}

/// A child that appends records with M = first, first + 1, ... and tells the
/// parent through `progress` after each.
static pid_t startWriter(const std::string &path, int64_t first, int64_t count,
                         int progress) {
  pid_t child = ::fork();
  if (child != 0)
    return child;
  for (int64_t m = first; m < first + count; ++m) {
    TuningRecord record = testRecord(m);
    record.note = std::string(3000, 'x');
    if (!appendRecord(path, record))
      ::_exit(1);
    if (progress >= 0 && ::write(progress, "", 1) != 1)
      ::_exit(1);
  }
  ::_exit(0);
}

TEST_F(RecordFileTest, KilledWritersLoseNothingTheyFinished) {
  std::set<int64_t> finished;
  for (int64_t round = 0; round < 40; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    int64_t first = 1 + round * 100000;
    pid_t child = startWriter(path, first, 100000, ends[1]);
    ASSERT_GT(child, 0);
    ::close(ends[1]);
    // Each round dies after another number of records and a bit.
    char byte;
    int64_t seen = 0;
    while (seen < round % 7 + 1 && ::read(ends[0], &byte, 1) == 1)
      ++seen;
    ::usleep(static_cast<useconds_t>(37 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    while (::read(ends[0], &byte, 1) == 1)
      ++seen;
    ::close(ends[0]);
    for (int64_t m = first; m < first + seen; ++m)
      finished.insert(m);
  }
  RecordFile file = read();
  std::set<int64_t> found;
  for (const LocatedRecord &located : file.records)
    found.insert(located.record.problem.m);
  for (int64_t m : finished)
    EXPECT_TRUE(found.count(m)) << m;
  // A line that was written but not reported may be there as well.
  EXPECT_LE(found.size(), finished.size() + 40);
  EXPECT_TRUE(appendRecord(path, testRecord(9000000)).ok());
  EXPECT_EQ(read().records.size(), file.records.size() + 1);
}

TEST_F(RecordFileTest, WritersAtOnceDoNotMixLines) {
  std::vector<pid_t> children;
  for (int64_t i = 0; i < 8; ++i)
    children.push_back(startWriter(path, 1 + i * 1000, 100, -1));
  // A reader in between sees whole lines, too.
  for (int i = 0; i < 20; ++i)
    if (std::filesystem::exists(path))
      EXPECT_TRUE(read().skipped.empty());
  for (pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  RecordFile file = read();
  EXPECT_TRUE(file.skipped.empty());
  std::set<int64_t> found;
  for (const LocatedRecord &located : file.records)
    found.insert(located.record.problem.m);
  EXPECT_EQ(found.size(), 800u);
}

TEST_F(RecordFileTest, RewritingLosesNoAppendedRecord) {
  pid_t child = startWriter(path, 1, 300, -1);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(rewriteRecords(path, [](const std::string &text) {
                  return Result<std::string>(text);
                }).ok());
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read().records.size(), 300u);
  EXPECT_FALSE(rewriteRecords(path, [](const std::string &) {
                 return Result<std::string>(Status::error("no"));
               }).ok());
  EXPECT_EQ(read().records.size(), 300u);
}

TEST_F(RecordFileTest, AFullDiskLeavesTheFileAsItWas) {
  ASSERT_TRUE(appendRecord(path, testRecord(1)).ok());
  auto before = std::filesystem::file_size(path);
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A limit on the file's size stops a write halfway, as a full disk does.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {before + 10, before + 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(appendRecord(path, testRecord(2)).ok() ? 1 : 0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::filesystem::file_size(path), before);
}

TEST_F(RecordFileTest, ErrorsNameThePath) {
  EXPECT_NE(readRecordFile(folder->path())
                .message()
                .find("cannot read '" + folder->path() + "': Is a directory"),
            std::string::npos);
  EXPECT_NE(readRecordFile(path).message().find("cannot open '" + path + "'"),
            std::string::npos);
  EXPECT_NE(appendRecord(folder->path(), testRecord(1))
                .message()
                .find("cannot open '" + folder->path() + "'"),
            std::string::npos);
}
