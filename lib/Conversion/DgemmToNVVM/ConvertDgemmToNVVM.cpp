// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The pass: kernels to functions, roles to branches, then the patterns.

#include "KernelContext.h"

#include "dgemm/Conversion/DgemmToNVVM/DgemmToNVVM.h"
#include "dgemm/Runtime/KernelInterface.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_CONVERTDGEMMTONVVMPASS
#include "dgemm/Conversion/DgemmToNVVM/Passes.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::KernelArgument;
using ::dgemm::KernelMetadata;
using ::dgemm::LaunchMetadata;

/// The gpu.module of all kernels, created with the extern shared-memory array
/// that every kernel addresses; null, with an error, when its name is taken.
static gpu::GPUModuleOp getOrCreateKernelModule(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Operation *existing = module.lookupSymbol(kKernelModuleName);
  auto kernels = dyn_cast_or_null<gpu::GPUModuleOp>(existing);
  if (existing && !kernels) {
    existing->emitOpError("has the name that the gpu.module of the kernels "
                          "needs");
    return {};
  }
  if (!kernels)
    kernels = gpu::GPUModuleOp::create(builder, loc, kKernelModuleName);
  if (kernels.lookupSymbol("smem"))
    return kernels;
  builder.setInsertionPointToStart(kernels.getBody());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, loc, bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, "smem", Attribute(),
                         /*alignment=*/1024, /*addrSpace=*/3);
  return kernels;
}

static Type parameterType(OpBuilder &builder, const KernelArgument &argument) {
  switch (argument.kind) {
  case KernelArgument::Kind::TensorMap:
    return LLVM::LLVMPointerType::get(builder.getContext());
  case KernelArgument::Kind::Pointer:
    return LLVM::LLVMPointerType::get(builder.getContext(), 1);
  case KernelArgument::Kind::Size64:
    return builder.getI64Type();
  case KernelArgument::Kind::Alpha:
  case KernelArgument::Kind::Beta:
    return builder.getF32Type();
  case KernelArgument::Kind::Size32:
  case KernelArgument::Kind::RasterGroup:
    return builder.getI32Type();
  }
  return {};
}

/// The document of this kernel alone.
static std::string metadataText(KernelOp kernel,
                                const KernelMetadata &metadata) {
  LaunchMetadata document;
  document.problem = kernel.getProblem().getValue();
  document.kernels.push_back(metadata);
  document.dispatch.push_back({});
  return ::dgemm::toJson(document);
}

static LLVM::LLVMFuncOp createFunction(OpBuilder &builder, KernelOp kernel,
                                       const KernelMetadata &metadata) {
  SmallVector<Type> types;
  for (const KernelArgument &argument : metadata.arguments)
    types.push_back(parameterType(builder, argument));
  MLIRContext *context = builder.getContext();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(),
                                           kernel.getSymName(), type);
  function->setAttr("gpu.kernel", builder.getUnitAttr());
  function->setAttr("nvvm.kernel", builder.getUnitAttr());
  function->setAttr("nvvm.reqntid",
                    builder.getDenseI32ArrayAttr({metadata.threads, 1, 1}));
  function->setAttr("nvvm.minctasm",
                    builder.getI32IntegerAttr(metadata.ctasPerSM));
  function->setAttr(DgemmDialect::kLaunchMetadataAttr,
                    builder.getStringAttr(metadataText(kernel, metadata)));
  auto mapType = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto [i, argument] : llvm::enumerate(metadata.arguments)) {
    if (argument.kind != KernelArgument::Kind::TensorMap)
      continue;
    function.setArgAttr(i, "llvm.byval", TypeAttr::get(mapType));
    function.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
    function.setArgAttr(i, "nvvm.grid_constant", builder.getUnitAttr());
  }
  return function;
}

static void inlineRole(OpBuilder &builder, RoleOp role, ValueRange arguments) {
  Block &block = role.getBody().front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  Block *target = builder.getInsertionBlock();
  target->getOperations().splice(builder.getInsertionPoint(),
                                 block.getOperations());
}

/// The two roles become the branches of one conditional on the warpgroup: the
/// producer is the last warpgroup, one elected thread of its first warp.
static void branchOnRoles(KernelOp kernel, const KernelContext &context) {
  RoleOp producer, consumer;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    (role.isProducer() ? producer : consumer) = role;
  if (!producer || !consumer)
    return;
  OpBuilder builder(producer);
  Location loc = kernel.getLoc();
  auto setRegisters = [&](OpBuilder &body, RoleOp role,
                          NVVM::SetMaxRegisterAction action) {
    if (role.getRegisters() != 0)
      NVVM::SetMaxRegisterOp::create(body, role.getLoc(), role.getRegisters(),
                                     action);
  };
  Value isProducer = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, context.warpgroup,
      constantI32(builder, loc, context.schedule.consumers));
  auto branch = scf::IfOp::create(builder, loc, isProducer,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  setRegisters(builder, producer, NVVM::SetMaxRegisterAction::decrease);
  Value isFirstWarp =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            context.warpInGroup, constantI32(builder, loc, 0));
  auto oneWarp = scf::IfOp::create(builder, loc, isFirstWarp,
                                   /*withElseRegion=*/false);
  builder.setInsertionPointToStart(oneWarp.thenBlock());
  Value elected =
      NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
  auto oneThread =
      scf::IfOp::create(builder, loc, elected, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(oneThread.thenBlock());
  inlineRole(builder, producer, ValueRange());

  builder.setInsertionPointToStart(branch.elseBlock());
  setRegisters(builder, consumer, NVVM::SetMaxRegisterAction::increase);
  inlineRole(builder, consumer, context.warpgroup);
  producer.erase();
  consumer.erase();
}

