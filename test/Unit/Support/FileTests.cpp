// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading, writing, atomic replacement and temporary folders.

#include "dgemm/Support/File.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

using namespace dgemm;
namespace fs = std::filesystem;

TEST(File, RoundTrip) {
  Result<TempDir> folder = TempDir::create();
  ASSERT_TRUE(folder.ok()) << folder.message();
  std::string path = folder->path() + "/file";
  std::string content("a\0b\n", 4);
  content += std::string(200000, 'x');
  ASSERT_TRUE(writeFile(path, content).ok());
  EXPECT_EQ(*readFile(path), content);
  ASSERT_TRUE(writeFile(path, "short").ok());
  EXPECT_EQ(*readFile(path), "short");
}

TEST(File, ErrorsNameThePath) {
  Result<std::string> missing = readFile("/no/such/file");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.message(),
            "cannot open '/no/such/file': No such file or directory");
  EXPECT_NE(readFile("/tmp").message().find("cannot read '/tmp'"),
            std::string::npos);
  EXPECT_NE(writeFile("/no/such/file", "x").message().find("/no/such/file"),
            std::string::npos);
  EXPECT_NE(
      writeFileAtomically("/no/such/file", "x").message().find("/no/such/file"),
      std::string::npos);
}

TEST(File, AtomicWriteLeavesNothingBehind) {
  Result<TempDir> folder = TempDir::create();
  ASSERT_TRUE(folder.ok());
  std::string path = folder->path() + "/file";
  ASSERT_TRUE(writeFileAtomically(path, "one").ok());
  ASSERT_TRUE(writeFileAtomically(path, "two").ok());
  EXPECT_EQ(*readFile(path), "two");
  // A folder cannot be replaced by a file: the error path cleans up too.
  std::string occupied = folder->path() + "/folder";
  fs::create_directories(occupied + "/child");
  EXPECT_FALSE(writeFileAtomically(occupied, "x").ok());
  size_t entries = 0;
  for ([[maybe_unused]] const auto &entry :
       fs::directory_iterator(folder->path()))
    ++entries;
  EXPECT_EQ(entries, 2u);
}

TEST(File, ReadersNeverSeeHalfAFile) {
  Result<TempDir> folder = TempDir::create();
  ASSERT_TRUE(folder.ok());
  std::string path = folder->path() + "/file";
  std::string a(100000, 'a'), b(150000, 'b');
  ASSERT_TRUE(writeFileAtomically(path, a).ok());
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(writeFileAtomically(path, i % 2 ? a : b).ok());
  });
  for (int i = 0; i < 200; ++i) {
    Result<std::string> content = readFile(path);
    EXPECT_TRUE(content.ok() && (*content == a || *content == b));
  }
  writer.join();
}

TEST(File, TempDirsGoAway) {
  std::string path;
  {
    Result<TempDir> folder = TempDir::create();
    ASSERT_TRUE(folder.ok());
    path = folder->path();
    ASSERT_TRUE(writeFile(path + "/file", "x").ok());
    TempDir moved = std::move(*folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}
