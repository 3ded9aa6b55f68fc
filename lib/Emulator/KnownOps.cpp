// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which ops a kernel may hold. Everything else is refused before anything
// runs.

#include "KnownOps.h"

#include "dgemm/Dialect/Dgemm/IR/Dgemm.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dgemm::emu {
std::string locationText(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto name = dyn_cast<NameLoc>(location)) {
    std::string child = locationText(name.getChildLoc());
    return child.empty() ? name.getName().str()
                         : name.getName().str() + " at " + child;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return locationText(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = locationText(part); !text.empty())
        return text;
  return "";
}
} // namespace dgemm::emu

static const llvm::StringSet<> &plainLLVMOps() {
  static const llvm::StringSet<> names = {"add",
                                          "sub",
                                          "mul",
                                          "udiv",
                                          "sdiv",
                                          "urem",
                                          "srem",
                                          "and",
                                          "or",
                                          "xor",
                                          "shl",
                                          "lshr",
                                          "ashr",
                                          "icmp",
                                          "fcmp",
                                          "fadd",
                                          "fsub",
                                          "fmul",
                                          "fdiv",
                                          "frem",
                                          "fneg",
                                          "zext",
                                          "sext",
                                          "trunc",
                                          "fptrunc",
                                          "fpext",
                                          "sitofp",
                                          "uitofp",
                                          "fptosi",
                                          "fptoui",
                                          "ptrtoint",
                                          "inttoptr",
                                          "bitcast",
                                          "addrspacecast",
                                          "getelementptr",
                                          "load",
                                          "store",
                                          "alloca",
                                          "br",
                                          "cond_br",
                                          "switch",
                                          "return",
                                          "unreachable",
                                          "select",
                                          "extractvalue",
                                          "insertvalue",
                                          "extractelement",
                                          "insertelement",
                                          "shufflevector",
                                          "mlir.constant",
                                          "mlir.undef",
                                          "mlir.poison",
                                          "mlir.zero",
                                          "mlir.addressof",
                                          "freeze",
                                          "fence",
                                          "atomicrmw",
                                          "cmpxchg",
                                          "func",
                                          "mlir.global"};
  return names;
}

static const llvm::StringSet<> &intrinsics() {
  static const llvm::StringSet<> names = {
      "fma",      "fmuladd", "umin",      "umax",     "smin",       "smax",
      "abs",      "fabs",    "minnum",    "maxnum",   "minimum",    "maximum",
      "ctpop",    "ctlz",    "cttz",      "bswap",    "bitreverse", "fshl",
      "fshr",     "exp",     "exp2",      "log",      "log2",       "log10",
      "sin",      "cos",     "tanh",      "sqrt",     "pow",        "floor",
      "ceil",     "rint",    "nearbyint", "round",    "roundeven",  "trunc",
      "copysign", "assume",  "expect",    "usub.sat", "uadd.sat",   "ssub.sat",
      "sadd.sat"};
  return names;
}

static const llvm::StringSet<> &nvvmOps() {
  static const llvm::StringSet<> names = {
      "mbarrier.init",
      "mbarrier.inval",
      "mbarrier.arrive",
      "mbarrier.arrive.expect_tx",
      "mbarrier.expect_tx",
      "mbarrier.try_wait.parity",
      "mbarrier.try_wait",
      "mbarrier.test.wait",
      "fence.mbarrier.init",
      "fence.proxy",
      "fence.sc.cluster",
      "memory.barrier",
      "barrier0",
      "barrier",
      "barrier.arrive",
      "cluster.arrive",
      "cluster.arrive.relaxed",
      "cluster.wait",
      "setmaxregister",
      "elect.sync",
      "shfl.sync",
      "bar.warp.sync",
      "mapa",
      "stmatrix",
      "ldmatrix",
      "mma.sync",
      "prefetch",
      "cp.async.shared.global",
      "cp.async.commit.group",
      "cp.async.wait.group",
      "cp.async.mbarrier.arrive",
      "cp.async.bulk.tensor.prefetch",
      "cp.async.bulk.prefetch",
      "cp.async.bulk.tensor.shared.cluster.global",
      "cp.async.bulk.tensor.global.shared.cta",
      "cp.async.bulk.tensor.reduce",
      "cp.async.bulk.shared.cluster.global",
      "cp.async.bulk.global.shared.cta",
      "cp.async.bulk.commit.group",
      "cp.async.bulk.wait_group",
      "wgmma.fence.aligned",
      "wgmma.commit.group.sync.aligned",
      "wgmma.wait.group.sync.aligned",
      "griddepcontrol",
      "nanosleep",
      "convert.f32x2.to.bf16x2",
      "convert.f32x2.to.f16x2",
      "convert.f32x2.to.f8x2",
      "rcp.approx.ftz.f"};
  return names;
}

