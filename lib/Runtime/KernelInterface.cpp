// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The one place that decides a kernel's parameters and tensor maps.

#include "dgemm/Runtime/KernelInterface.h"

using namespace dgemm;

RowScalePath dgemm::rowScalePath(const Problem &problem,
                                 const Schedule &schedule) {
  if (!problem.scaleA.blockedAlongK())
    return RowScalePath::None;
  // TMA wants the copied column contiguous and 16-byte rows, which the padded
  // M-major layout has by contract and the K-major one has not.
  return stagesScaleA(problem, schedule) ? RowScalePath::Ring
                                         : RowScalePath::Global;
}

bool dgemm::mayHaveRaggedColumns(const Problem &problem) {
  return problem.n == kDynamic || problem.n * sizeOf(problem.d) % 16 != 0;
}

bool dgemm::copiesLastRows(const Problem &problem, const Schedule &schedule,
                           Operand operand) {
  if (schedule.form == Form::Register || schedule.clusterM > 1 ||
      schedule.clusterN > 1)
    return false;
  if (operand == Operand::A && schedule.loadRows != 0)
    return false;
  int64_t rows = operand == Operand::A ? problem.m : problem.n;
  int64_t tile = operand == Operand::A ? schedule.tileM : schedule.tileN;
  return rows == kDynamic || rows % tile != 0;
}

int64_t dgemm::workspacePartBytes(const Schedule &schedule) {
  return int64_t(64) * schedule.mBlocks() * schedule.mmaCols() * 4;
}

static SizeExpr symbolic(Symbol symbol, int64_t divisor = 1) {
  return {symbol, divisor, 1};
}

/// A K-contiguous operand: box of one K block by `rows` rows.
static TensorMapRecipe operandRecipe(Operand operand, DType type, Symbol rows,
                                     Symbol stride, const Schedule &schedule,
                                     int64_t boxRows, int swizzle) {
  TensorMapRecipe recipe;
  recipe.operand = operand;
  recipe.type = type;
  recipe.swizzle = swizzle;
  if (schedule.kBlocksPerStage == 1) {
    recipe.dims = {symbolic(Symbol::K), symbolic(rows)};
    recipe.strides = {symbolic(stride)};
    recipe.box = {schedule.tileK, boxRows};
    return recipe;
  }
  // Several K blocks with one copy: the K blocks are a dimension of their own,
  // so that each lands as a separate swizzled tile. Needs K % tileK == 0.
  recipe.dims = {SizeExpr{Symbol::One, 1, schedule.tileK}, symbolic(rows),
                 symbolic(Symbol::K, schedule.tileK)};
  recipe.strides = {symbolic(stride), SizeExpr{Symbol::One, 1, schedule.tileK}};
  recipe.box = {schedule.tileK, boxRows, schedule.kBlocksPerStage};
  return recipe;
}

/// The same for the last rows, which come with a copy for each K block: their
/// number is known at the launch, and the K blocks keep their places.
static TensorMapRecipe lastRowsRecipe(TensorMapRecipe recipe) {
  recipe.lastRows = true;
  if (recipe.box.size() > 2)
    recipe.box[2] = 1;
  return recipe;
}

static void addTensorMap(KernelMetadata &kernel, TensorMapRecipe recipe) {
  KernelArgument argument;
  argument.kind = KernelArgument::Kind::TensorMap;
  argument.tensorMap = static_cast<int>(kernel.tensorMaps.size());
  argument.operand = recipe.operand;
  kernel.arguments.push_back(argument);
  kernel.tensorMaps.push_back(std::move(recipe));
}

static void addPointer(KernelMetadata &kernel, Operand operand) {
  KernelArgument argument;
  argument.kind = KernelArgument::Kind::Pointer;
  argument.operand = operand;
  kernel.arguments.push_back(argument);
}

static void addSize(KernelMetadata &kernel, Symbol symbol, bool wide) {
  KernelArgument argument;
  argument.kind =
      wide ? KernelArgument::Kind::Size64 : KernelArgument::Kind::Size32;
  argument.symbol = symbol;
  kernel.arguments.push_back(argument);
}

