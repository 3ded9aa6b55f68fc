// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The rewrite of a kernel into calls of the runtime, in place on a copy, then
// the upstream conversions to the LLVM dialect.

#include "Lowering.h"

#include "EntryPoints.h"
#include "KnownOps.h"
#include "OpRewriter.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using ::dgemm::Result;
using ::dgemm::Status;
using namespace ::dgemm::emu;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// Copies the device modules (or, when there is none, the module itself) into
/// one flat module. Host code around the kernels is left out.
static Status collect(ModuleOp source, ModuleOp target) {
  SmallVector<Operation *> roots;
  source.walk([&](gpu::GPUModuleOp device) { roots.push_back(device); });
  if (roots.empty())
    roots.push_back(source);
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  for (Operation *root : roots) {
    std::string failure;
    root->walk([&](Operation *op) {
      failure = refuse(op);
      return failure.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (!failure.empty())
      return Status::error(std::move(failure));
    for (Operation &op : root->getRegion(0).front())
      if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
        builder.clone(op);
  }
  return Status::success();
}

static Status describe(LLVM::LLVMFuncOp func, LoweredKernel &kernel) {
  auto words = [&](StringRef name) -> ArrayRef<int32_t> {
    auto attr = func->getAttrOfType<DenseI32ArrayAttr>(name);
    return attr ? attr.asArrayRef() : ArrayRef<int32_t>();
  };
  kernel.threads = 0;
  ArrayRef<int32_t> threads = words("nvvm.reqntid");
  if (threads.empty())
    threads = words("nvvm.maxntid");
  if (!threads.empty()) {
    kernel.threads = 1;
    for (int32_t t : threads)
      kernel.threads *= t;
  }
  for (int32_t c : words("nvvm.cluster_dim"))
    kernel.clusterSize *= c;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Type type = func.getArgument(i).getType();
    unsigned bytes = 0;
    if (func.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
      bytes = 0;
    else if (isa<LLVM::LLVMPointerType>(type))
      bytes = 8;
    else if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0 &&
             type.getIntOrFloatBitWidth() <= 64)
      bytes = type.getIntOrFloatBitWidth() / 8;
    else
      return Status::error("emulator: parameter " + std::to_string(i) +
                           " of @" + func.getName().str() +
                           " is neither a pointer, a number nor a tensor map");
    kernel.parameterBytes.push_back(bytes);
  }
  func.walk([&](Operation *op) {
    if (isa<NVVM::CpAsyncOp>(op))
      kernel.asyncCopies = true;
    if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op))
      kernel.waitsForGrid |= control.getKind() == NVVM::GridDepActionKind::wait;
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      if ((load.getOrdering() != LLVM::AtomicOrdering::not_atomic ||
           load.getVolatile_()) &&
          cast<LLVM::LLVMPointerType>(load.getAddr().getType())
                  .getAddressSpace() <= 1)
        kernel.needsResidence = kernel.sharesGlobal = true;
    }
    if (isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp,
            NVVM::CpAsyncBulkTensorReduceOp>(op))
      kernel.sharesGlobal = true;
  });
  return Status::success();
}

/// void emu_entry_NAME(ptr arguments): loads each parameter and calls.
static void addTrampoline(ModuleOp module, LLVM::LLVMFuncOp func,
                          const LoweredKernel &kernel) {
  MLIRContext *context = module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = UnknownLoc::get(context);
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, kernel.entryName, type);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < kernel.parameterBytes.size(); ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value at = LLVM::LoadOp::create(builder, loc, pointer, slot);
    if (kernel.parameterBytes[i])
      at =
          LLVM::LoadOp::create(builder, loc, func.getArgument(i).getType(), at);
    arguments.push_back(at);
  }
  LLVM::CallOp::create(builder, loc, func, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Blocks that some branch inside their own loop goes back to.
static SmallVector<Block *> loopHeaders(Region &region) {
  SmallVector<Block *> headers;
  llvm::SmallDenseSet<Block *> open, done, found;
  SmallVector<std::pair<Block *, unsigned>> stack;
  stack.push_back({&region.front(), 0});
  open.insert(&region.front());
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next == block->getNumSuccessors()) {
      open.erase(block);
      done.insert(block);
      stack.pop_back();
      continue;
    }
    Block *successor = block->getSuccessor(next++);
    if (open.contains(successor)) {
      if (found.insert(successor).second)
        headers.push_back(successor);
    } else if (!done.contains(successor)) {
      open.insert(successor);
      stack.push_back({successor, 0});
    }
  }
  return headers;
}

static void addSteps(LLVM::LLVMFuncOp func, OpRewriter &rewriter) {
  for (Block *header : loopHeaders(func.getBody())) {
    OpBuilder builder = OpBuilder::atBlockBegin(header);
    rewriter.addStep(builder, header->getTerminator());
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

namespace dgemm::emu {
Result<LoweredModule> lowerToHost(ModuleOp source) {
  MLIRContext *context = source.getContext();
  context->loadDialect<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  LoweredModule out;
  out.module = ModuleOp::create(UnknownLoc::get(context));
  if (Status s = collect(source, *out.module); !s)
    return s;

  // Errors of the conversions become the text of the Status.
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += (diagnostics.empty() ? "" : "; ") + d.str();
    return success();
  });

  out.sites.emplace_back(); // site 0: no place
  OpRewriter rewriter(*out.module, out.sites);
  SmallVector<LLVM::LLVMFuncOp> functions(
      out.module->getOps<LLVM::LLVMFuncOp>());
  for (LLVM::LLVMFuncOp func : functions) {
    if (func.isExternal())
      continue;
    const bool isKernel = func->hasAttr("nvvm.kernel");
    LoweredKernel kernel;
    if (isKernel)
      if (Status s = describe(func, kernel); !s)
        return s;
    if (Status s = rewriter.rewrite(func); !s)
      return s;
    SmallVector<StringAttr> dropped;
    for (NamedAttribute attr : func->getDiscardableAttrs())
      dropped.push_back(attr.getName());
    for (StringAttr name : dropped)
      func->removeDiscardableAttr(name);
    func.removeArgAttrsAttr();
    func.setCConv(LLVM::CConv::C);
    if (!isKernel)
      continue;
    kernel.entryName = "emu_entry_" + func.getName().str();
    addTrampoline(*out.module, func, kernel);
    out.kernels[func.getName().str()] = std::move(kernel);
  }
  if (out.kernels.empty())
    return Status::error(
        "emulator: the module holds no kernel (an llvm.func with nvvm.kernel)");
  rewriter.eraseGlobals();

  PassManager manager(context);
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(*out.module)))
    return Status::error(
        "emulator: lowering for the host failed: " +
        (diagnostics.empty() ? "no reason given" : diagnostics));
  for (LLVM::LLVMFuncOp func : out.module->getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      addSteps(func, rewriter);
  return out;
}
} // namespace dgemm::emu
