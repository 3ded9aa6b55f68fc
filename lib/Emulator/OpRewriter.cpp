// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Builders of runtime calls, and the rewriting of memory, register, warp and
// conversion ops. Barriers, copies and WGMMA are in OpRewriterAsync.cpp.

#include "OpRewriter.h"

#include "EntryPoints.h"
#include "KnownOps.h"

#include "dgemm/Dialect/Dgemm/IR/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using ::dgemm::DType;
using ::dgemm::Status;
using namespace ::dgemm::emu;

OpRewriter::OpRewriter(ModuleOp m, std::vector<Site> &s)
    : module(m), sites(s), context(m.getContext()), builder(m.getContext()) {
  i16 = builder.getI16Type();
  i32 = builder.getI32Type();
  i64 = builder.getI64Type();
  f32 = builder.getF32Type();
  pointer = LLVM::LLVMPointerType::get(context);
  none = LLVM::LLVMVoidType::get(context);
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Value OpRewriter::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, current->getLoc(), i32,
                                  builder.getI32IntegerAttr(int32_t(value)));
}

Value OpRewriter::constant64(int64_t value) {
  return LLVM::ConstantOp::create(builder, current->getLoc(), i64,
                                  builder.getI64IntegerAttr(value));
}

Value OpRewriter::generic(Value value) {
  if (value.getType() == pointer)
    return value;
  return LLVM::AddrSpaceCastOp::create(builder, current->getLoc(), pointer,
                                       value);
}

Value OpRewriter::call(StringRef name, Type result, ArrayRef<Value> operands) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (Value v : operands) {
    if (isa<LLVM::LLVMPointerType>(v.getType()))
      v = generic(v);
    values.push_back(v);
    types.push_back(v.getType());
  }
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        builder, UnknownLoc::get(context), name,
        LLVM::LLVMFunctionType::get(result ? result : none, types));
  }
  auto op = LLVM::CallOp::create(builder, current->getLoc(), callee, values);
  return result ? op.getResult() : Value();
}

Value OpRewriter::scratch() {
  if (scratchMemory)
    return scratchMemory;
  // One buffer for all accumulators of the function: each is copied in or out
  // by a single call.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = LLVM::ConstantOp::create(builder, function.getLoc(), i32,
                                        builder.getI32IntegerAttr(128));
  scratchMemory = LLVM::AllocaOp::create(builder, function.getLoc(), pointer,
                                         f32, size, /*alignment=*/64);
  return scratchMemory;
}

Value OpRewriter::site() { return constant(currentSite); }

Value OpRewriter::low16(Value word, Type type) {
  Value narrow = LLVM::TruncOp::create(builder, current->getLoc(), i16, word);
  if (type == i16)
    return narrow;
  return LLVM::BitcastOp::create(builder, current->getLoc(), type, narrow);
}

Value OpRewriter::orZero(Value value) { return value ? value : constant(0); }

void OpRewriter::replace(ArrayRef<Value> values) {
  current->replaceAllUsesWith(ValueRange(values));
  current->erase();
}