KernelMetadata dgemm::describeKernel(const std::string &entry,
                                     const Problem &problem,
                                     const Schedule &schedule,
                                     const std::string &source) {
  KernelMetadata kernel;
  kernel.entry = entry;
  kernel.schedule = schedule;
  kernel.scheduleSource = source;
  kernel.threads = schedule.threads();
  kernel.cluster[0] = schedule.clusterM * schedule.clusterN;
  if (schedule.splitKind == SplitKind::Cluster)
    kernel.cluster[0] *= schedule.splitK;
  kernel.tileM = schedule.tileM;
  kernel.tileN = schedule.tileN;
  kernel.persistent = schedule.persistent;
  kernel.ctasPerSM = schedule.ctasPerSM;
  kernel.splitK = schedule.splitK;

  if (schedule.meetsInWorkspace()) {
    kernel.workspaceFixed = kWorkspaceCounters * 4;
    int64_t place = schedule.consumers * workspacePartBytes(schedule);
    // A CTA ends in a tile or begins one, hence two parts each.
    if (schedule.splitKind == SplitKind::StreamK)
      kernel.workspacePerCta = 2 * place;
    else
      kernel.workspacePerTile = schedule.splitK * place;
  }

  SmemPlan plan = planSharedMemory(problem, schedule);
  kernel.dynamicSharedMemory = plan.total;

  // One copy brings this CTA's part of a multicast tile.
  int parts = schedule.multicastCtas();
  int rowsA =
      schedule.rowsLoaded() / (schedule.multicast == Multicast::A ? parts : 1);
  int rowsB = schedule.tileN / (schedule.multicast == Multicast::B ? parts : 1);
  if (schedule.form == Form::Register) {
    addPointer(kernel, Operand::A);
    addSize(kernel, Symbol::LdA, /*wide=*/true);
    addPointer(kernel, Operand::B);
    addSize(kernel, Symbol::LdB, /*wide=*/true);
  } else {
    TensorMapRecipe a =
        operandRecipe(Operand::A, problem.a, Symbol::M, Symbol::LdA, schedule,
                      rowsA, schedule.swizzleA);
    TensorMapRecipe b =
        operandRecipe(Operand::B, problem.b, Symbol::N, Symbol::LdB, schedule,
                      rowsB, schedule.swizzleB);
    addTensorMap(kernel, a);
    addTensorMap(kernel, b);
    for (const TensorMapRecipe &recipe : {a, b})
      if (copiesLastRows(problem, schedule, recipe.operand))
        addTensorMap(kernel, lastRowsRecipe(recipe));
  }
  if (rowScalePath(problem, schedule) == RowScalePath::Ring) {
    TensorMapRecipe recipe;
    recipe.operand = Operand::ScaleA;
    recipe.type = problem.scaleA.type;
    recipe.dims = {symbolic(Symbol::M),
                   symbolic(Symbol::K, problem.scaleA.cols)};
    recipe.strides = {symbolic(Symbol::LdScaleA)};
    recipe.box = {schedule.tileM, schedule.kBlocksPerStage};
    addTensorMap(kernel, std::move(recipe));
  }
  if (schedule.store == StoreKind::Tma) {
    TensorMapRecipe recipe;
    recipe.operand = Operand::D;
    recipe.type = problem.d;
    recipe.dims = {symbolic(Symbol::N), symbolic(Symbol::M)};
    recipe.strides = {symbolic(Symbol::LdD)};
    recipe.box = {plan.storeBoxColumns, 64};
    recipe.swizzle = schedule.swizzleD;
    addTensorMap(kernel, std::move(recipe));
  }

  bool storesFromRegisters =
      schedule.store != StoreKind::Tma || mayHaveRaggedColumns(problem);
  if (storesFromRegisters) {
    addPointer(kernel, Operand::D);
    addSize(kernel, Symbol::LdD, /*wide=*/true);
  }
  if (problem.accumulate) {
    addPointer(kernel, Operand::C);
    addSize(kernel, Symbol::LdC, /*wide=*/true);
  }
  if (problem.scaleA.present() &&
      rowScalePath(problem, schedule) != RowScalePath::Ring) {
    addPointer(kernel, Operand::ScaleA);
    addSize(kernel, Symbol::LdScaleA, /*wide=*/true);
  }
  if (problem.scaleB.present()) {
    addPointer(kernel, Operand::ScaleB);
    addSize(kernel, Symbol::LdScaleB, /*wide=*/true);
  }
  if (schedule.meetsInWorkspace())
    addPointer(kernel, Operand::Workspace);
  if (schedule.tiles == TileSource::Dynamic) {
    // The counter of tiles given out, which the kernel leaves at zero.
    addPointer(kernel, Operand::Workspace);
    kernel.workspaceFixed = 16;
  }
  // Sizes are always parameters, so that one launch path serves static and
  // dynamic kernels; a static size is a constant inside the kernel.
  addSize(kernel, Symbol::M, /*wide=*/false);
  addSize(kernel, Symbol::N, /*wide=*/false);
  addSize(kernel, Symbol::K, /*wide=*/false);
  KernelArgument raster;
  raster.kind = KernelArgument::Kind::RasterGroup;
  kernel.arguments.push_back(raster);
  return kernel;
}