/// Moves the kernel's body into a function and converts it there.
static LogicalResult convertKernel(KernelOp kernel, gpu::GPUModuleOp kernels) {
  KernelContext context;
  context.problem = kernel.getProblem().getValue();
  context.schedule = kernel.getSchedule().getValue();
  if (!kernel.getSmem())
    return kernel.emitOpError("has no shared-memory plan; run "
                              "dgemm-plan-smem");
  context.plan = ::dgemm::planSharedMemory(context.problem, context.schedule);
  KernelMetadata metadata =
      ::dgemm::describeKernel(kernel.getSymName().str(), context.problem,
                              context.schedule, kernel.getSource().str());

  MLIRContext *mlirContext = kernel.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  LLVM::LLVMFuncOp function = createFunction(builder, kernel, metadata);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Location loc = kernel.getLoc();

  // Sizes fixed at compile time are constants, whatever the caller passes.
  auto size = [&](int64_t fixed, ::dgemm::Symbol symbol) -> Value {
    if (fixed != ::dgemm::kDynamic)
      return constantI32(builder, loc, fixed);
    for (auto [i, argument] : llvm::enumerate(metadata.arguments))
      if (argument.kind == KernelArgument::Kind::Size32 &&
          argument.symbol == symbol)
        return entry->getArgument(i);
    return {};
  };
  context.sizeM = size(context.problem.m, ::dgemm::Symbol::M);
  context.sizeN = size(context.problem.n, ::dgemm::Symbol::N);
  context.sizeK = size(context.problem.k, ::dgemm::Symbol::K);
  for (auto [i, argument] : llvm::enumerate(metadata.arguments)) {
    if (argument.kind == KernelArgument::Kind::RasterGroup)
      context.rasterGroup = entry->getArgument(i);
    if (argument.kind == KernelArgument::Kind::Pointer &&
        argument.operand == ::dgemm::Operand::Workspace)
      context.workspace = entry->getArgument(i);
    if (argument.kind == KernelArgument::Kind::TensorMap)
      context.tensorMaps.push_back(entry->getArgument(i));
  }
  context.emitEntry(builder, loc);

  branchOnRoles(kernel, context);
  Block &body = kernel.getBody().front();
  for (auto [from, to] :
       llvm::zip(body.getArguments(), entry->getArguments())) {
    Value value = to;
    if (from.getType() != to.getType())
      value =
          UnrealizedConversionCastOp::create(builder, loc, from.getType(), to)
              .getResult(0);
    from.replaceAllUsesWith(value);
  }
  entry->getOperations().splice(entry->end(), body.getOperations());
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  kernel.erase();

  TypeConverter converter;
  populateTypeConversions(converter);
  RewritePatternSet patterns(mlirContext);
  populateTileLoopPatterns(patterns, converter, context);
  populateTilePatterns(patterns, converter, context);
  populateRingPatterns(patterns, converter, context);
  populateRegisterPatterns(patterns, converter, context);
  populateClusterPatterns(patterns, converter, context);
  populateWorkspacePatterns(patterns, converter, context);
  populateMmaPatterns(patterns, converter, context);
  populateEpiloguePatterns(patterns, converter, context);
  ConversionTarget target(*mlirContext);
  target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                         NVVM::NVVMDialect>();
  target.addIllegalDialect<DgemmDialect>();
  target.addLegalOp<UnrealizedConversionCastOp, LoadGlobalOp, MmaSyncOp,
                    WgmmaOp, WgmmaUndefOp>();
  target.addDynamicallyLegalOp<WgmmaFenceOp, WgmmaWaitOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  return applyPartialConversion(function, target, std::move(patterns));
}

/// Launches name kernels inside the gpu.module now.
static void renameKernels(ModuleOp module) {
  module.walk([&](LaunchOp launch) {
    SmallVector<Attribute> symbols;
    for (Attribute kernel : launch.getKernels()) {
      auto symbol = cast<SymbolRefAttr>(kernel);
      if (symbol.getNestedReferences().empty())
        symbol = SymbolRefAttr::get(
            StringAttr::get(module.getContext(), kKernelModuleName),
            {FlatSymbolRefAttr::get(symbol.getRootReference())});
      symbols.push_back(symbol);
    }
    launch.setKernelsAttr(ArrayAttr::get(module.getContext(), symbols));
  });
}

namespace {
struct ConvertPass
    : public mlir::dgemm::impl::ConvertDgemmToNVVMPassBase<ConvertPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = llvm::to_vector(module.getOps<KernelOp>());
    if (kernels.empty())
      return;
    gpu::GPUModuleOp kernelModule = getOrCreateKernelModule(module);
    if (!kernelModule)
      return signalPassFailure();
    for (KernelOp kernel : kernels)
      if (failed(convertKernel(kernel, kernelModule)))
        return signalPassFailure();
    renameKernels(module);
  }
};
} // namespace