void OpRewriter::guard(Value predicate) {
  if (!predicate)
    return;
  auto branch = scf::IfOp::create(builder, current->getLoc(), predicate,
                                  /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
}

void OpRewriter::addStep(OpBuilder &at, Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  Site entry;
  entry.op = "loop";
  entry.location = locationText(op->getLoc());
  entry.function = op->getParentOfType<LLVM::LLVMFuncOp>().getName().str();
  sites.push_back(entry);
  currentSite = SiteId(sites.size() - 1);
  current = op;
  builder.restoreInsertionPoint(at.saveInsertionPoint());
  call("emu_step", {}, {site()});
}

void OpRewriter::eraseGlobals() {
  for (LLVM::GlobalOp global :
       llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
    if (global.getAddrSpace() == 3)
      global.erase();
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

Status OpRewriter::rewrite(LLVM::LLVMFuncOp func) {
  function = func;
  scratchMemory = {};
  ordinal = 0;
  // In flight is a handle: an integer wherever such a value goes.
  auto retype = [&](Value value) {
    if (isa<mlir::dgemm::InflightType>(value.getType()))
      value.setType(i64);
  };
  // The widths are read from the ops before their types change.
  SmallVector<Operation *> work;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) { work.push_back(op); });
  fencedA.clear();
  for (Operation *op : work) {
    if (auto multiply = dyn_cast<mlir::dgemm::WgmmaRegistersOp>(op))
      if (multiply.getA().getDefiningOp<mlir::dgemm::WgmmaFenceOp>())
        fencedA.insert(op);
    if (!isa<mlir::dgemm::WgmmaUndefOp>(op))
      continue;
    auto type = cast<mlir::dgemm::InflightType>(op->getResult(0).getType());
    op->setAttr("emu.columns",
                builder.getI32IntegerAttr(int32_t(type.getCols())));
  }
  for (Operation *op : work) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          retype(argument);
    for (Value result : op->getResults())
      retype(result);
  }
  for (Operation *op : work) {
    ++ordinal;
    current = op;
    const StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "nvvm" || dialect == "dgemm" ||
        isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::AtomicRMWOp,
            LLVM::AtomicCmpXchgOp, LLVM::FenceOp>(op)) {
      Site entry;
      entry.op = op->getName().getStringRef().str();
      entry.location = locationText(op->getLoc());
      entry.function = func.getName().str();
      entry.ordinal = ordinal;
      sites.push_back(entry);
      currentSite = SiteId(sites.size() - 1);
    }
    builder.setInsertionPoint(op);
    if (rewriteMemory(op) || rewriteConversions(op))
      continue;
    if (dialect != "nvvm" && dialect != "dgemm")
      continue;
    std::string name = op->getName().getStringRef().str();
    std::string where = locationText(op->getLoc());
    if (rewriteRegisters(op) || rewriteBarriers(op) || rewriteCopies(op) ||
        rewriteWarp(op) || rewriteWgmma(op))
      continue;
    return Status::error("emulator: op '" + name + "'" +
                         (where.empty() ? "" : " at " + where) +
                         " has a form that is not known to the emulator");
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes of a scalar, vector or struct in memory; 0 when unknown.
static unsigned bytesOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  if (type.isIntOrFloat())
    return (type.getIntOrFloatBitWidth() + 7) / 8;
  if (auto vector = dyn_cast<VectorType>(type))
    return unsigned(vector.getNumElements() * vector.getElementTypeBitWidth() +
                    7) /
           8;
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return unsigned(array.getNumElements()) * bytesOf(array.getElementType());
  if (auto fields = dyn_cast<LLVM::LLVMStructType>(type)) {
    unsigned total = 0;
    for (Type field : fields.getBody())
      total += bytesOf(field);
    return total;
  }
  return 0;
}

/// What an access without `alignment` promises: a vector is aligned as a whole,
/// a struct or an array as its largest part.
static unsigned naturalAlignment(Type type) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return naturalAlignment(array.getElementType());
  if (auto fields = dyn_cast<LLVM::LLVMStructType>(type)) {
    unsigned largest = 1;
    for (Type field : fields.getBody())
      largest = std::max(largest, naturalAlignment(field));
    return largest;
  }
  return unsigned(llvm::PowerOf2Ceil(std::max(1u, bytesOf(type))));
}

static int32_t orderBits(LLVM::AtomicOrdering ordering) {
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return kAcquires;
  case LLVM::AtomicOrdering::release:
    return kReleases;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return kAcquires | kReleases;
  default:
    return 0;
  }
}

/// NVPTX's names of scopes; none is the whole system.
static Scope scopeOf(std::optional<StringRef> name) {
  return llvm::StringSwitch<Scope>(name.value_or(""))
      .Cases({"block", "singlethread"}, Scope::Cta)
      .Case("cluster", Scope::Cluster)
      .Default(Scope::Device);
}

void OpRewriter::makeFence(int32_t order, Scope scope) {
  call("emu_fence", {}, {constant(order), constant(int64_t(scope))});
  current->erase();
}

