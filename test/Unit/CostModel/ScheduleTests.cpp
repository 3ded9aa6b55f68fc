// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Text form of schedules and their derived quantities.

#include "dgemm/CostModel/Schedule.h"

#include <gtest/gtest.h>

using namespace dgemm;

TEST(Schedule, DefaultIsOnlyTheTile) {
  EXPECT_EQ(toString(Schedule()), "tile = 128x128x64");
}

TEST(Schedule, EveryFieldRoundTrips) {
  std::string text =
      "tile = 128x176x128, consumers = 3 cooperative, n_blocks = 2 overlapped, "
      "stages = 5, kblocks_per_stage = 2, swizzle = [128, 64, 32], "
      "cluster = 2x1 multicast b, promote = 128, regs = [24, 240], "
      "raster = along_n group 16, split_k = 4 cluster, form = swap_ab, "
      "store = vector, persistent = false, ctas_per_sm = 2, stream_b = true, "
      "tiles = dynamic";
  Result<Schedule> schedule = parseSchedule(text);
  ASSERT_TRUE(schedule.ok()) << schedule.message();
  EXPECT_EQ(schedule->tileM, 128);
  EXPECT_EQ(schedule->tileN, 176);
  EXPECT_EQ(schedule->consumers, 3);
  EXPECT_TRUE(schedule->overlapPromotion);
  EXPECT_EQ(schedule->swizzleB, 64);
  EXPECT_EQ(schedule->multicast, Multicast::B);
  EXPECT_EQ(schedule->rasterOrder, RasterOrder::AlongN);
  EXPECT_EQ(schedule->splitKind, SplitKind::Cluster);
  EXPECT_FALSE(schedule->persistent);
  EXPECT_EQ(schedule->tiles, TileSource::Dynamic);
  EXPECT_EQ(toString(*schedule), text);
}

TEST(Schedule, OtherKeywords) {
  for (const char *text : {"tile = 128x192x64, consumers = 2 pingpong",
                           "tile = 128x256x128, consumers = 2 cooperative "
                           "in_turn, promote = 128",
                           "tile = 64x16x128, split_k = 2 workspace",
                           "tile = 64x16x128, split_k = 8 stream_k",
                           "tile = 64x16x128, form = register",
                           "tile = 64x16x128, stream_b = true, load_rows = 24",
                           "tile = 64x16x128, cluster = 1x2 multicast a",
                           "tile = 64x16x128, cluster = 2x2"}) {
    Result<Schedule> schedule = parseSchedule(text);
    ASSERT_TRUE(schedule.ok()) << schedule.message();
    EXPECT_EQ(toString(*schedule), text);
  }
}

TEST(Schedule, ClausesComeInAnyOrderAfterTheTile) {
  Result<Schedule> schedule =
      parseSchedule("tile=64x32x64,persistent=true ,stages = 3");
  ASSERT_TRUE(schedule.ok()) << schedule.message();
  EXPECT_EQ(toString(*schedule), "tile = 64x32x64, stages = 3");
}

TEST(Schedule, BadTextNamesTheClause) {
  struct {
    const char *text;
    const char *expected;
  } cases[] = {
      {"", "expected 'tile' first, found the end"},
      {"stages = 3", "expected 'tile' first"},
      {"tile = 128x128", "clause 'tile': expected 'x', found the end"},
      {"tile = 128x128x", "clause 'tile': expected an integer"},
      {"tile = 128x128x64,", "expected a clause name"},
      {"tile = 128x128x64, depth = 3", "expected a clause name"},
      {"tile = 128x128x64, stages = 3, stages = 4",
       "expected each clause once"},
      {"tile = 128x128x64 stages = 3", "expected ',' or the end"},
      {"tile = 128x128x64, stages 3", "expected '='"},
      {"tile = 128x128x64, consumers = 2", "cooperative or pingpong"},
      {"tile = 128x128x64, swizzle = [128, 128]", "clause 'swizzle'"},
      {"tile = 128x128x64, cluster = 2x1 multicast c", "expected a or b"},
      {"tile = 128x128x64, raster = along_m 8", "expected group"},
      {"tile = 128x128x64, persistent = 1", "expected true or false"},
      {"tile = 128x128x64, split_k = 4 magic", "clause 'split_k'"},
      {"tile = 128x128x64, tiles = some", "expected static or dynamic"},
      {"tile = 99999999999x128x64", "clause 'tile': expected an integer"},
  };
  for (auto [text, expected] : cases) {
    Result<Schedule> schedule = parseSchedule(text);
    ASSERT_FALSE(schedule.ok()) << text;
    EXPECT_NE(schedule.message().find(expected), std::string::npos)
        << text << ": " << schedule.message();
  }
}

TEST(Schedule, DerivedQuantities) {
  Schedule schedule;
  schedule.tileM = 256;
  schedule.tileN = 192;
  schedule.nBlocks = 2;
  EXPECT_EQ(schedule.rowsPerConsumer(), 128);
  EXPECT_EQ(schedule.mBlocks(), 2);
  EXPECT_EQ(schedule.nPerBlock(), 96);
  EXPECT_EQ(schedule.threads(), 384);
  schedule.tileM = 128;
  schedule.mode = ConsumerMode::PingPong;
  EXPECT_EQ(schedule.rowsPerConsumer(), 128);
  schedule.clusterM = 2;
  schedule.clusterN = 4;
  EXPECT_EQ(schedule.multicastCtas(), 1);
  schedule.multicast = Multicast::A;
  EXPECT_EQ(schedule.multicastCtas(), 4);
  schedule.multicast = Multicast::B;
  EXPECT_EQ(schedule.multicastCtas(), 2);
  schedule.form = Form::SwapAB;
  schedule.mode = ConsumerMode::Cooperative;
  schedule.tileM = 16;
  schedule.tileN = 256;
  EXPECT_EQ(schedule.rowsPerConsumer(), 128);
  EXPECT_EQ(schedule.nPerBlock(), 8);
}

TEST(Schedule, SourcesRoundTrip) {
  for (ScheduleSource source :
       {ScheduleSource::Model, ScheduleSource::Tuned, ScheduleSource::User})
    EXPECT_EQ(*parseScheduleSource(toString(source)), source);
  EXPECT_FALSE(parseScheduleSource("guess").ok());
}
