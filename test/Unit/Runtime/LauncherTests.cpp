// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch path on the fake driver: argument order and values, grid,
// cluster, programmatic launch, workspaces and what is refused.

#include "FakeDriver.h"
#include "dgemm/Runtime/Launcher.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::cuda;

/// D[M,4096] = A[M,7168] x B^T, BF16, 128x256 tiles.
static LaunchMetadata makeMetadata() {
  LaunchMetadata metadata;
  metadata.problem.n = 4096;
  metadata.problem.k = 7168;
  KernelMetadata kernel;
  kernel.entry = "gemm";
  kernel.threads = 384;
  kernel.dynamicSharedMemory = 200000;
  kernel.tileM = 128;
  kernel.tileN = 256;
  kernel.schedule.tileM = 128;
  kernel.schedule.tileN = 256;
  TensorMapRecipe a;
  a.operand = Operand::A;
  a.dims = {{Symbol::K, 1, 1}, {Symbol::M, 1, 1}};
  a.strides = {{Symbol::LdA, 1, 1}};
  a.box = {64, 128};
  a.swizzle = 128;
  TensorMapRecipe b = a;
  b.operand = Operand::B;
  b.dims[1].of = Symbol::N;
  b.strides[0].of = Symbol::LdB;
  kernel.tensorMaps = {a, b};
  using Kind = KernelArgument::Kind;
  auto argument = [](Kind kind) {
    KernelArgument made;
    made.kind = kind;
    return made;
  };
  KernelArgument mapB = argument(Kind::TensorMap);
  mapB.tensorMap = 1;
  KernelArgument d = argument(Kind::Pointer);
  d.operand = Operand::D;
  KernelArgument ldd = argument(Kind::Size64);
  ldd.symbol = Symbol::LdD;
  KernelArgument m = argument(Kind::Size32);
  m.symbol = Symbol::M;
  kernel.arguments = {
      argument(Kind::TensorMap), mapB, d, ldd, m, argument(Kind::RasterGroup),
      argument(Kind::Alpha)};
  metadata.kernels = {kernel};
  metadata.dispatch = {{-1, 0}};
  return metadata;
}

class Launcher : public FakeDriverTest {
protected:
  std::shared_ptr<LoadedArtifact> load(LaunchMetadata metadata) {
    auto artifact =
        LoadedArtifact::load(openDevice(), std::move(metadata), ".version 8.0");
    EXPECT_TRUE(artifact) << artifact.message();
    return artifact ? *artifact : nullptr;
  }

  LaunchSizes sizes{512, 4096, 7168, 7168, 7168, 4096, 4096, 0, 0};
  LaunchOperands operands{0x100000, 0x200000, 0x300000, 0x400000, 0, 0, 0};
  LaunchOptions options;
  CUstream stream = reinterpret_cast<CUstream>(uintptr_t(0x3500));
};

TEST_F(Launcher, ArgumentsFollowTheMetadata) {
  auto artifact = load(makeMetadata());
  ASSERT_TRUE(artifact);
  options.alpha = 2.5f;
  options.rasterGroup = 6;
  bool seen = false;
  state->onLaunch = [&](const LaunchConfig &config, const std::string &name,
                        void **parameters) {
    seen = true;
    EXPECT_EQ(name, "gemm");
    EXPECT_EQ(config.gridX, 64u); // 4 x 16 tiles, fewer than 132 SMs
    EXPECT_EQ(config.gridY, 1u);
    EXPECT_EQ(config.blockX, 384u);
    EXPECT_EQ(config.sharedBytes, 200000u);
    EXPECT_EQ(config.stream, stream);
    EXPECT_EQ(config.attributeCount, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(parameters[0]) % 64, 0u);
    EXPECT_EQ(static_cast<TensorMap *>(parameters[0])->opaque[0], 0u);
    EXPECT_EQ(static_cast<TensorMap *>(parameters[1])->opaque[0], 1u);
    EXPECT_EQ(*static_cast<uint64_t *>(parameters[2]), 0x400000u);
    EXPECT_EQ(*static_cast<int64_t *>(parameters[3]), 4096);
    EXPECT_EQ(*static_cast<int32_t *>(parameters[4]), 512);
    EXPECT_EQ(*static_cast<int32_t *>(parameters[5]), 6);
    EXPECT_EQ(*static_cast<float *>(parameters[6]), 2.5f);
  };
  Status s = launch(*artifact, sizes, operands, options, stream);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_TRUE(seen);
  EXPECT_EQ(state->tensorMaps[0].base, 0x100000u);
  EXPECT_EQ(state->tensorMaps[0].dims, (std::vector<uint64_t>{7168, 512}));
  EXPECT_EQ(state->tensorMaps[1].dims, (std::vector<uint64_t>{7168, 4096}));
  EXPECT_EQ(state->tensorMaps[1].strides, (std::vector<uint64_t>{14336}));
  EXPECT_EQ(state->contextDepth, 0);
  EXPECT_EQ(state->synchronizations, 0);
  EXPECT_EQ(state->allocations, 0);
}

TEST_F(Launcher, ClusterAndProgrammaticLaunchAreAttributes) {
  LaunchMetadata metadata = makeMetadata();
  metadata.kernels[0].cluster[0] = 2;
  auto artifact = load(metadata);
  ASSERT_TRUE(artifact);
  options.programmaticDependentLaunch = true;
  state->onLaunch = [&](const LaunchConfig &config, const std::string &,
                        void **) {
    ASSERT_EQ(config.attributeCount, 2u);
    EXPECT_EQ(config.attributes[0].id, int(kLaunchClusterDimension));
    EXPECT_EQ(config.attributes[0].value.cluster.x, 2u);
    EXPECT_EQ(config.attributes[0].value.cluster.y, 1u);
    EXPECT_EQ(config.attributes[1].id,
              int(kLaunchProgrammaticStreamSerialization));
    EXPECT_EQ(config.attributes[1].value.programmaticStreamSerialization, 1);
  };
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  EXPECT_EQ(state->launches, 1);
}

