// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the pipelines over one module, stage by stage.

#include "Lowering.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"
#include "dgemm/InitAllDialects.h"
#include "dgemm/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace ir = mlir::dgemm;

namespace dgemm::jit {

static const DialectRegistry &sharedRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry all;
    ir::registerAllDialects(all);
    registerTranslations(all);
    return all;
  }();
  return registry;
}

Result<SharedDatabase> openDatabase(const CompileOptions &options) {
  // A schedule that is given needs no database, whatever is wrong with it.
  return openTuningDatabase(
      options.schedule.empty() ? tuningDatabaseName(options.tuningDB) : "none");
}

Lowering::Lowering(const CompileOptions &options, SharedDatabase database)
    : options(options), database(std::move(database)),
      context(sharedRegistry(), MLIRContext::Threading::DISABLED),
      diagnostics(&context) {
  // Ops of an embedder's own dialects may stand around the GEMM.
  context.allowUnregisteredDialects();
  // The place and the message are enough; whole modules inside an error text
  // hide it.
  context.printOpOnDiagnostic(false);
}

Result<std::unique_ptr<Lowering>> Lowering::parse(const std::string &text,
                                                  const CompileOptions &options,
                                                  SharedDatabase database) {
  std::unique_ptr<Lowering> lowering(
      new Lowering(options, std::move(database)));
  lowering->module =
      parseSourceString<ModuleOp>(text, &lowering->context, options.inputName);
  if (!lowering->module)
    return lowering->diagnostics.toStatus("the input is not an MLIR module");
  return lowering;
}

static Type convert(DType type, Builder &builder) {
  switch (type) {
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::F32:
    return builder.getF32Type();
  case DType::F8E4M3FN:
    return builder.getType<Float8E4M3FNType>();
  case DType::F8E5M2:
    return builder.getType<Float8E5M2Type>();
  case DType::F8E8M0FNU:
    return builder.getType<Float8E8M0FNUType>();
  case DType::I8:
    return builder.getI8Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::None:
    break;
  }
  return {};
}

static Type matrix(int64_t rows, int64_t cols, bool transposed, Type element) {
  auto size = [](int64_t value) {
    return value == kDynamic ? ShapedType::kDynamic : value;
  };
  if (transposed)
    std::swap(rows, cols);
  return RankedTensorType::get({size(rows), size(cols)}, element);
}

/// Type of the scales of an operand of `rows` x `k` elements.
static Type scaleMatrix(const ScaleSpec &spec, int64_t rows, int64_t k,
                        Builder &builder) {
  auto blocks = [](int64_t size, int64_t block) {
    return block == 0 ? 1 : ceilDiv(size, block);
  };
  return matrix(blocks(rows, spec.rows), blocks(k, spec.cols),
                spec.major == ScaleMajor::MN, convert(spec.type, builder));
}

