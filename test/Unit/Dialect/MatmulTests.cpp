// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm.matmul as an embedding compiler uses it: built from values, asked for
// its problem, given a schedule through the interface.

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::DType;

namespace {

class Matmul : public testing::Test {
protected:
  Matmul() : builder(&context) {
    context.loadDialect<DgemmDialect>();
    context.allowUnregisteredDialects();
    module = ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// A value of a type, from nowhere.
  Value value(Type type) {
    OperationState state(builder.getUnknownLoc(), "test.source");
    state.addTypes(type);
    return builder.create(state)->getResult(0);
  }
  Value tensor(ArrayRef<int64_t> shape, Type element) {
    return value(RankedTensorType::get(shape, element));
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Matmul, Plain) {
  Type bf16 = builder.getBF16Type();
  Value a = tensor({ShapedType::kDynamic, 64}, bf16);
  Value b = tensor({64, 96}, bf16);
  Value d = tensor({ShapedType::kDynamic, 96}, builder.getF32Type());
  auto op = MatmulOp::create(builder, builder.getUnknownLoc(), a, b, d,
                             ::dgemm::Layout::NN);
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(op.getResult().getType(), d.getType());
  ::dgemm::Problem problem = op.getProblem();
  EXPECT_EQ(problem.m, ::dgemm::kDynamic);
  EXPECT_EQ(problem.n, 96);
  EXPECT_EQ(problem.k, 64);
  EXPECT_EQ(problem.layout, ::dgemm::Layout::NN);
  EXPECT_EQ(problem.d, DType::F32);
  EXPECT_FALSE(problem.accumulate);
  EXPECT_FALSE(problem.scaleA.present());
  EXPECT_TRUE(op.getAccumulatorType().isF32());
  EXPECT_FALSE(op.hasEpilogue());
}

TEST_F(Matmul, ScaledOnMemrefs) {
  Type fp8 = Float8E4M3FNType::get(&context);
  Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type();
  auto memref = [&](ArrayRef<int64_t> shape, Type element) {
    return value(MemRefType::get(shape, element));
  };
  ::dgemm::ScaleSpec specA = {DType::F32, 1, 128, ::dgemm::ScaleMajor::MN};
  ::dgemm::ScaleSpec specB = {DType::F32, 128, 128, ::dgemm::ScaleMajor::K};
  auto op =
      MatmulOp::create(builder, builder.getUnknownLoc(),
                       memref({300, 200}, fp8), memref({500, 200}, fp8),
                       memref({2, 300}, f32), specA, memref({4, 2}, f32), specB,
                       memref({300, 500}, bf16), memref({300, 500}, bf16));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_FALSE(op.getResult());
  ::dgemm::Problem problem = op.getProblem();
  EXPECT_TRUE(problem.scaleA == specA);
  EXPECT_TRUE(problem.scaleB == specB);
  EXPECT_TRUE(problem.accumulate);
  EXPECT_TRUE(problem.fp8());
  EXPECT_EQ(problem.layout, ::dgemm::Layout::NT);
}

TEST_F(Matmul, SizesComeFromWhicheverOperandKnowsThem) {
  Type bf16 = builder.getBF16Type();
  int64_t dynamic = ShapedType::kDynamic;
  auto op = MatmulOp::create(
      builder, builder.getUnknownLoc(), tensor({32, dynamic}, bf16),
      tensor({dynamic, 128}, bf16), tensor({dynamic, 48}, bf16));
  ASSERT_TRUE(succeeded(verify(*module)));
  ::dgemm::Problem problem = op.getProblem();
  EXPECT_EQ(problem.m, 32);
  EXPECT_EQ(problem.n, 48);
  EXPECT_EQ(problem.k, 128);
}

TEST_F(Matmul, ScheduledThroughTheInterface) {
  Type bf16 = builder.getBF16Type();
  Value a = tensor({128, 64}, bf16);
  Operation *op = MatmulOp::create(builder, builder.getUnknownLoc(), a, a,
                                   tensor({128, 128}, bf16));
  auto scheduled = dyn_cast<ScheduledOpInterface>(op);
  ASSERT_TRUE(scheduled);
  EXPECT_FALSE(scheduled.getScheduleAttr());
  auto schedule = ScheduleAttr::get(&context, ::dgemm::Schedule());
  scheduled.setScheduleAttr(schedule);
  scheduled.setSourceAttr(builder.getStringAttr("tuned"));
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(cast<MatmulOp>(op).getSingleSchedule(), schedule);
  EXPECT_EQ(cast<MatmulOp>(op).getSource(), "tuned");
  EXPECT_EQ(scheduled.getProblem().k, 64);
}

} // namespace
