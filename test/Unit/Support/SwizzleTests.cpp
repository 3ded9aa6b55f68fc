// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The swizzle against patterns written out by hand, and its algebra.

#include "dgemm/Support/Swizzle.h"

#include <gtest/gtest.h>

#include <set>

using namespace dgemm;

/// Chunk (of eight) that chunk `chunk` of line `line` moves to.
static int64_t movedTo(int line, int chunk, int span) {
  int64_t offset = swizzledOffset(line * 128 + chunk * 16, span);
  EXPECT_EQ(offset / 128, line);
  return offset % 128 / 16;
}

TEST(Swizzle, Span128) {
  for (int chunk = 0; chunk < 8; ++chunk)
    EXPECT_EQ(movedTo(0, chunk, 128), chunk);
  int line1[] = {1, 0, 3, 2, 5, 4, 7, 6}, line5[] = {5, 4, 7, 6, 1, 0, 3, 2};
  for (int chunk = 0; chunk < 8; ++chunk) {
    EXPECT_EQ(movedTo(1, chunk, 128), line1[chunk]);
    EXPECT_EQ(movedTo(5, chunk, 128), line5[chunk]);
    EXPECT_EQ(movedTo(8, chunk, 128), chunk);
  }
}

TEST(Swizzle, Span64) {
  int line3[] = {3, 2, 1, 0, 7, 6, 5, 4};
  for (int chunk = 0; chunk < 8; ++chunk) {
    EXPECT_EQ(movedTo(3, chunk, 64), line3[chunk]);
    EXPECT_EQ(movedTo(4, chunk, 64), chunk);
  }
}

TEST(Swizzle, Span32) {
  int line1[] = {1, 0, 3, 2, 5, 4, 7, 6};
  for (int chunk = 0; chunk < 8; ++chunk) {
    EXPECT_EQ(movedTo(1, chunk, 32), line1[chunk]);
    EXPECT_EQ(movedTo(2, chunk, 32), chunk);
  }
}

TEST(Swizzle, NoneIsTheIdentity) {
  for (int64_t offset = 0; offset < 4096; ++offset)
    EXPECT_EQ(swizzledOffset(offset, 0), offset);
}

TEST(Swizzle, IsItsOwnInverseAndKeepsBytesOfAChunkTogether) {
  for (int span : {0, 32, 64, 128}) {
    std::set<int64_t> targets;
    for (int64_t offset = 0; offset < 4096; ++offset) {
      int64_t moved = swizzledOffset(offset, span);
      EXPECT_EQ(swizzledOffset(moved, span), offset);
      EXPECT_EQ(moved % 16, offset % 16);
      EXPECT_EQ(moved / 128, offset / 128);
      if (span > 0) {
        EXPECT_EQ(moved / span, offset / span);
      }
      targets.insert(moved);
      EXPECT_EQ(swizzledOffset(offset + swizzleRepeat(span), span),
                moved + swizzleRepeat(span));
    }
    EXPECT_EQ(targets.size(), 4096u);
  }
}

TEST(Swizzle, ColumnsOfEightRowsUseAllBanks) {
  // What the swizzle is for: one 16-byte column of eight rows, read at once,
  // falls on eight different chunks of a line, whatever the row length.
  for (int span : {32, 64, 128})
    for (int column = 0; column < span / 16; ++column) {
      std::set<int64_t> chunks;
      for (int row = 0; row < 8; ++row)
        chunks.insert(swizzledOffset(row * span + column * 16, span) % 128);
      EXPECT_EQ(chunks.size(), 8u) << span << " " << column;
    }
}
