// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Records as text: round trip, and everything that is refused.

#include "TestRecords.h"

#include "dgemm/Support/Version.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(TuningRecord, RoundTrip) {
  TuningRecord record = testRecord(4096);
  Result<TuningRecord> back = parseRecord(toLine(record));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(*back, record);
  EXPECT_EQ(toLine(record).find('\n'), std::string::npos);

  record.status = RecordStatus::CompileError;
  record.medianUs = record.minUs = 0;
  record.l2 = L2State::Dirty;
  record.note = "line one\nline \"two\"\t\x01";
  back = parseRecord(toLine(record));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(*back, record);
  EXPECT_EQ(toLine(record).find('\n'), std::string::npos);
}

TEST(TuningRecord, EveryStatusHasAName) {
  for (RecordStatus status :
       {RecordStatus::Ok, RecordStatus::Wrong, RecordStatus::Hang,
        RecordStatus::Fault, RecordStatus::CompileError,
        RecordStatus::SlowWarning}) {
    Result<RecordStatus> back = parseRecordStatus(toString(status));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, status);
  }
}

TEST(TuningRecord, TheSpellingIsFixed) {
  EXPECT_EQ(
      toLine(testRecord(64)),
      "{\"format\":1,\"problem\":\"m=64,n=4096,k=7168,a=bf16,b=bf16,d=bf16,"
      "layout=nt\",\"schedule\":\"tile = "
      "128x128x64\",\"device\":\"H200\",\"l2\":\"clean\",\"status\":\"ok\","
      "\"median_us\":12.5,\"min_us\":12.25,\"spread\":0.0078125,"
      "\"samples\":30,\"predicted_us\":13.0,\"model_pick_us\":14.0,"
      "\"date\":\"2026-01-31T12:00:00Z\",\"dgemm\":\"" +
          std::string(version()) + "\",\"llvm\":\"" + llvmVersion() +
          "\",\"ptxas\":\"13.0.88\",\"generation\":" +
          std::to_string(kKernelGeneration) + "}");
}

TEST(TuningRecord, TextThatIsNotUnicodeStaysReadable) {
  TuningRecord record = testRecord(64);
  record.note = "ptxas \xff says";
  Result<TuningRecord> back = parseRecord(toLine(record));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_NE(back->note.find("says"), std::string::npos);
}

/// The error for a good line with one piece of text replaced.
static std::string errorAfter(const std::string &from, const std::string &to) {
  std::string line = toLine(testRecord(4096));
  size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  line.replace(at, from.size(), to);
  return parseRecord(line).message();
}

TEST(TuningRecord, ErrorsNameTheField) {
  EXPECT_EQ(parseRecord("").message(), "expected a JSON object");
  EXPECT_EQ(parseRecord("[1]").message(), "expected a JSON object");
  EXPECT_EQ(parseRecord("{}").message(), "field 'format': missing");
  EXPECT_EQ(errorAfter("\"format\":1", "\"format\":2"),
            "field 'format': expected 1, found 2");
  EXPECT_EQ(errorAfter("\"l2\":\"clean\",", ""), "field 'l2': missing");
  EXPECT_EQ(errorAfter("\"clean\"", "\"warm\""),
            "field 'l2': expected clean or dirty, found 'warm'");
  EXPECT_EQ(errorAfter("\"clean\"", "7"),
            "field 'l2': expected a string, found 7");
  EXPECT_EQ(errorAfter("12.5", "-1"),
            "field 'median_us': expected a finite number of at least 0, found "
            "-1");
  EXPECT_EQ(errorAfter("12.5", "1e999"), "expected a JSON object");
  EXPECT_EQ(errorAfter("12.5", "0"),
            "field 'median_us': expected a time above 0 for status ok, found "
            "0");
  EXPECT_EQ(errorAfter("\"samples\":30", "\"samples\":1.5"),
            "field 'samples': expected an integer of at least 0, found 1.5");
  EXPECT_EQ(errorAfter("\"H200\"", "\"\""),
            "field 'device': expected a name, found ''");
  EXPECT_EQ(errorAfter("\"format\":1", "\"format\":1,\"clock\":3"),
            "field 'clock': unknown to this version of dgemm");
  EXPECT_NE(errorAfter("\"ok\"", "\"fine\"").find("field 'status': expected"),
            std::string::npos);
}

TEST(TuningRecord, ParsingVerifiesTheProblem) {
  EXPECT_NE(
      errorAfter("m=4096", "m=?").find("field 'problem': expected known sizes"),
      std::string::npos);
  EXPECT_NE(errorAfter("m=4096", "m=4096,lda=9000")
                .find("field 'problem': expected no row lengths"),
            std::string::npos);
  EXPECT_NE(errorAfter("a=bf16", "a=f32").find("field 'problem': operands"),
            std::string::npos);
}

TEST(TuningRecord, ParsingVerifiesTheSchedule) {
  EXPECT_NE(
      errorAfter("tile = 128x128x64", "tile = 128").find("field 'schedule': "),
      std::string::npos);
  // Fits no shared memory.
  std::string error = errorAfter("tile = 128x128x64", "tile = 128x128x64, "
                                                      "stages = 12");
  EXPECT_NE(error.find("field 'schedule': cannot be used: "),
            std::string::npos);
  EXPECT_NE(error.find("shared memory"), std::string::npos) << error;
  // Promotion is for FP8 alone.
  EXPECT_NE(errorAfter("tile = 128x128x64", "tile = 128x128x64, promote = 128")
                .find("field 'schedule': cannot be used: "),
            std::string::npos);
}

TEST(TuningRecord, AnotherGenerationOrLlvmIsOutdated) {
  TuningVersions versions = currentVersions("13.0.88");
  EXPECT_EQ(whyOutdated(versions), "");
  versions.ptxas = "12.0.1";
  versions.dgemm = "9.9.9";
  EXPECT_EQ(whyOutdated(versions), "");
  versions.llvm = "21.0";
  EXPECT_EQ(whyOutdated(versions),
            std::string("measured with LLVM 21.0, this build has ") +
                llvmVersion());
  versions = currentVersions();
  versions.generation += 1;
  EXPECT_NE(whyOutdated(versions).find("kernels of generation"),
            std::string::npos);
}
