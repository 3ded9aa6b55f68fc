// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON of launch metadata: round trip of every field, and an error that names
// the field for every way to break a document.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <gtest/gtest.h>

using namespace dgemm;
using Kind = KernelArgument::Kind;

static LaunchMetadata example() {
  LaunchMetadata metadata;
  metadata.problem.n = 4096;
  metadata.problem.k = 7168;
  metadata.problem.a = metadata.problem.b = DType::F8E4M3FN;
  metadata.problem.scaleA = {DType::F32, 1, 128, ScaleMajor::MN};
  metadata.problem.scaleB = {DType::F32, 128, 128, ScaleMajor::K};
  metadata.problem.accumulate = true;
  KernelMetadata kernel;
  kernel.entry = "gemm_0";
  kernel.schedule = *parseSchedule("tile = 64x32x128, consumers = 1 "
                                   "cooperative, stages = 6, promote = 128");
  kernel.scheduleSource = "tuned";
  kernel.threads = 256;
  kernel.cluster[0] = 2;
  kernel.dynamicSharedMemory = 100000;
  kernel.tileM = 64;
  kernel.tileN = 32;
  kernel.persistent = false;
  kernel.ctasPerSM = 2;
  kernel.splitK = 4;
  kernel.workspacePerTile = 8192;
  kernel.workspaceFixed = 1024;
  TensorMapRecipe a;
  a.type = DType::F8E4M3FN;
  a.dims = {{Symbol::K, 1, 1}, {Symbol::M, 1, 1}};
  a.strides = {{Symbol::LdA, 1, 1}};
  a.box = {128, 64};
  a.swizzle = 128;
  a.l2Promotion = 256;
  TensorMapRecipe scales;
  scales.operand = Operand::ScaleA;
  scales.type = DType::F32;
  scales.dims = {{Symbol::M, 1, 1}, {Symbol::K, 128, 1}};
  scales.strides = {{Symbol::LdScaleA, 1, 1}};
  scales.box = {64, 1};
  scales.lastRows = true;
  kernel.tensorMaps = {a, scales};
  kernel.arguments = {{Kind::TensorMap, 1, Operand::D, Symbol::M},
                      {Kind::Pointer, 0, Operand::ScaleB, Symbol::M},
                      {Kind::Size32, 0, Operand::D, Symbol::N},
                      {Kind::Size64, 0, Operand::D, Symbol::LdScaleB},
                      {Kind::RasterGroup, 0, Operand::D, Symbol::M},
                      {Kind::Alpha, 0, Operand::D, Symbol::M},
                      {Kind::Beta, 0, Operand::D, Symbol::M}};
  KernelMetadata other = kernel;
  other.entry = "gemm_1";
  metadata.kernels = {kernel, other};
  metadata.dispatch = {{64, 0}, {-1, 1}};
  return metadata;
}

TEST(LaunchMetadataJson, RoundTrip) {
  LaunchMetadata metadata = example();
  std::string json = toJson(metadata);
  Result<LaunchMetadata> parsed = parseLaunchMetadata(json);
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(toJson(*parsed), json);
  EXPECT_EQ(parsed->problem, metadata.problem);
  ASSERT_EQ(parsed->kernels.size(), 2u);
  const KernelMetadata &kernel = parsed->kernels[0];
  const KernelMetadata &original = metadata.kernels[0];
  EXPECT_EQ(kernel.entry, original.entry);
  EXPECT_EQ(kernel.schedule, original.schedule);
  EXPECT_EQ(kernel.scheduleSource, "tuned");
  EXPECT_EQ(kernel.threads, 256);
  EXPECT_EQ(kernel.cluster[0], 2);
  EXPECT_EQ(kernel.dynamicSharedMemory, 100000);
  EXPECT_EQ(kernel.tileM, 64);
  EXPECT_EQ(kernel.tileN, 32);
  EXPECT_FALSE(kernel.persistent);
  EXPECT_EQ(kernel.ctasPerSM, 2);
  EXPECT_EQ(kernel.splitK, 4);
  EXPECT_EQ(kernel.tensorMaps, original.tensorMaps);
  ASSERT_EQ(kernel.arguments.size(), 7u);
  EXPECT_EQ(kernel.arguments, original.arguments);
  EXPECT_EQ(kernel.workspacePerTile, 8192);
  EXPECT_EQ(kernel.workspaceFixed, 1024);
  ASSERT_EQ(parsed->dispatch.size(), 2u);
  EXPECT_EQ(parsed->dispatch[0].maxM, 64);
  EXPECT_EQ(parsed->dispatch[1].kernel, 1);
}

