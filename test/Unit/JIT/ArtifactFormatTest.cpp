// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Artifacts as files and as bundles.

#include "TestArtifact.h"

#include "dgemm/JIT/ArtifactFormat.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::jit;

static void expectSameKernel(const Artifact &read, const Artifact &written) {
  EXPECT_EQ(read.ptx, written.ptx);
  EXPECT_EQ(read.cubin, written.cubin);
  EXPECT_EQ(toJson(read.metadata), toJson(written.metadata));
  EXPECT_EQ(read.ptxasLog, written.ptxasLog);
  EXPECT_EQ(read.scheduleReport, written.scheduleReport);
  ASSERT_EQ(read.resources.size(), written.resources.size());
  for (size_t i = 0; i < read.resources.size(); ++i) {
    EXPECT_EQ(read.resources[i].entry, written.resources[i].entry);
    EXPECT_EQ(read.resources[i].registers, written.resources[i].registers);
    EXPECT_EQ(read.resources[i].spillLoads, written.resources[i].spillLoads);
    EXPECT_EQ(read.resources[i].sharedMemory,
              written.resources[i].sharedMemory);
    EXPECT_EQ(read.resources[i].warnings, written.resources[i].warnings);
  }
}

TEST(ArtifactParts, RoundTrip) {
  Artifact artifact = makeTestArtifact("x");
  Result<Artifact> read = fromParts(toParts(artifact));
  ASSERT_TRUE(read) << read.message();
  expectSameKernel(*read, artifact);
  EXPECT_EQ(read->l3IR, artifact.l3IR);
}

TEST(ArtifactParts, NameWhatIsMissing) {
  for (const char *part : {"kernel.ptx", "launch.json", "resources.json"}) {
    auto parts = toParts(makeTestArtifact("x"));
    parts.erase(part);
    Result<Artifact> read = fromParts(parts);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.message(), std::string(part) + " is missing");
  }
}

TEST(Bundle, RoundTrip) {
  Artifact artifact = makeTestArtifact("x");
  Result<Artifact> read = parseBundle(toBundle(artifact));
  ASSERT_TRUE(read) << read.message();
  expectSameKernel(*read, artifact);
}

TEST(Bundle, HoldsPtxAlone) {
  Artifact artifact = makeTestArtifact("x");
  artifact.cubin.clear();
  artifact.resources.clear();
  Result<Artifact> read = parseBundle(toBundle(artifact));
  ASSERT_TRUE(read) << read.message();
  expectSameKernel(*read, artifact);
}

static std::string errorAfter(const std::string &from, const std::string &to) {
  std::string text = toBundle(makeTestArtifact("x"));
  // The metadata inside has a version too; the bundle's own comes last.
  size_t at = text.rfind(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Result<Artifact> read = parseBundle(text);
  EXPECT_FALSE(read) << to;
  return read.message();
}

TEST(Bundle, RefusesForeignAndDamagedDocuments) {
  EXPECT_NE(parseBundle("").message(), "");
  EXPECT_NE(parseBundle("[1]").message().find("not a dgemm bundle"),
            std::string::npos);
  EXPECT_NE(errorAfter("dgemm-bundle", "other").find("not a dgemm bundle"),
            std::string::npos);
  EXPECT_NE(
      errorAfter("\"version\": 1\n", "\"version\": 2\n").find("expected 1"),
      std::string::npos);
  EXPECT_NE(errorAfter("\"cubin\": \"", "\"cubin\": \"?").find("cubin"),
            std::string::npos);
  EXPECT_NE(errorAfter("\"registers\": 168", "\"registers\": \"many\"")
                .find("registers"),
            std::string::npos);
  EXPECT_NE(errorAfter("\"metadata\":", "\"meta\":").find("metadata"),
            std::string::npos);
}

TEST(Bundle, TruncationAtAnyPlaceIsAnError) {
  std::string text = toBundle(makeTestArtifact("x"));
  // The last character is the line end, which may be missing.
  for (size_t size = 0; size + 1 < text.size(); size += 7)
    EXPECT_FALSE(parseBundle(text.substr(0, size))) << size;
}
