// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// ORC set-up: the runtime's entry points are given by address, the rest (memset
// and the like) is looked up in the process.

#include "Jit.h"

#include "EntryPoints.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace dgemm;
using namespace dgemm::emu;

HostCode::HostCode() = default;
HostCode::~HostCode() = default;

static Status failure(const char *what, llvm::Error error) {
  return Status::error(std::string("emulator: ") + what + ": " +
                       llvm::toString(std::move(error)));
}

static void initializeHostTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

Result<std::unique_ptr<HostCode>> HostCode::create(mlir::ModuleOp module) {
  initializeHostTarget();
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);

  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic &d) {
        diagnostics += (diagnostics.empty() ? "" : "; ") + d.str();
        return mlir::success();
      });
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, *context, "emulated");
  if (!llvmModule)
    return Status::error("emulator: translation to LLVM IR failed: " +
                         diagnostics);

  auto machineBuilder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machineBuilder)
    return failure("no host target", machineBuilder.takeError());
  machineBuilder->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto layout = machineBuilder->getDefaultDataLayoutForTarget();
  if (!layout)
    return failure("no data layout", layout.takeError());
  llvmModule->setDataLayout(*layout);
  llvmModule->setTargetTriple(machineBuilder->getTargetTriple());

  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*machineBuilder))
                 .create();
  if (!jit)
    return failure("no JIT", jit.takeError());
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();
  llvm::orc::SymbolMap symbols;
  for (const EntryPoint &entry : entryPoints())
    symbols[(*jit)->mangleAndIntern(entry.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(entry.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (llvm::Error error =
          library.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return failure("runtime symbols", std::move(error));
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return failure("process symbols", process.takeError());
  library.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(
          std::move(llvmModule), std::move(context))))
    return failure("adding the kernel", std::move(error));

  std::unique_ptr<HostCode> code(new HostCode());
  code->jit = std::move(*jit);
  return code;
}

Result<HostCode::Entry> HostCode::lookup(const std::string &name) const {
  auto address = jit->lookup(name);
  if (!address)
    return failure("compiling the kernel", address.takeError());
  return address->toPtr<Entry>();
}