TEST_F(Launcher, PersistentClustersAreAsManyAsRunAtOnce) {
  LaunchMetadata metadata = makeMetadata();
  metadata.kernels[0].cluster[0] = 4;
  state->activeClusters = 3;
  auto artifact = load(metadata);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->function(0).activeClusters, 3);
  unsigned expected = 12;
  state->onLaunch = [&](const LaunchConfig &config, const std::string &,
                        void **) { EXPECT_EQ(config.gridX, expected); };
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  options.smLimit = 9;
  expected = 8;
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  EXPECT_EQ(state->launches, 2);
}

TEST_F(Launcher, EmptyOutputLaunchesNothing) {
  auto artifact = load(makeMetadata());
  ASSERT_TRUE(artifact);
  sizes.m = 0;
  Status s = launch(*artifact, sizes, operands, options, stream);
  EXPECT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(state->launches, 0);
}

TEST_F(Launcher, OperandsOfAnotherDeviceAreRefused) {
  state->devices.resize(2);
  auto artifact = load(makeMetadata());
  ASSERT_TRUE(artifact);
  state->ownerOfAddress[operands.d] = 1;
  Status s = launch(*artifact, sizes, operands, options, stream);
  EXPECT_EQ(s.message(), "operand d: lies on device 1, the kernel is loaded on "
                         "device 0");
  EXPECT_EQ(state->launches, 0);
  artifact->checkPointers = false;
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
}

static LaunchMetadata makeSplitMetadata() {
  LaunchMetadata metadata = makeMetadata();
  metadata.kernels[0].workspacePerTile = 1024;
  metadata.kernels[0].workspaceFixed = 64;
  KernelArgument workspace;
  workspace.kind = KernelArgument::Kind::Pointer;
  workspace.operand = Operand::Workspace;
  metadata.kernels[0].arguments = {workspace};
  return metadata;
}

TEST_F(Launcher, PooledWorkspacesAreZeroAndPerStream) {
  auto artifact = load(makeSplitMetadata());
  ASSERT_TRUE(artifact);
  std::vector<uint64_t> used;
  state->onLaunch = [&](const LaunchConfig &, const std::string &,
                        void **parameters) {
    used.push_back(*static_cast<uint64_t *>(parameters[0]));
  };
  CUstream other = reinterpret_cast<CUstream>(uintptr_t(0x3600));
  Result<int64_t> bytes = artifact->workspaceBytes(sizes, options);
  ASSERT_TRUE(bytes) << bytes.message();
  EXPECT_EQ(*bytes, 64 * 1024 + 64);
  ASSERT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  ASSERT_TRUE(launch(*artifact, sizes, operands, options, other).ok());
  ASSERT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  ASSERT_EQ(used.size(), 3u);
  EXPECT_NE(used[0], used[1]);
  EXPECT_EQ(used[0], used[2]);
  EXPECT_EQ(state->allocations, 2);
  const char *memory = reinterpret_cast<const char *>(used[0]);
  for (int64_t i = 0; i < *bytes; ++i)
    ASSERT_EQ(memory[i], 0) << i;
}

TEST_F(Launcher, AGivenWorkspaceIsUsed) {
  auto artifact = load(makeSplitMetadata());
  ASSERT_TRUE(artifact);
  operands.workspace = 0x500000;
  state->onLaunch = [&](const LaunchConfig &, const std::string &,
                        void **parameters) {
    EXPECT_EQ(*static_cast<uint64_t *>(parameters[0]), 0x500000u);
  };
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  EXPECT_EQ(state->launches, 1);
  EXPECT_EQ(state->allocations, 0);
}

TEST_F(Launcher, ThePoolDoesNotGrowDuringCapture) {
  auto artifact = load(makeSplitMetadata());
  ASSERT_TRUE(artifact);
  state->capturing = true;
  Status s = launch(*artifact, sizes, operands, options, stream);
  EXPECT_NE(s.message().find("workspace: 65600 bytes needed, 0 in the "
                             "stream's pool, which cannot grow"),
            std::string::npos)
      << s.message();
  state->capturing = false;
  ASSERT_TRUE(artifact->reserveWorkspace(sizes, options, stream).ok());
  state->capturing = true;
  EXPECT_TRUE(launch(*artifact, sizes, operands, options, stream).ok());
  EXPECT_EQ(state->launches, 1);
}

TEST_F(Launcher, LoadingNamesWhatIsWrong) {
  LaunchMetadata metadata = makeMetadata();
  metadata.kernels[0].entry = "missing";
  auto artifact = LoadedArtifact::load(openDevice(), metadata, ".version 8.0");
  ASSERT_FALSE(artifact);
  EXPECT_NE(artifact.message().find("kernel 'missing'"), std::string::npos);
  metadata = makeMetadata();
  metadata.chip = "sm_100a";
  artifact = LoadedArtifact::load(openDevice(), metadata, ".version 8.0");
  EXPECT_EQ(artifact.message(),
            "artifact is for chip 'sm_100a', expected 'sm_90a'");
  metadata = makeMetadata();
  metadata.kernels[0].arguments.resize(33);
  artifact = LoadedArtifact::load(openDevice(), metadata, ".version 8.0");
  EXPECT_NE(artifact.message().find("33 arguments"), std::string::npos);
  artifact = LoadedArtifact::load(openDevice(), makeMetadata(), "");
  EXPECT_EQ(artifact.message(), "cannot load an empty code image");
}
