// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading ptxas's version and log, and finding it.

#include "dgemm/JIT/Ptxas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace dgemm;
using namespace dgemm::jit;

static const char *kVersionText =
    "ptxas: NVIDIA (R) Ptx optimizing assembler\n"
    "Copyright (c) 2005-2025 NVIDIA Corporation\n"
    "Cuda compilation tools, release 13.0, V13.0.88\n";

TEST(PtxasVersion, ReadsReleaseAndBuild) {
  Ptxas ptxas = parsePtxasVersion(kVersionText);
  EXPECT_EQ(ptxas.version, "13.0.88");
  EXPECT_EQ(ptxas.newestPTX, 90);
}

TEST(PtxasVersion, KnowsWhatOlderReleasesTake) {
  std::string text = kVersionText;
  text.replace(text.find("13.0, V13.0.88"), 14, "12.3, V12.3.10");
  Ptxas ptxas = parsePtxasVersion(text);
  EXPECT_EQ(ptxas.version, "12.3.10");
  EXPECT_EQ(ptxas.newestPTX, 83);
}

TEST(PtxasVersion, LaterReleasesTakeAtLeastTheNewestKnown) {
  std::string text = kVersionText;
  text.replace(text.find("13.0, V13.0.88"), 14, "14.2, V14.2.01");
  EXPECT_GE(parsePtxasVersion(text).newestPTX, 90);
}

TEST(PtxasVersion, RefusesOtherPrograms) {
  EXPECT_EQ(parsePtxasVersion("gcc (Debian 12.2.0) release 12.2").version, "");
  EXPECT_EQ(parsePtxasVersion("").version, "");
}

TEST(PtxasLog, ReadsResourcesOfEachKernel) {
  auto kernels = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
      "ptxas info    : Function properties for one\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 9 barriers, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_90a'\n"
      "ptxas info    : Function properties for two\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].entry, "one");
  EXPECT_EQ(kernels[0].registers, 168);
  EXPECT_EQ(kernels[0].stackFrame, 16);
  EXPECT_EQ(kernels[0].spillStores, 4);
  EXPECT_EQ(kernels[0].spillLoads, 8);
  EXPECT_EQ(kernels[0].sharedMemory, 1024);
  EXPECT_EQ(kernels[1].registers, 40);
  EXPECT_EQ(kernels[1].sharedMemory, 0);
  EXPECT_EQ(findSlowness(kernels[0]).size(), 1u);
  EXPECT_TRUE(findSlowness(kernels[1]).empty());
}

static KernelResources oneKernelWith(const std::string &line) {
  auto kernels = parsePtxasLog(
      line + "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n");
  return kernels.size() == 1 ? kernels[0] : KernelResources();
}

TEST(PtxasLog, PerformanceWarningsAreSlowness) {
  for (const char *code : {"C7504", "C7508", "C7514", "C7519", "C7602"}) {
    KernelResources kernel =
        oneKernelWith(std::string("ptxas info    : (") + code +
                      ") Potential Performance Loss: 'setmaxnreg' ignored.\n");
    ASSERT_EQ(kernel.warnings.size(), 1u) << code;
    EXPECT_NE(kernel.warnings[0].find(code), std::string::npos);
    EXPECT_EQ(findSlowness(kernel).size(), 1u) << code;
  }
}

TEST(PtxasLog, OtherWarningsAreKeptButAreNoSlowness) {
  KernelResources kernel = oneKernelWith(
      "ptxas warning : Local memory used for function 'k', size of stack "
      "frame: 400 bytes\n");
  EXPECT_EQ(kernel.warnings.size(), 1u);
  EXPECT_TRUE(findSlowness(kernel).empty());
  kernel = oneKernelWith("ptxas info    : (C7520) something else\n");
  EXPECT_TRUE(findSlowness(kernel).empty());
}

TEST(PtxasLog, WarningsGoToTheKernelTheyName) {
  auto kernels = parsePtxasLog(
      "ptxas info    : (C7514) Potential Performance Loss: serialized in "
      "function 'b'\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_TRUE(kernels[0].warnings.empty());
  EXPECT_EQ(kernels[1].warnings.size(), 1u);
}

namespace {
/// A folder with a program named ptxas that runs `script`.
class FakePtxas {
public:
  explicit FakePtxas(const std::string &script) {
    char pattern[] = "/tmp/dgemm-fake-XXXXXX";
    folder = ::mkdtemp(pattern);
    std::ofstream(path()) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  ~FakePtxas() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/ptxas"; }

private:
  std::string folder;
};
} // namespace

TEST(FindPtxas, NamesWhatIsMissing) {
  Result<Ptxas> ptxas = findPtxas("/nowhere/ptxas");
  ASSERT_FALSE(ptxas);
  EXPECT_EQ(ptxas.message(), "ptxas '/nowhere/ptxas' does not exist");
}

TEST(FindPtxas, NamesWhatIsBroken) {
  FakePtxas broken("echo no licence; exit 3");
  Result<Ptxas> ptxas = findPtxas(broken.path());
  ASSERT_FALSE(ptxas);
  EXPECT_NE(ptxas.message().find("exit code 3"), std::string::npos);
  EXPECT_NE(ptxas.message().find("no licence"), std::string::npos);
}

TEST(FindPtxas, AVariableThatNamesNoToolkitIsAnError) {
  ::setenv("CUDA_HOME", "/nowhere", 1);
  Result<Ptxas> ptxas = findPtxas("");
  ::unsetenv("CUDA_HOME");
  ASSERT_FALSE(ptxas);
  EXPECT_EQ(ptxas.message(),
            "CUDA_HOME is '/nowhere', which holds no bin/ptxas");
}

TEST(Assemble, RefusesOutputThatIsNoCubin) {
  // Answers like a ptxas, then writes text where the cubin should be.
  FakePtxas liar("while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo hello > $2; "
                 "shift; done");
  Ptxas ptxas;
  ptxas.path = liar.path();
  ptxas.version = "13.0";
  Result<Assembly> assembly = assemble(ptxas, "", "sm_90a");
  ASSERT_FALSE(assembly);
  EXPECT_NE(assembly.message().find("not a cubin"), std::string::npos);
}

TEST(Assemble, ReportsTheAssemblersOwnError) {
  FakePtxas failing("echo 'ptxas fatal: no such instruction'; exit 255");
  Ptxas ptxas;
  ptxas.path = failing.path();
  ptxas.version = "13.0";
  Result<Assembly> assembly = assemble(ptxas, "", "sm_90a");
  ASSERT_FALSE(assembly);
  EXPECT_NE(assembly.message().find("exit code 255"), std::string::npos);
  EXPECT_NE(assembly.message().find("no such instruction"), std::string::npos);
}
