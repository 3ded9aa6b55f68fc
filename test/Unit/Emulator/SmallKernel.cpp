// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The frame around the body of a small kernel, and its launch.

#include "SmallKernel.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dgemm;
using namespace dgemm::test;

std::string SmallKernel::text() const {
  std::string s =
      "module attributes {gpu.container_module} {\n"
      "gpu.module @m [#nvvm.target<chip = \"sm_90a\">] {\n"
      "llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = "
      "1024 : i64} : !llvm.array<0 x i8>\n"
      "llvm.func @small(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %d: !llvm.ptr<1>, "
      "%w: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32) attributes {gpu.kernel, "
      "nvvm.kernel, nvvm.reqntid = array<i32: " +
      std::to_string(threads) + ", 1, 1>";
  if (cluster > 1)
    s += ", nvvm.cluster_dim = array<i32: " + std::to_string(cluster) +
         ", 1, 1>";
  s += "} {\n"
       "%smem = llvm.mlir.addressof @smem : !llvm.ptr<3>\n"
       "%tid = nvvm.read.ptx.sreg.tid.x : i32\n"
       "%cta = nvvm.read.ptx.sreg.ctaid.x : i32\n"
       "%lane = nvvm.read.ptx.sreg.laneid : i32\n";
  for (int value :
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 31, 32}) {
    const std::string text = std::to_string(value);
    s += "%c" + text + " = llvm.mlir.constant(" + text + " : i32) : i32\n";
  }
  return s + body + "\nllvm.return\n}\n}\n}\n";
}

EmulatorReport SmallKernel::run(AsyncOrder order, uint64_t seed) {
  LaunchMetadata meta;
  meta.problem.a = meta.problem.b = DType::BF16;
  meta.problem.d = DType::F32;
  KernelMetadata kernel;
  kernel.entry = "small";
  kernel.threads = threads;
  kernel.dynamicSharedMemory = sharedBytes;
  kernel.tileM = tileM;
  kernel.tileN = tileN;
  kernel.persistent = false;
  kernel.cluster[0] = cluster;
  for (Operand operand :
       {Operand::A, Operand::B, Operand::D, Operand::Workspace}) {
    KernelArgument argument;
    argument.kind = KernelArgument::Kind::Pointer;
    argument.operand = operand;
    kernel.arguments.push_back(argument);
  }
  for (Symbol symbol : {Symbol::M, Symbol::N, Symbol::K}) {
    KernelArgument argument;
    argument.kind = KernelArgument::Kind::Size32;
    argument.symbol = symbol;
    kernel.arguments.push_back(argument);
  }
  meta.kernels = {kernel};
  meta.dispatch = {DispatchEntry{}};

  LaunchOperands operands;
  EmulatorOptions options;
  options.order = order;
  options.seed = seed;
  options.threads = 1;
  options.stepLimit = 3'000'000;
  const auto give = [&](std::vector<unsigned char> &data, uint64_t &address,
                        const char *name) {
    if (data.empty())
      data.resize(16); // a launch wants an address for each
    address = reinterpret_cast<uint64_t>(data.data());
    options.allocations.push_back({address, data.size(), name});
  };
  give(a, operands.a, "a");
  give(b, operands.b, "b");
  give(d, operands.d, "d");
  give(workspace, operands.workspace, "workspace");
  LaunchOptions launch;
  launch.programmaticDependentLaunch = dependentLaunch;
  EmulatorReport report;
  const Status status =
      emulateText(text(), meta, defaultSizes(meta.problem, m, n, k), operands,
                  launch, options, report);
  EXPECT_TRUE(status.ok()) << status.message();
  return report;
}

float SmallKernel::result(size_t i) const {
  float value;
  std::memcpy(&value, &d[4 * i], 4);
  return value;
}

std::vector<unsigned char> test::smallIntegers(DType type, size_t count,
                                               uint32_t seed,
                                               std::vector<double> &values) {
  const auto code = [type](int value) -> uint32_t {
    // Codes of -2 .. 2.
    static const uint32_t bf16[] = {0xC000, 0xBF80, 0, 0x3F80, 0x4000};
    static const uint32_t f16[] = {0xC000, 0xBC00, 0, 0x3C00, 0x4000};
    static const uint32_t e4m3[] = {0xC0, 0xB8, 0, 0x38, 0x40};
    static const uint32_t e5m2[] = {0xC0, 0xBC, 0, 0x3C, 0x40};
    switch (type) {
    case DType::BF16:
      return bf16[value + 2];
    case DType::F16:
      return f16[value + 2];
    case DType::F8E5M2:
      return e5m2[value + 2];
    default:
      return e4m3[value + 2];
    }
  };
  const size_t bytes = size_t(sizeOf(type));
  std::vector<unsigned char> out(count * bytes);
  values.resize(count);
  uint32_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    const int value = int((state >> 16) % 5) - 2;
    values[i] = value;
    const uint32_t bits = code(value);
    std::memcpy(&out[i * bytes], &bits, bytes);
  }
  return out;
}

std::string test::kinds(const EmulatorReport &report) {
  std::string out;
  for (const Finding &finding : report.findings) {
    const std::string kind = toString(finding.kind);
    if (out.find(kind) == std::string::npos)
      out += (out.empty() ? "" : " ") + kind;
  }
  return out;
}