bool OpRewriter::rewriteMemory(Operation *op) {
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto type = cast<LLVM::LLVMPointerType>(address.getType());
    if (type.getAddressSpace() != 3)
      return true;
    Value base = call("emu_shared", i64, {});
    replace({LLVM::IntToPtrOp::create(builder, op->getLoc(), type, base)});
    return true;
  }
  if (auto load = dyn_cast<mlir::dgemm::LoadGlobalOp>(op)) {
    Value predicate = load.getPredicate()
                          ? LLVM::ZExtOp::create(builder, op->getLoc(), i32,
                                                 load.getPredicate())
                                .getResult()
                          : constant(1);
    call("emu_global_load", {},
         {load.getAddress(), constant(bytesOf(load.getType())), predicate,
          scratch(), site()});
    replace({LLVM::LoadOp::create(builder, op->getLoc(), load.getType(),
                                  scratch())});
    return true;
  }
  if (auto fence = dyn_cast<LLVM::FenceOp>(op)) {
    makeFence(orderBits(fence.getOrdering()), scopeOf(fence.getSyncscope()));
    return true;
  }
  Value at;
  Type type;
  unsigned alignment = 0;
  AtomicKind kind = AtomicKind::Load;
  std::optional<LLVM::AtomicOrdering> ordering;
  std::optional<StringRef> scope;
  // Volatile accesses are what kernels poll with; they order nothing.
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    at = load.getAddr();
    type = load.getType();
    alignment = load.getAlignment().value_or(0);
    scope = load.getSyncscope();
    if (load.getOrdering() != LLVM::AtomicOrdering::not_atomic ||
        load.getVolatile_())
      ordering = load.getOrdering();
  } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    at = store.getAddr();
    type = store.getValue().getType();
    alignment = store.getAlignment().value_or(0);
    kind = AtomicKind::Store;
    scope = store.getSyncscope();
    if (store.getOrdering() != LLVM::AtomicOrdering::not_atomic ||
        store.getVolatile_())
      ordering = store.getOrdering();
  } else if (auto update = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    at = update.getPtr();
    type = update.getVal().getType();
    kind = AtomicKind::Update;
    scope = update.getSyncscope();
    // LLVM writes `atom` with no ordering, whatever this op says.
    ordering = LLVM::AtomicOrdering::monotonic;
  } else if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op)) {
    at = exchange.getPtr();
    type = exchange.getVal().getType();
    kind = AtomicKind::Update;
    scope = exchange.getSyncscope();
    ordering = exchange.getSuccessOrdering();
  } else {
    return false;
  }
  const unsigned space =
      cast<LLVM::LLVMPointerType>(at.getType()).getAddressSpace();
  const bool write = kind != AtomicKind::Load;
  if (space == 0 && !ordering)
    return true; // the thread's own stack or parameters
  if (ordering && kind == AtomicKind::Load)
    call("emu_yield", {}, {site()}); // perhaps a poll: let others run first
  if (ordering && write)
    call("emu_progress", {}, {});
  if (space == 3 || space == 7)
    call("emu_shared_access", {},
         {at, constant(bytesOf(type)), constant(write), site()});
  else if (space <= 1 && ordering)
    call("emu_global_atomic", {},
         {at, constant(bytesOf(type)), constant(int64_t(kind)),
          constant(orderBits(*ordering)), constant(int64_t(scopeOf(scope))),
          site()});
  else if (space <= 1)
    call("emu_global_access", {},
         {at, constant(bytesOf(type)), constant(write),
          constant(alignment ? alignment : naturalAlignment(type)), site()});
  return true;
}

//===----------------------------------------------------------------------===//
// Special registers and no-ops
//===----------------------------------------------------------------------===//

static std::optional<SpecialRegister> registerOf(StringRef name) {
  using R = SpecialRegister;
  return llvm::StringSwitch<std::optional<R>>(name)
      .Case("tid.x", R::TidX)
      .Case("tid.y", R::TidY)
      .Case("tid.z", R::TidZ)
      .Case("ntid.x", R::NTidX)
      .Case("ntid.y", R::NTidY)
      .Case("ntid.z", R::NTidZ)
      .Case("ctaid.x", R::CtaIdX)
      .Case("ctaid.y", R::CtaIdY)
      .Case("ctaid.z", R::CtaIdZ)
      .Case("nctaid.x", R::NCtaIdX)
      .Case("nctaid.y", R::NCtaIdY)
      .Case("nctaid.z", R::NCtaIdZ)
      .Case("laneid", R::LaneId)
      .Case("warpid", R::WarpId)
      .Case("warpsize", R::WarpSize)
      .Case("clusterid.x", R::ClusterIdX)
      .Case("nclusterid.x", R::NClusterIdX)
      .Case("cluster.ctarank", R::ClusterCtaRank)
      .Case("cluster.nctarank", R::ClusterNCtaRank)
      .Case("cluster.ctaid.x", R::ClusterCtaIdX)
      .Cases(
          {"cluster.ctaid.y", "cluster.ctaid.z", "clusterid.y", "clusterid.z"},
          R::ClusterCtaIdYZ)
      .Case("cluster.nctaid.x", R::ClusterNCtaIdX)
      .Cases({"cluster.nctaid.y", "cluster.nctaid.z", "nclusterid.y",
              "nclusterid.z"},
             R::ClusterNCtaIdYZ)
      .Case("smid", R::SmId)
      .Default(std::nullopt);
}