Result<std::unique_ptr<Lowering>> Lowering::build(const Problem &problem,
                                                  const CompileOptions &options,
                                                  SharedDatabase database) {
  std::unique_ptr<Lowering> lowering(
      new Lowering(options, std::move(database)));
  MLIRContext *context = &lowering->context;
  context->loadDialect<ir::DgemmDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location location = NameLoc::get(builder.getStringAttr(toString(problem)));
  lowering->module = ModuleOp::create(location);

  bool transposeA =
      problem.layout == Layout::TN || problem.layout == Layout::TT;
  bool transposeB =
      problem.layout == Layout::NT || problem.layout == Layout::TT;
  Type typeD = matrix(problem.m, problem.n, false, convert(problem.d, builder));
  SmallVector<Type> inputs = {
      matrix(problem.m, problem.k, transposeA, convert(problem.a, builder)),
      matrix(problem.k, problem.n, transposeB, convert(problem.b, builder))};
  if (problem.scaleA.present())
    inputs.push_back(
        scaleMatrix(problem.scaleA, problem.m, problem.k, builder));
  if (problem.scaleB.present())
    inputs.push_back(
        scaleMatrix(problem.scaleB, problem.n, problem.k, builder));
  if (problem.accumulate)
    inputs.push_back(typeD);
  inputs.push_back(typeD);

  builder.setInsertionPointToEnd(lowering->module->getBody());
  auto function = func::FuncOp::create(
      builder, location, "gemm", builder.getFunctionType(inputs, {typeD}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> arguments(body->getArguments());
  Value a = arguments[0], b = arguments[1], d = arguments.back();
  size_t next = 2;
  Value scaleA = problem.scaleA.present() ? arguments[next++] : Value();
  Value scaleB = problem.scaleB.present() ? arguments[next++] : Value();
  Value c = problem.accumulate ? arguments[next] : Value();
  auto matmul =
      ir::MatmulOp::create(builder, location, a, b, scaleA, problem.scaleA,
                           scaleB, problem.scaleB, d, c);
  matmul.setLayout(static_cast<ir::MatmulLayout>(problem.layout));
  matmul.setFastAccumulate(problem.fastAccumulate);
  func::ReturnOp::create(builder, location, matmul->getResults());
  if (failed(verify(*lowering->module)))
    return lowering->diagnostics.toStatus("the problem has no valid form");
  return lowering;
}

Status Lowering::checkOneGemm() {
  SmallVector<ir::MatmulOp> matmuls;
  bool kernels = false;
  module->walk([&](Operation *op) {
    if (auto matmul = dyn_cast<ir::MatmulOp>(op))
      matmuls.push_back(matmul);
    kernels |= isa<ir::KernelOp>(op) ||
               op->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  });
  if (matmuls.size() == 1 || (matmuls.empty() && kernels))
    return Status::success();
  std::string expected =
      options.inputName + ": error: expected one dgemm.matmul, found ";
  if (matmuls.empty())
    return Status::error(expected + "none");
  std::string message = expected + std::to_string(matmuls.size()) +
                        " (an artifact holds one GEMM):";
  for (ir::MatmulOp matmul : matmuls)
    message += "\n  at " + describeLocation(matmul.getLoc());
  return Status::error(message);
}

std::string Lowering::describeTuning() {
  std::string text;
  // A device that nobody knows is an error of the passes.
  if (Result<DeviceModel> device = findDevice(options.device))
    module->walk([&](ir::ScheduledOpInterface op) {
      text += database->describe(op.getProblem(), device->name);
    });
  return text;
}

Status Lowering::runStage(Stage next) {
  PassManager manager(&context);
  ir::CompilePipelineOptions pipeline;
  pipeline.chip = options.chip;
  pipeline.ptx = options.ptxVersion;
  pipeline.device = options.device;
  pipeline.schedule = options.schedule;
  pipeline.db = tuningDatabaseName(options.tuningDB);
  switch (next) {
  case Stage::Schedule:
    ir::buildSchedulePipeline(manager, pipeline, database);
    break;
  case Stage::Kernel:
    ir::buildKernelPipeline(manager);
    break;
  case Stage::Machine:
    ir::buildMachinePipeline(manager);
    break;
  default:
    ir::buildLowerToLLVMPipeline(manager, options.debugDirectives);
    break;
  }
  if (failed(manager.run(*module)))
    return diagnostics.toStatus("a pass failed without a diagnostic");
  return Status::success();
}

Status Lowering::lowerTo(Stage stage) {
  int first = lowered ? static_cast<int>(reached) + 1 : 0;
  for (int next = first; next <= static_cast<int>(stage); ++next) {
    if (Status status = runStage(static_cast<Stage>(next)); !status)
      return status;
    lowered = true;
    reached = static_cast<Stage>(next);
  }
  return Status::success();
}

Result<EmittedCode> Lowering::emit(bool wantLLVMIR) {
  Result<EmittedCode> code =
      emitPTX(*module, options.chip, options.ptxVersion, wantLLVMIR);
  if (!code)
    return diagnostics.toStatus(code.message());
  return code;
}

std::string Lowering::print(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (withLocations) {
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
    // nvvm.barrier without operands does not parse back in its own form once a
    // location follows it.
    flags.printGenericOpForm();
  }
  module.get()->print(stream, flags);
  stream << '\n';
  return text;
}

Result<LaunchMetadata> Lowering::metadata() {
  ir::LaunchOp launch;
  module->walk([&](ir::LaunchOp op) { launch = op; });
  if (launch) {
    FailureOr<LaunchMetadata> document = ir::collectLaunchMetadata(launch);
    if (failed(document))
      return diagnostics.toStatus("the launch has no metadata");
    return std::move(*document);
  }
  // A module that was given as kernels: without a launch there is no table
  // over M, so only one kernel makes sense.
  SmallVector<StringAttr> documents;
  module->walk([&](LLVM::LLVMFuncOp kernel) {
    if (auto text = kernel->getAttrOfType<StringAttr>(
            ir::DgemmDialect::kLaunchMetadataAttr))
      documents.push_back(text);
  });
  if (documents.size() != 1)
    return Status::error(
        options.inputName +
        ": error: expected one kernel with launch metadata, or a dgemm.launch "
        "that says which one takes which M; found " +
        std::to_string(documents.size()) + " kernels with metadata");
  return parseLaunchMetadata(documents.front().str());
}

} // namespace dgemm::jit
