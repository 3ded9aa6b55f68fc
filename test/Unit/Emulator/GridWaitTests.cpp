// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// griddepcontrol: a kernel that starts before the one in front of it has ended
// touches global memory only after its wait.

#include "SmallKernel.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::test;

namespace {

const std::string kWait = "nvvm.griddepcontrol wait\n";
const std::string kStore =
    "%dp = llvm.getelementptr %d[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
    "f32\n"
    "llvm.store %tid, %dp : i32, !llvm.ptr<1>\n";
/// Warp 0 alone runs `what`.
std::string byWarp0(const std::string &what) {
  return "%warp0 = llvm.icmp \"ult\" %tid, %c32 : i32\nscf.if %warp0 {\n" +
         what + "}\n";
}

std::string found(const std::string &body, bool dependentLaunch = true) {
  SmallKernel kernel;
  kernel.threads = 64;
  kernel.d.assign(64 * 4, 0xFF);
  kernel.dependentLaunch = dependentLaunch;
  kernel.body = body;
  return kinds(kernel.run(AsyncOrder::Lazy, 1));
}

TEST(GridWait, AccessesStandBehindIt) {
  EXPECT_EQ(found(kWait + kStore), "");
  EXPECT_EQ(found("nvvm.griddepcontrol launch_dependents\n" + kWait + kStore),
            "");
  EXPECT_EQ(found(kStore + kWait), "grid-dependency");
  EXPECT_EQ(found(kStore), "grid-dependency");
  EXPECT_EQ(found("nvvm.griddepcontrol launch_dependents\n" + kStore),
            "grid-dependency");
}

TEST(GridWait, IsNeededInDependentLaunchesAndWhereAKernelHasOne) {
  EXPECT_EQ(found(kStore, false), "");
  EXPECT_EQ(found(kStore + kWait, false), "grid-dependency");
}

TEST(GridWait, OfAnotherWarpCountsBehindABarrier) {
  EXPECT_EQ(found(byWarp0(kWait) + "nvvm.barrier\n" + kStore), "");
  EXPECT_EQ(found("nvvm.barrier\n" + byWarp0(kWait) + kStore),
            "grid-dependency");
}

TEST(GridWait, OfAnotherLaneCountsBehindAMeetingOfTheWarp) {
  const std::string byLane0 =
      "%lane0 = llvm.icmp \"eq\" %lane, %c0 : i32\nscf.if %lane0 {\n" + kWait +
      "}\n";
  const std::string meet =
      "%all = llvm.mlir.constant(-1 : i32) : i32\nnvvm.bar.warp.sync %all : "
      "i32\n";
  EXPECT_EQ(found(byLane0 + meet + kStore), "");
  EXPECT_EQ(found(byLane0 + "nvvm.barrier\n" + kStore), "");
  EXPECT_EQ(found(byLane0 + kStore), "grid-dependency");
  EXPECT_EQ(found(meet + byLane0 + kStore), "grid-dependency");
}

TEST(GridWait, ComesBeforeAtomicsAndCopies) {
  const std::string count =
      "%old = llvm.atomicrmw add %w, %c1 syncscope(\"device\") monotonic : "
      "!llvm.ptr<1>, i32\n";
  EXPECT_EQ(found(kWait + count), "");
  EXPECT_EQ(found(count + kWait), "grid-dependency");
}

} // namespace