/// Forms of known ops that are not executed; the text says which.
static std::string refusedForm(Operation *op) {
  if (auto load =
          dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)) {
    if (load.getMode() != NVVM::TMALoadMode::TILE)
      return "a mode other than tile";
    if (load.getGroup())
      return "a CTA group";
  }
  if (auto store = dyn_cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op))
    if (store.getMode() != NVVM::TMAStoreMode::TILE)
      return "a mode other than tile";
  if (auto reduce = dyn_cast<NVVM::CpAsyncBulkTensorReduceOp>(op)) {
    if (reduce.getMode() != NVVM::TMAStoreMode::TILE)
      return "a mode other than tile";
    if (uint32_t(reduce.getRedKind()) > 2)
      return "a reduction other than add, min and max";
  }
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op))
    if (barrier.getReductionOp())
      return "a reduction";
  if (auto mma = dyn_cast<NVVM::MmaOp>(op)) {
    auto a = mma.getMultiplicandAPtxType(), b = mma.getMultiplicandBPtxType();
    const auto half = [](auto type) {
      return type &&
             (*type == NVVM::MMATypes::f16 || *type == NVVM::MMATypes::bf16);
    };
    auto result = dyn_cast<LLVM::LLVMStructType>(mma.getType());
    if (mma.getShape().getM() != 16 || mma.getShape().getN() != 8 || !half(a) ||
        !half(b) || !result || !result.getBody().front().isF32() ||
        mma.getLayoutA() != NVVM::MMALayout::row ||
        mma.getLayoutB() != NVVM::MMALayout::col)
      return "anything but m16n8 f16 or bf16 with f32 accumulators, row.col";
  }
  if (auto matrix = dyn_cast<NVVM::StMatrixOp>(op))
    if (matrix.getShape().getM() != 8 || matrix.getShape().getN() != 8)
      return "a shape other than 8x8";
  if (auto matrix = dyn_cast<NVVM::LdMatrixOp>(op))
    if (matrix.getShape().getM() != 8 || matrix.getShape().getN() != 8)
      return "a shape other than 8x8";
  return "";
}

namespace dgemm::emu {
std::string refuse(Operation *op) {
  const StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().stripDialect();
  bool known = false;
  if (dialect == "arith" || dialect == "cf" || dialect == "ub")
    known = true;
  else if (dialect == "scf")
    known = name == "for" || name == "if" || name == "while" ||
            name == "yield" || name == "condition" || name == "index_switch" ||
            name == "execute_region";
  else if (dialect == "llvm")
    known = name.consume_front("intr.") ? intrinsics().contains(name)
                                        : plainLLVMOps().contains(name);
  else if (dialect == "nvvm")
    known = name.starts_with("read.ptx.sreg.") || nvvmOps().contains(name);
  else if (dialect == "dgemm")
    known = isa<mlir::dgemm::WgmmaUndefOp, mlir::dgemm::WgmmaFenceOp,
                mlir::dgemm::WgmmaOp, mlir::dgemm::WgmmaRegistersOp,
                mlir::dgemm::WgmmaWaitOp, mlir::dgemm::MmaSyncOp,
                mlir::dgemm::LoadGlobalOp>(op);
  else if (dialect == "gpu")
    known = name == "module" || name == "module_end";
  else if (dialect == "builtin")
    known = name == "module" || name == "unrealized_conversion_cast";
  std::string form = known ? refusedForm(op) : "";
  if (known && form.empty())
    return "";
  std::string where = locationText(op->getLoc());
  std::string text =
      "emulator: op '" + op->getName().getStringRef().str() + "'";
  if (auto parent = op->getParentOfType<LLVM::LLVMFuncOp>())
    text += " in @" + parent.getName().str();
  if (!where.empty())
    text += " at " + where;
  if (!known) {
    text += " is not known to the emulator";
    if (dialect == "llvm" && op->getName().stripDialect() == "inline_asm")
      text += "; run it on IR before the lowering to assembly text";
    return text;
  }
  return text + " is not executed with " + form;
}
} // namespace dgemm::emu