TEST(LaunchMetadataJson, ShortFormsOfExpressions) {
  std::string json = toJson(example());
  EXPECT_NE(json.find("\"ceil_div\": 128"), std::string::npos);
  EXPECT_NE(json.find("\"m\": \"?\""), std::string::npos);
  LaunchMetadata constant = example();
  constant.kernels[0].tensorMaps[0].dims[0] = {Symbol::One, 1, 77};
  Result<LaunchMetadata> parsed = parseLaunchMetadata(toJson(constant));
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(parsed->kernels[0].tensorMaps[0].dims[0].times, 77);
}

/// Replaces the first `from` of the example's text and expects this error.
static void expectError(const std::string &from, const std::string &to,
                        const std::string &expected) {
  std::string json = toJson(example());
  size_t at = json.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  json.replace(at, from.size(), to);
  Result<LaunchMetadata> parsed = parseLaunchMetadata(json);
  ASSERT_FALSE(parsed.ok()) << from << " -> " << to;
  EXPECT_NE(parsed.message().find(expected), std::string::npos)
      << parsed.message();
}

TEST(LaunchMetadataJson, ErrorsNameTheField) {
  expectError("\"version\": 1", "\"version\": 2",
              "version: expected version 1, found 2");
  expectError("\"version\": 1,", "", "version: missing");
  expectError("\"chip\": \"sm_90a\"", "\"chip\": 90",
              "chip: expected text, found 90");
  expectError("\"chip\"", "\"colour\": 1, \"chip\"", "colour: unknown field");
  expectError("\"n\": 4096", "\"n\": -1", "problem.n: expected an integer");
  expectError("\"a\": \"f8E4M3FN\"", "\"a\": \"f7\"",
              "problem.a: unknown element type 'f7'");
  expectError("\"layout\": \"nt\"", "\"layout\": \"nn\"",
              "problem: layout: expected nt");
  expectError("\"major\": \"mn\"", "\"major\": \"q\"",
              "problem.scale_a.major: expected k or mn");
  expectError("\"schedule\": \"tile", "\"schedule\": \"tilt",
              "kernels[0].schedule: schedule: expected 'tile' first");
  expectError("\"threads\": 256", "\"threads\": 4096",
              "kernels[0].threads: expected an integer from 1 to 1024");
  expectError("\"threads\": 256", "\"threads\": 1.5", "kernels[0].threads");
  expectError("\"threads\": 256", "\"threads\": 18446744073709551615",
              "kernels[0].threads: expected an integer");
  expectError("\"operand\": \"a\"", "\"operand\": \"q\"",
              "kernels[0].tensor_maps[0].operand: unknown operand 'q'");
  expectError("\"swizzle\": 128", "\"swizzle\": 100",
              "tensor_maps[0].swizzle: expected 0, 32, 64 or 128");
  expectError("\"l2_promotion\": 256", "\"l2_promotion\": 100",
              "tensor_maps[0].l2_promotion");
  expectError("\"last_rows\": true", "\"last_rows\": 1",
              "tensor_maps[1].last_rows: expected");
  expectError("\"lda\"", "\"ldz\"",
              "tensor_maps[0].strides[0]: unknown symbol 'ldz'");
  expectError("\"index\": 1", "\"index\": 2",
              "kernels[0].arguments[0].index: expected an integer from 0 to 1");
  expectError("\"kind\": \"alpha\"", "\"kind\": \"gamma\"",
              "kernels[0].arguments[5].kind");
  expectError("\"ceil_div\": 128", "\"ceil_div\": 0",
              "tensor_maps[1].dims[1].ceil_div");
  expectError("\"max_m\": 64", "\"max_m\": -1", "dispatch[0]: expected max_m");
  expectError("\"max_m\": -1", "\"max_m\": 65",
              "dispatch[1]: expected max_m = -1 in the last row");
  expectError("\"kernel\": 1", "\"kernel\": 2", "dispatch[1].kernel");
}

TEST(LaunchMetadataJson, NoDocumentCrashes) {
  for (const char *text :
       {"", "{", "[]", "null", "7", "\"x\"", "{}",
        "{\"version\": 1, \"chip\": \"a\", \"problem\": []}", "\xff\xfe"})
    EXPECT_FALSE(parseLaunchMetadata(text).ok()) << text;
  // Every prefix of a good document is a bad one.
  std::string json = toJson(example());
  for (size_t length = 0; length + 2 < json.size(); length += 7)
    EXPECT_FALSE(parseLaunchMetadata(json.substr(0, length)).ok());
  EXPECT_FALSE(parseLaunchMetadata(std::string(100000, '[')).ok());
}
