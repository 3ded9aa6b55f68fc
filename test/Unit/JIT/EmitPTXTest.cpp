// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX out of the LLVM and NVVM dialects.

#include "dgemm/JIT/EmitPTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::jit;
using namespace mlir;

namespace {
class EmitPTXTest : public testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    NVVM::NVVMDialect>();
    registerTranslations(registry);
    context.appendDialectRegistry(registry);
  }

  Result<EmittedCode> emit(const char *text, const char *chip = "sm_90a",
                           int ptxVersion = 80, bool wantLLVMIR = false) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return emitPTX(*module, chip, ptxVersion, wantLLVMIR);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};
} // namespace

static const char *kTwoModules = R"mlir(
gpu.module @first {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @one(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 384>} {
    %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %v = llvm.load %s : !llvm.ptr<3> -> i32
    llvm.store %v, %p : i32, !llvm.ptr<1>
    nvvm.setmaxregister increase 232
    llvm.return
  }
}
gpu.module @second {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @two(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %v = llvm.load %s : !llvm.ptr<3> -> i32
    llvm.store %v, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
)mlir";

TEST_F(EmitPTXTest, EmitsEveryDeviceModule) {
  Result<EmittedCode> code = emit(kTwoModules);
  ASSERT_TRUE(code) << code.message();
  EXPECT_NE(code->ptx.find(".version 8.0"), std::string::npos);
  EXPECT_NE(code->ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_NE(code->ptx.find(".entry one("), std::string::npos);
  EXPECT_NE(code->ptx.find(".entry two("), std::string::npos);
  EXPECT_NE(code->ptx.find("setmaxnreg.inc.sync.aligned.u32"),
            std::string::npos);
  // Dynamic shared memory is one symbol, whoever uses it.
  std::string symbol = ".extern .shared .align 1024 .b8 smem[]";
  size_t at = code->ptx.find(symbol);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(code->ptx.find(symbol, at + 1), std::string::npos);
  EXPECT_TRUE(code->llvmIR.empty());
}

TEST_F(EmitPTXTest, TakesKernelsAtTheTopAndLeavesHostCode) {
  Result<EmittedCode> code = emit(R"mlir(
    func.func private @host(%t: tensor<4xf32>) -> tensor<4xf32>
    llvm.func @helper(%x: i32) -> i32 { llvm.return %x : i32 }
    llvm.func @unused() { llvm.return }
    llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
      %y = llvm.call @helper(%x) : (i32) -> i32
      llvm.store %y, %p : i32, !llvm.ptr<1>
      llvm.return
    })mlir");
  ASSERT_TRUE(code) << code.message();
  EXPECT_NE(code->ptx.find(".entry k("), std::string::npos);
  EXPECT_EQ(code->ptx.find("unused"), std::string::npos);
  EXPECT_EQ(code->ptx.find("host"), std::string::npos);
}

TEST_F(EmitPTXTest, GivesOptimisedLLVMIROnRequest) {
  Result<EmittedCode> code = emit(kTwoModules, "sm_90a", 84, true);
  ASSERT_TRUE(code) << code.message();
  EXPECT_NE(code->llvmIR.find("define ptx_kernel void @one"),
            std::string::npos);
  EXPECT_NE(code->ptx.find(".version 8.4"), std::string::npos);
}

TEST_F(EmitPTXTest, RefusesOtherChipsByName) {
  for (const char *chip : {"sm_90", "sm_80", "sm_100a", "gfx942", ""}) {
    Result<EmittedCode> code = emit(kTwoModules, chip);
    ASSERT_FALSE(code) << chip;
    EXPECT_NE(code.message().find("chip '" + std::string(chip) + "'"),
              std::string::npos);
    EXPECT_NE(code.message().find("expected 'sm_90a'"), std::string::npos);
  }
}

TEST_F(EmitPTXTest, RefusesPTXVersionsThatLLVMWouldDieOf) {
  for (int version : {-1, 0, 60, 79, 91, 1000}) {
    Result<EmittedCode> code = emit(kTwoModules, "sm_90a", version);
    ASSERT_FALSE(code) << version;
    EXPECT_NE(code.message().find(std::to_string(version)), std::string::npos);
    EXPECT_NE(code.message().find("expected 80 to 90"), std::string::npos);
  }
}

TEST_F(EmitPTXTest, AModuleWithoutKernelsIsAnError) {
  Result<EmittedCode> code = emit("func.func private @f()");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.message(), "module holds no kernel to emit");
}

TEST_F(EmitPTXTest, ReportsWhatNeedsANewerPTX) {
  // The CTA form of the copy came with PTX 8.6; LLVM would end the process.
  const char *text = R"mlir(
    llvm.func @k(%tm: !llvm.ptr, %s: !llvm.ptr<3>, %x: i32) attributes {nvvm.kernel} {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %tm, %s, box[%x, %x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
      llvm.return
    })mlir";
  Result<EmittedCode> old = emit(text, "sm_90a", 80);
  ASSERT_FALSE(old);
  EXPECT_NE(old.message().find("needs PTX version 86"), std::string::npos)
      << old.message();
  EXPECT_TRUE(emit(text, "sm_90a", 86));
}
