// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The disk cache under races, damage and folders that cannot be written.

#include "TestArtifact.h"

#include "dgemm/JIT/ArtifactCache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dgemm;
using namespace dgemm::jit;
namespace fs = std::filesystem;

namespace {
class ArtifactCacheTest : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/dgemm-cache-test-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    base = pattern;
  }
  void TearDown() override { fs::remove_all(base); }

  /// Folders left over from unfinished writes.
  int countTemporaries() const {
    int count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(base))
      count += entry.path().filename().string().rfind("tmp-", 0) == 0;
    return count;
  }

  std::string base;
  const std::string key = contentHash("some key");
};
} // namespace

TEST(ContentHash, IsSha256) {
  EXPECT_EQ(contentHash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(ArtifactCacheTest, StoresAndLoads) {
  ArtifactCache cache(base + "/not/yet/there");
  EXPECT_FALSE(cache.load(key));
  Status status = cache.store(key, makeTestArtifact("x"));
  ASSERT_TRUE(status) << status.message();
  auto artifact = cache.load(key);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->ptx, makeTestArtifact("x").ptx);
  EXPECT_EQ(artifact->cubin, makeTestArtifact("x").cubin);
  EXPECT_EQ(countTemporaries(), 0);
}

TEST_F(ArtifactCacheTest, EntriesHaveThePermissionsOfOtherFolders) {
  ArtifactCache cache(base);
  ASSERT_TRUE(cache.store(key, makeTestArtifact("x")));
  ASSERT_EQ(::mkdir((base + "/plain").c_str(), 0777), 0);
  EXPECT_EQ(fs::status(cache.entryPath(key)).permissions(),
            fs::status(base + "/plain").permissions());
}

TEST_F(ArtifactCacheTest, OtherKeysMiss) {
  ArtifactCache cache(base);
  ASSERT_TRUE(cache.store(key, makeTestArtifact("x")));
  EXPECT_FALSE(cache.load(contentHash("other key")));
}

TEST_F(ArtifactCacheTest, AnEntryUnderAForeignNameMisses) {
  ArtifactCache cache(base);
  ASSERT_TRUE(cache.store(key, makeTestArtifact("x")));
  std::string other = contentHash("other key");
  fs::create_directories(fs::path(cache.entryPath(other)).parent_path());
  fs::copy(cache.entryPath(key), cache.entryPath(other),
           fs::copy_options::recursive);
  EXPECT_FALSE(cache.load(other));
}

TEST_F(ArtifactCacheTest, WithoutAFolderNothingIsKept) {
  ArtifactCache cache("");
  EXPECT_TRUE(cache.store(key, makeTestArtifact("x")));
  EXPECT_FALSE(cache.load(key));
}

TEST_F(ArtifactCacheTest, AnyDamageIsAMissAndIsRepaired) {
  ArtifactCache cache(base);
  ASSERT_TRUE(cache.store(key, makeTestArtifact("x")));
  std::vector<std::string> files;
  for (const auto &file : fs::directory_iterator(cache.entryPath(key)))
    files.push_back(file.path());
  ASSERT_GE(files.size(), 5u);
  for (const std::string &file : files) {
    for (const char *damage : {"truncate", "change", "remove"}) {
      ASSERT_TRUE(cache.load(key));
      auto size = fs::file_size(file);
      if (std::string(damage) == "truncate") {
        fs::resize_file(file, size / 2);
      } else if (std::string(damage) == "remove") {
        fs::remove(file);
      } else {
        std::fstream stream(file,
                            std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(static_cast<std::streamoff>(size / 2));
        stream.put('\1');
      }
      EXPECT_FALSE(cache.load(key)) << damage << " " << file;
      Status status = cache.store(key, makeTestArtifact("x"));
      EXPECT_TRUE(status) << status.message();
      EXPECT_TRUE(cache.load(key)) << damage << " " << file;
    }
  }
  EXPECT_EQ(countTemporaries(), 0);
}

TEST_F(ArtifactCacheTest, AFolderThatCannotBeMadeIsAnErrorAndAMiss) {
  std::ofstream(base + "/file") << "in the way";
  ArtifactCache cache(base + "/file/cache");
  Status status = cache.store(key, makeTestArtifact("x"));
  EXPECT_FALSE(status);
  EXPECT_NE(status.message().find("cannot create cache folder"),
            std::string::npos);
  EXPECT_FALSE(cache.load(key));
}

TEST_F(ArtifactCacheTest, EightProcessesRaceForTheSameKeys) {
  const int processes = 8, rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    // A folder that no process has made yet.
    std::string folder = base + "/" + std::to_string(round) + "/a/b";
    int start[2];
    ASSERT_EQ(::pipe(start), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
      pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::close(start[1]);
        char byte;
        // Returns when the parent closes its end: all begin together.
        (void)!::read(start[0], &byte, 1);
        ArtifactCache cache(folder);
        std::string mark(1000 + i, static_cast<char>('a' + i));
        bool stored = cache.store(key, makeTestArtifact(mark)).ok();
        auto artifact = cache.load(key);
        // Whoever won, all parts are of one writer.
        bool whole = artifact &&
                     artifact->ptxasLog.substr(7) == artifact->ptx.substr(16);
        ::_exit(stored && whole ? 0 : 1);
      }
      children.push_back(child);
    }
    ::close(start[0]);
    ::close(start[1]);
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "round " << round;
    }
  }
  EXPECT_EQ(countTemporaries(), 0);
}

TEST_F(ArtifactCacheTest, KilledWritersLeaveNothingVisible) {
  for (int round = 0; round < 20; ++round) {
    std::string thisKey = contentHash("round " + std::to_string(round));
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Artifact artifact = makeTestArtifact(std::string(4000000, 'y'));
      (void)ArtifactCache(base).store(thisKey, artifact);
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(round * 1000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ArtifactCache cache(base);
    auto artifact = cache.load(thisKey);
    // Either the rename happened, and then the entry is whole, or not.
    if (fs::exists(cache.entryPath(thisKey)))
      EXPECT_TRUE(artifact);
    else
      EXPECT_FALSE(artifact);
    EXPECT_TRUE(cache.store(thisKey, makeTestArtifact("z")));
    EXPECT_TRUE(cache.load(thisKey));
  }
}

TEST_F(ArtifactCacheTest, OldTemporariesAreRemoved) {
  ArtifactCache cache(base);
  std::string parent = base + "/" + key.substr(0, 2);
  fs::create_directories(parent + "/tmp-old");
  fs::create_directories(parent + "/tmp-new");
  fs::last_write_time(parent + "/tmp-old",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.store(key, makeTestArtifact("x")));
  EXPECT_FALSE(fs::exists(parent + "/tmp-old"));
  // This one may belong to a writer at work.
  EXPECT_TRUE(fs::exists(parent + "/tmp-new"));
}

TEST_F(ArtifactCacheTest, FolderComesFromTheEnvironment) {
  EXPECT_EQ(ArtifactCache::resolveFolder("none"), "");
  EXPECT_EQ(ArtifactCache::resolveFolder("/x"), "/x");
  ::setenv("DGEMM_CACHE_DIR", "/from/env", 1);
  EXPECT_EQ(ArtifactCache::resolveFolder(""), "/from/env");
  ::unsetenv("DGEMM_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(ArtifactCache::resolveFolder(""), "/xdg/dgemm");
  ::unsetenv("XDG_CACHE_HOME");
}
