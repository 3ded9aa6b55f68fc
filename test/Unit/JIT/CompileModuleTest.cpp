// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules of an embedding compiler, in its own context.

#include "dgemm/JIT/CompileModule.h"

#include "dgemm/InitAllDialects.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::jit;
using namespace mlir;

static const char *kModule = R"mlir(
func.func @f(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>,
             %d: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %r = dgemm.matmul nt ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>)
         outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
         loc("model.py":12:3)
  %s = "engine.relu"(%r) {kind = #engine.kind<fast>} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %s : tensor<64x64xbf16>
})mlir";

namespace {
class CompileModuleTest : public testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    mlir::dgemm::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.allowUnregisteredDialects();
    options.cacheDir = "none";
    options.emitCubin = false;
  }
  MLIRContext context;
  CompileOptions options;
  Compiler compiler;
};
} // namespace

TEST_F(CompileModuleTest, CompilesAndLeavesTheModuleAlone) {
  auto module = parseSourceString<ModuleOp>(kModule, &context);
  ASSERT_TRUE(module);
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  };
  std::string before = print();
  auto artifact = compileModule(*module, options, compiler);
  ASSERT_TRUE(artifact) << artifact.message();
  EXPECT_EQ(print(), before);
  EXPECT_NE((*artifact)->ptx.find(".entry"), std::string::npos);
  // The engine's own op is kept at every level.
  EXPECT_NE((*artifact)->kernelIR.find("engine.relu"), std::string::npos);
  // An instruction of the kernel leads back to the engine's source.
  EXPECT_NE((*artifact)->ptx.find("model.py"), std::string::npos);
}

TEST_F(CompileModuleTest, DiagnosticsNameTheEnginesSource) {
  auto module = parseSourceString<ModuleOp>(kModule, &context);
  ASSERT_TRUE(module);
  int heard = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    ++heard;
    return success();
  });
  options.schedule = "tile = 128x256x64, stages = 9";
  auto artifact = compileModule(*module, options, compiler);
  ASSERT_FALSE(artifact);
  EXPECT_NE(artifact.message().find("shared memory"), std::string::npos)
      << artifact.message();
  // The status is the only way an error is told.
  EXPECT_EQ(heard, 0);
}
