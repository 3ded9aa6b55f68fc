// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// L1 -> L2: outlines scheduled matmuls into kernels on whole CTA tiles.

#include "KernelUtils.h"
#include "RegisterForm.h"

#include "dgemm/CostModel/Realisation.h"
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h"
#include "dgemm/Runtime/KernelInterface.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::dgemm {
#define GEN_PASS_DEF_DGEMMCREATEKERNELPASS
#include "dgemm/Dialect/Dgemm/Transforms/KernelPasses.h.inc"
} // namespace mlir::dgemm

using namespace mlir;
using namespace mlir::dgemm;
using ::dgemm::DType;
using ::dgemm::Problem;
using ::dgemm::Schedule;

/// A name for a kernel that no symbol of the module has and that PTX takes:
/// letters, digits and underscores.
static std::string uniqueName(ModuleOp module, MatmulOp matmul, int row,
                              bool several) {
  std::string base = "gemm";
  if (auto function = matmul->getParentOfType<FunctionOpInterface>())
    base = function.getName().str();
  for (char &character : base)
    if (!llvm::isAlnum(character))
      character = '_';
  if (base.empty() || llvm::isDigit(base.front()))
    base = "gemm_" + base;
  base += "_kernel";
  if (several)
    base += "_" + std::to_string(row);
  std::string name = base;
  for (int suffix = 0; module.lookupSymbol(name); ++suffix)
    name = base + "_" + std::to_string(suffix);
  return name;
}

/// The K steps that this CTA multiplies of a tile, as a range.
static std::pair<Value, Value> stepsOfTile(OpBuilder &builder, Location loc,
                                           const Schedule &schedule,
                                           TilesOp tiles) {
  if (tiles.getShares())
    return {tiles.getFirstStep(), tiles.getEndStep()};
  Type i32 = builder.getI32Type();
  Value lower = constantI32(builder, loc, 0);
  Value upper = KBlocksOp::create(builder, loc, i32);
  if (schedule.splitK == 1)
    return {lower, upper};
  // Each CTA takes its share of K; late ones may get none.
  Value share = ceilDivide(builder, loc, upper, schedule.splitK);
  Value part;
  if (schedule.splitKind == ::dgemm::SplitKind::Cluster)
    part = ClusterRankOp::create(builder, loc, i32);
  else
    part = SplitPartOp::create(builder, loc, i32);
  Value first = arith::MulIOp::create(builder, loc, part, share);
  lower = arith::MinUIOp::create(builder, loc, first, upper);
  Value last = arith::AddIOp::create(builder, loc, lower, share);
  return {lower, arith::MinUIOp::create(builder, loc, last, upper)};
}

/// The body on whole tiles: for each tile, sum over K blocks, then store.
static void buildBody(KernelOp kernel) {
  const Schedule &schedule = kernel.getSchedule().getValue();
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto fragment =
      FragmentType::get(context, schedule.mmaRows(), schedule.mmaCols(),
                        Float32Type::get(context));
  auto slots = slotTiles(kernel);
  if (schedule.splitKind == ::dgemm::SplitKind::Cluster)
    ClusterStartOp::create(builder, loc);
  waitForGrids(builder, loc);

  bool shares = schedule.splitKind == ::dgemm::SplitKind::StreamK;
  auto tiles = TilesOp::create(builder, loc, ValueRange{}, Value{}, 1, shares);
  builder.setInsertionPointToEnd(&tiles.getBody().front());
  Value m0 = tiles.getRow();
  Value n0 = tiles.getColumn();
  Value zero = ZeroOp::create(builder, loc, fragment);
  Value step = constantI32(builder, loc, 1);
  auto [lower, upper] = stepsOfTile(builder, loc, schedule, tiles);
  auto loop = scf::ForOp::create(
      builder, loc, lower, upper, step, ValueRange{zero},
      [&](OpBuilder &body, Location loc, Value kb, ValueRange carried) {
        Value a = LoadOp::create(body, loc, slots[0].second, "a", m0, kb);
        Value b = LoadOp::create(body, loc, slots[1].second, "b", n0, kb);
        // Swapped, B's rows are the rows of the (transposed) result.
        if (schedule.form == ::dgemm::Form::SwapAB)
          std::swap(a, b);
        Value sum = TileMmaOp::create(body, loc, fragment, a, b, carried[0]);
        scf::YieldOp::create(body, loc, sum);
      });
  TileStoreOp::create(builder, loc, loop.getResult(0), m0, n0, Value{});
  NextOp::create(builder, loc, ValueRange{});
  builder.setInsertionPointAfter(tiles);
  // Others still arrive at this CTA's barriers after its own work is done.
  if (schedule.multicastCtas() > 1)
    ClusterSyncOp::create(builder, loc);
}

