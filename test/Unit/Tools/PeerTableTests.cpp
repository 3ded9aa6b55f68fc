// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Peer tables: CSV reading and matching.

#include "dgemm/Tools/PeerTable.h"

#include <gtest/gtest.h>

using namespace dgemm;

static const char *const csv =
    "set,peer,dtype,m,n,k,groups,note,l2_mode,us\n"
    "dense,one,bf16,64,128,256,1,NT,dirty,10.5\n"
    "dense,two,bf16,64,128,256,1,\"NT, quoted\",clean,9\n"
    "dense,two,bf16,64,128,256,1,NT fp32out,dirty,12\n"
    "dense,two,bf16,64,128,256,1,TN,dirty,13\n"
    "dense,three,fp8,64,128,256,1,,dirty,7\n"
    "dense,three,fp8,64,128,256,1,fp32 out += (x),dirty,8\n"
    "grouped,four,bf16,64,128,256,4,NT,dirty,1\n"
    "dense,broken,bf16,64,128,256,1,NT,dirty,n/a\n";

TEST(PeerTable, FindsTheSameProblem) {
  Result<PeerTable> table = PeerTable::parse(csv);
  ASSERT_TRUE(table) << table.message();
  EXPECT_EQ(table->size(), 6u);
  Problem p;
  p.m = 64;
  p.n = 128;
  p.k = 256;
  auto rows = table->find(p, "dirty");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].peer, "one");
  EXPECT_EQ(rows[0].us, 10.5);
  EXPECT_EQ(table->find(p, "clean").size(), 1u);
  p.d = DType::F32;
  rows = table->find(p, "dirty");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].us, 12);
  p.a = p.b = DType::F8E4M3FN;
  EXPECT_TRUE(table->find(p, "dirty").empty());
  p.accumulate = true;
  EXPECT_EQ(table->find(p, "dirty").size(), 1u);
}

TEST(PeerTable, Errors) {
  EXPECT_EQ(PeerTable::parse("").message(), "peer table: empty");
  EXPECT_EQ(PeerTable::parse("peer,dtype,m,n,k,note,us\n").message(),
            "peer table: no column 'l2_mode'");
  EXPECT_EQ(PeerTable::read("/no/such").message(), "cannot read '/no/such'");
}
