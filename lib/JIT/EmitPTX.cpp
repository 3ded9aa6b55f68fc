// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Translation to LLVM IR, optimisation and code generation for NVPTX.

#include "dgemm/JIT/EmitPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

// Only this target is initialised, so the portable build need not carry the
// others for PTX. (LLVM's umbrella header names the functions by a macro over
// all targets that LLVM was built with.)
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace dgemm::jit {

static constexpr const char *kTriple = "nvptx64-nvidia-cuda";

Status verifyTarget(const std::string &chip, int ptxVersion) {
  if (chip != "sm_90a") {
    std::string message =
        "chip '" + chip + "' is not supported: expected 'sm_90a'";
    if (chip == "sm_90")
      message += " (WGMMA and setmaxnreg exist only on the 'a' variant)";
    return Status::error(message);
  }
  if (ptxVersion < kMinPTXVersion || ptxVersion > kMaxPTXVersion)
    return Status::error("PTX version " + std::to_string(ptxVersion) +
                         " is not supported for sm_90a: expected " +
                         std::to_string(kMinPTXVersion) + " to " +
                         std::to_string(kMaxPTXVersion));
  return Status::success();
}

void registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
/// Collects LLVM's diagnostics; its default handler prints them and ends the
/// process at the first error.
class CollectingHandler final : public llvm::DiagnosticHandler {
public:
  explicit CollectingHandler(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    if (!errors.empty())
      stream << '\n';
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

private:
  std::string &errors;
};
} // namespace

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Adds `op` and every op of the same symbol table that it refers to.
static void collectWithReferences(Operation *op, SymbolTable &symbols,
                                  llvm::SetVector<Operation *> &collected) {
  if (!collected.insert(op))
    return;
  if (auto uses = SymbolTable::getSymbolUses(op))
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *callee =
              symbols.lookup(use.getSymbolRef().getRootReference()))
        collectWithReferences(callee, symbols, collected);
}

/// A module of its own for the kernels at the top of `module`, whose other ops
/// (host functions, problems not lowered) have no place on the device. Null
/// when there are none.
static OwningOpRef<ModuleOp> extractTopLevelKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> collected;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      collectWithReferences(func, symbols, collected);
  if (collected.empty())
    return nullptr;
  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(device->getBody());
  for (Operation &op : *module.getBody())
    if (collected.contains(&op))
      builder.clone(op);
  return device;
}

static Result<std::unique_ptr<llvm::Module>>
translateToLLVM(ModuleOp module, llvm::LLVMContext &context) {
  std::vector<Operation *> sources;
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
    sources.push_back(gpuModule);
  OwningOpRef<ModuleOp> top = extractTopLevelKernels(module);
  if (top)
    sources.push_back(*top);
  if (sources.empty())
    return Status::error("module holds no kernel to emit");

  std::unique_ptr<llvm::Module> result;
  for (Operation *source : sources) {
    auto part = translateModuleToLLVMIR(source, context, "dgemm");
    if (!part)
      return Status::error("cannot translate the kernel to LLVM IR");
    if (!result)
      result = std::move(part);
    else if (llvm::Linker::linkModules(*result, std::move(part)))
      return Status::error("cannot link the device modules together");
  }
  return result;
}

/// Intrinsics that the code generator ends the process for when the target is
/// too old. A kernel of ours never holds them at the versions where they do
/// not exist; one that was written or edited by hand may.
static Status checkIntrinsics(const llvm::Module &module, int ptxVersion) {
  struct Rule {
    llvm::StringRef prefix, part;
    int ptx; ///< 0: sm_90a has it at no version
  };
  static constexpr Rule rules[] = {
      {"llvm.nvvm.cp.async.bulk.tensor.g2s.cta.", "", 86},
      {"llvm.nvvm.cp.async.bulk.global.to.shared.cta", "", 86},
      {"llvm.nvvm.mbarrier.", ".relaxed.", 86},
      {"llvm.nvvm.tcgen05.", "", 0},
  };
  for (const llvm::Function &function : module) {
    if (!function.isIntrinsic() || function.use_empty())
      continue;
    llvm::StringRef name = function.getName();
    for (const Rule &rule : rules) {
      if (!name.starts_with(rule.prefix) || !name.contains(rule.part))
        continue;
      if (rule.ptx == 0)
        return Status::error("'" + name.str() + "' does not exist on sm_90a");
      if (ptxVersion < rule.ptx)
        return Status::error("'" + name.str() + "' needs PTX version " +
                             std::to_string(rule.ptx) + ", found " +
                             std::to_string(ptxVersion));
    }
  }
  return Status::success();
}

/// The PTX version that assembly in the module needs: FP8 products of one warp
/// came later than all else we emit.
static int versionOfAssembly(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto *code =
          call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())
               : nullptr;
      if (!code)
        continue;
      llvm::StringRef text = code->getAsmString();
      if (text.contains("mma.sync.") &&
          (text.contains(".e4m3") || text.contains(".e5m2")))
        return 84;
    }
  return 0;
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const std::string &chip, int ptxVersion,
                    std::string &error) {
  initializeTarget();
  llvm::Triple triple(kTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip, "+ptx" + std::to_string(ptxVersion), {}, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    error = "LLVM has no code generator for " + std::string(kTriple);
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

Result<EmittedCode> emitPTX(ModuleOp module, const std::string &chip,
                            int ptxVersion, bool wantLLVMIR) {
  if (Status status = verifyTarget(chip, ptxVersion); !status)
    return status;

  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<CollectingHandler>(errors));
  auto translated = translateToLLVM(module, context);
  if (!translated)
    return translated.status();
  llvm::Module &llvmModule = **translated;

  if (Status status = checkIntrinsics(llvmModule, ptxVersion); !status)
    return status;

  std::string targetError;
  int version = std::max(ptxVersion, versionOfAssembly(llvmModule));
  auto machine = createTargetMachine(chip, version, targetError);
  if (!machine)
    return Status::error(targetError);
  llvmModule.setTargetTriple(llvm::Triple(kTriple));
  llvmModule.setDataLayout(machine->createDataLayout());

  optimize(llvmModule, *machine);
  EmittedCode code;
  if (wantLLVMIR) {
    llvm::raw_string_ostream irStream(code.llvmIR);
    llvmModule.print(irStream, nullptr);
  }

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return Status::error("LLVM cannot emit PTX text");
  passes.run(llvmModule);
  if (!errors.empty())
    return Status::error("LLVM refused the kernel: " + errors);
  code.ptx = std::string(text);
  return code;
}

} // namespace dgemm::jit