namespace {
struct CreateKernelPass
    : public mlir::dgemm::impl::DgemmCreateKernelPassBase<CreateKernelPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<MatmulOp> matmuls;
    module.walk([&](MatmulOp op) { matmuls.push_back(op); });
    for (MatmulOp matmul : matmuls)
      if (failed(outline(module, matmul)))
        return signalPassFailure();
  }

  LogicalResult outline(ModuleOp module, MatmulOp matmul);
};
} // namespace

LogicalResult CreateKernelPass::outline(ModuleOp module, MatmulOp matmul) {
  Attribute decision = matmul.getScheduleAttr();
  if (!decision)
    return matmul.emitOpError("has no schedule; run dgemm-select-schedule or "
                              "give the op a schedule attribute");
  if (SymbolTable::getNearestSymbolTable(matmul) != module)
    return matmul.emitOpError("stands in a symbol table of its own, from where "
                              "its launch cannot name a kernel of the outer "
                              "module");
  if (matmul.hasEpilogue())
    return matmul.emitOpError(
        "has an epilogue region, which has no kernel yet; apply the epilogue "
        "in an op of its own");
  Problem problem = matmul.getProblem();
  if (std::string reason = whyNotRealised(problem); !reason.empty())
    return matmul.emitOpError() << reason;

  SmallVector<ScheduleAttr> schedules;
  SmallVector<StringAttr> sources;
  SmallVector<int64_t> bounds;
  if (auto single = dyn_cast<ScheduleAttr>(decision)) {
    schedules.push_back(single);
    sources.push_back({});
  } else {
    auto dispatch = cast<DispatchAttr>(decision);
    if (dispatch.hasUndecidedRows())
      return matmul.emitOpError("has an undecided row in its dispatch table; "
                                "run dgemm-select-schedule");
    schedules.assign(dispatch.getSchedules().begin(),
                     dispatch.getSchedules().end());
    sources.assign(dispatch.getSources().begin(), dispatch.getSources().end());
    bounds.assign(dispatch.getBounds().begin(), dispatch.getBounds().end());
  }
  for (ScheduleAttr schedule : schedules)
    if (std::string reason = whyNotRealised(problem, schedule.getValue());
        !reason.empty())
      return matmul.emitOpError() << reason;

  for (auto [row, schedule] : llvm::enumerate(schedules)) {
    int64_t rows = schedule.getValue().loadRows;
    bool open = row >= bounds.size() && schedules.size() > 1;
    if (rows != 0 && (open || (row < bounds.size() && bounds[row] > rows)))
      return matmul.emitOpError()
             << "row " << row << " of the table loads " << rows
             << " rows of A (load_rows), but is taken for M up to "
             << (open ? "any size" : std::to_string(bounds[row]));
  }

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  StringRef opSource = matmul.getSource().value_or("user");
  SmallVector<Attribute> symbols;
  for (auto [row, schedule] : llvm::enumerate(schedules)) {
    StringRef source = sources[row] ? sources[row].getValue() : opSource;
    std::string name =
        uniqueName(module, matmul, row, /*several=*/schedules.size() > 1);
    ::dgemm::KernelMetadata metadata = ::dgemm::describeKernel(
        name, problem, schedule.getValue(), source.str());
    auto kernel = KernelOp::create(builder, matmul.getLoc(), name,
                                   ProblemAttr::get(&getContext(), problem),
                                   schedule, source, SmemPlanAttr{});
    Block &block = kernel.getBody().emplaceBlock();
    for (Type type : KernelOp::getParameterTypes(&getContext(), metadata))
      block.addArgument(type, matmul.getLoc());
    if (schedule.getValue().form == ::dgemm::Form::Register)
      buildRegisterBody(kernel);
    else
      buildBody(kernel);
    symbols.push_back(FlatSymbolRefAttr::get(&getContext(), name));
    ++numKernels;
  }

  builder.setInsertionPoint(matmul);
  auto launch = LaunchOp::create(
      builder, matmul.getLoc(), matmul->getResultTypes(), matmul.getA(),
      matmul.getB(), matmul.getScaleA(), matmul.getScaleB(), matmul.getC(),
      matmul.getEpilogueInputs(), matmul.getD(), builder.getArrayAttr(symbols),
      builder.getDenseI64ArrayAttr(bounds));
  matmul->replaceAllUsesWith(launch->getResults());
  matmul->erase();
  return success();
}