bool OpRewriter::rewriteRegisters(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name.consume_front("nvvm.read.ptx.sreg.")) {
    std::optional<SpecialRegister> which = registerOf(name);
    if (!which || op->getResult(0).getType() != i32)
      return false;
    replace({call("emu_sreg", i32, {constant(int64_t(*which))})});
    return true;
  }
  if (auto fence = dyn_cast<NVVM::MembarOp>(op)) {
    const NVVM::MemScopeKind scope = fence.getScope();
    makeFence(kAcquires | kReleases,
              scope == NVVM::MemScopeKind::CTA       ? Scope::Cta
              : scope == NVVM::MemScopeKind::CLUSTER ? Scope::Cluster
                                                     : Scope::Device);
    return true;
  }
  if (isa<NVVM::FenceScClusterOp>(op)) {
    makeFence(kAcquires | kReleases, Scope::Cluster);
    return true;
  }
  // Hints.
  if (isa<NVVM::SetMaxRegisterOp, NVVM::PrefetchOp, NVVM::CpAsyncBulkPrefetchOp,
          NVVM::CpAsyncBulkTensorPrefetchOp, NVVM::NanosleepOp>(op)) {
    op->erase();
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

Value OpRewriter::multiplyRegisters(ValueRange a, ValueRange b, ValueRange c,
                                    int64_t k, DType typeA, DType typeB) {
  Location loc = current->getLoc();
  // A, B, C and D in four parts of the scratch buffer.
  SmallVector<Value> parts;
  for (int32_t part = 0; part < 4; ++part)
    parts.push_back(LLVM::GEPOp::create(builder, loc, pointer, f32, scratch(),
                                        ArrayRef<LLVM::GEPArg>{part * 8}));
  const auto put = [&](ValueRange values, Value to) {
    for (auto [i, value] : llvm::enumerate(values)) {
      Value at = LLVM::GEPOp::create(builder, loc, pointer, f32, to,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
      LLVM::StoreOp::create(builder, loc, value, at);
    }
  };
  put(a, parts[0]);
  put(b, parts[1]);
  put(c, parts[2]);
  call("emu_mma", {},
       {parts[0], parts[1], parts[2], parts[3], constant(k),
        constant(int64_t(typeA)), constant(int64_t(typeB)), site()});
  return parts[3];
}

bool OpRewriter::rewriteWarp(Operation *op) {
  Location loc = op->getLoc();
  if (isa<NVVM::ElectSyncOp>(op)) {
    Value elected = call("emu_elect", i32, {});
    replace(
        {LLVM::TruncOp::create(builder, loc, builder.getI1Type(), elected)});
    return true;
  }
  if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    call("emu_syncwarp", {}, {sync.getMask(), site()});
    op->erase();
    return true;
  }
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    Value value = shuffle.getVal();
    Type type = value.getType();
    if (type != i32)
      value = LLVM::BitcastOp::create(builder, loc, i32, value);
    Value both = call("emu_shuffle", i64,
                      {shuffle.getThreadMask(), value, shuffle.getOffset(),
                       shuffle.getMaskAndClamp(),
                       constant(int64_t(shuffle.getKind())), site()});
    Value word = LLVM::TruncOp::create(builder, loc, i32, both);
    if (type != i32)
      word = LLVM::BitcastOp::create(builder, loc, type, word);
    if (auto pair = dyn_cast<LLVM::LLVMStructType>(shuffle.getType())) {
      Value bit = LLVM::TruncOp::create(
          builder, loc, builder.getI1Type(),
          LLVM::LShrOp::create(builder, loc, both, constant64(32)));
      Value result = LLVM::PoisonOp::create(builder, loc, pair);
      result = LLVM::InsertValueOp::create(builder, loc, result, word,
                                           ArrayRef<int64_t>{0});
      word = LLVM::InsertValueOp::create(builder, loc, result, bit,
                                         ArrayRef<int64_t>{1});
    }
    replace({word});
    return true;
  }
  if (auto matrix = dyn_cast<NVVM::StMatrixOp>(op)) {
    SmallVector<Value> operands = {matrix.getPtr()};
    for (Value source : matrix.getSources())
      operands.push_back(source);
    const size_t count = matrix.getSources().size();
    while (operands.size() < 5)
      operands.push_back(constant(0));
    operands.push_back(constant(int64_t(count)));
    operands.push_back(constant(matrix.getLayout() == NVVM::MMALayout::col));
    operands.push_back(site());
    call("emu_stmatrix", {}, operands);
    op->erase();
    return true;
  }
  if (auto matrix = dyn_cast<NVVM::LdMatrixOp>(op)) {
    auto fields = dyn_cast<LLVM::LLVMStructType>(matrix.getType());
    const int64_t count = fields ? int64_t(fields.getBody().size()) : 1;
    call("emu_ldmatrix", {},
         {matrix.getPtr(), constant(count),
          constant(matrix.getLayout() == NVVM::MMALayout::col), scratch(),
          site()});
    replace({LLVM::LoadOp::create(builder, loc, matrix.getType(), scratch())});
    return true;
  }
  if (auto mma = dyn_cast<NVVM::MmaOp>(op)) {
    const auto dtype = [](NVVM::MMATypes type) {
      return type == NVVM::MMATypes::f16 ? DType::F16 : DType::BF16;
    };
    Value place = multiplyRegisters(
        mma.getOperandA(), mma.getOperandB(), mma.getOperandC(),
        int64_t(mma.getShape().getK()), dtype(*mma.getMultiplicandAPtxType()),
        dtype(*mma.getMultiplicandBPtxType()));
    replace({LLVM::LoadOp::create(builder, loc, mma.getType(), place)});
    return true;
  }
  if (auto mma = dyn_cast<mlir::dgemm::MmaSyncOp>(op)) {
    const OperandRange operands = op->getOperands();
    Value place = multiplyRegisters(operands.slice(0, 4), operands.slice(4, 2),
                                    operands.slice(6, 4), mma.getK(),
                                    mlir::dgemm::toDType(mma.getAType()),
                                    mlir::dgemm::toDType(mma.getBType()));
    SmallVector<Value> results;
    for (int32_t i = 0; i < 4; ++i)
      results.push_back(LLVM::LoadOp::create(
          builder, loc, f32,
          LLVM::GEPOp::create(builder, loc, pointer, f32, place,
                              ArrayRef<LLVM::GEPArg>{i})));
    replace(results);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

bool OpRewriter::rewriteConversions(Operation *op) {
  Location loc = op->getLoc();
  if (auto convert = dyn_cast<NVVM::ConvertF32x2ToBF16x2Op>(op)) {
    Value word = call(
        "emu_bf16x2", i32,
        {convert.getSrcHi(), convert.getSrcLo(), constant(convert.getRelu())});
    Type type = convert.getType();
    replace({type == i32 ? word
                         : LLVM::BitcastOp::create(builder, loc, type, word)});
    return true;
  }
  if (auto convert = dyn_cast<NVVM::ConvertF32x2ToF16x2Op>(op)) {
    Value word = call(
        "emu_f16x2", i32,
        {convert.getSrcHi(), convert.getSrcLo(), constant(convert.getRelu())});
    Type type = convert.getType();
    replace({type == i32 ? word
                         : LLVM::BitcastOp::create(builder, loc, type, word)});
    return true;
  }
  if (auto convert = dyn_cast<NVVM::ConvertF32x2ToF8x2Op>(op)) {
    Type to = convert.getDstTy();
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(to))
      return false;
    Value word =
        call("emu_f8x2", i32,
             {convert.getA(), convert.getB(),
              constant(int64_t(isa<Float8E5M2Type>(to) ? DType::F8E5M2
                                                       : DType::F8E4M3FN)),
              constant(convert.getRelu())});
    replace({low16(word, convert.getType())});
    return true;
  }
  if (isa<NVVM::RcpApproxFtzF32Op>(op)) {
    replace({call("emu_rcp", f32, {op->getOperand(0)})});
    return true;
  }
  // The host may lack these conversions, or flush subnormal numbers in them.
  if (isa<LLVM::FPTruncOp, arith::TruncFOp>(op)) {
    Type to = op->getResult(0).getType();
    if (op->getOperand(0).getType() != f32 || !(to.isBF16() || to.isF16()))
      return true;
    Value word =
        call(to.isBF16() ? "emu_bf16" : "emu_f16", i32, {op->getOperand(0)});
    replace({low16(word, to)});
    return true;
  }
  return false;
}
