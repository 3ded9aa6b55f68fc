// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Plant.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::tuner;

TEST(PlantTest, ListsNameFaultAndCandidate) {
  auto plants = parsePlants("hang@1,wrong@12");
  ASSERT_TRUE(plants) << plants.message();
  EXPECT_EQ(plants->size(), 2u);
  EXPECT_EQ(plants->at(1), Plant::Hang);
  EXPECT_EQ(plants->at(12), Plant::Wrong);
  EXPECT_TRUE(parsePlants("")->empty());
}

TEST(PlantTest, BadListsAreNamed) {
  EXPECT_NE(parsePlants("burn@1").message().find("found 'burn'"),
            std::string::npos);
  EXPECT_NE(parsePlants("hang").message().find("'hang'"), std::string::npos);
  EXPECT_NE(parsePlants("hang@x").message().find("'hang@x'"),
            std::string::npos);
}

TEST(PlantTest, EveryKernelGetsTheCodeAtItsStart) {
  const std::string kernel = ".visible .entry f(\n.param .u32 p\n)\n"
                             ".reqntid 256, 1, 1\n{\n  ret;\n}\n";
  LaunchMetadata metadata;
  for (auto [plant, code] :
       {std::pair{Plant::Hang, "bra.uni"}, std::pair{Plant::Fault, "trap;"},
        std::pair{Plant::Slow, "globaltimer"}}) {
    std::string ptx = kernel + kernel;
    plantInto(plant, ptx, metadata);
    size_t first = ptx.find(code), second = ptx.rfind(code);
    ASSERT_NE(first, std::string::npos) << toString(plant);
    EXPECT_LT(ptx.find("\n{"), first);
    EXPECT_LT(first, ptx.find("ret;"));
    EXPECT_LT(ptx.rfind(".entry"), second);
    EXPECT_LT(second, ptx.rfind("ret;"));
  }
}

TEST(PlantTest, AWrongKernelLoadsBWithoutItsSwizzle) {
  LaunchMetadata metadata;
  KernelMetadata kernel;
  kernel.tensorMaps.resize(2);
  kernel.tensorMaps[0].operand = Operand::A;
  kernel.tensorMaps[1].operand = Operand::B;
  kernel.tensorMaps[0].swizzle = kernel.tensorMaps[1].swizzle = 128;
  metadata.kernels = {kernel};
  std::string ptx;
  plantInto(Plant::Wrong, ptx, metadata);
  EXPECT_EQ(metadata.kernels[0].tensorMaps[0].swizzle, 128);
  EXPECT_EQ(metadata.kernels[0].tensorMaps[1].swizzle, 0);
}
