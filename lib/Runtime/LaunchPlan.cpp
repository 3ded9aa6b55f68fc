// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Works out one launch on the host: which kernel, how many CTAs, how much
// workspace, and whether sizes, strides and addresses are what the kernel
// takes. Shared by the CUDA runtime and the emulator.

#include "dgemm/Runtime/KernelInterface.h"
#include "dgemm/Runtime/LaunchMetadata.h"

#include <algorithm>

namespace dgemm {

static Status planError(const std::string &what, const std::string &expected,
                        const std::string &found) {
  return Status::error(what + ": expected " + expected + ", found " + found);
}

static Status checkSize(const char *name, int64_t compiled, int64_t found) {
  if (found < 0 || found > INT32_MAX)
    return planError(name, "a size from 0 to " + std::to_string(INT32_MAX),
                     std::to_string(found));
  if (compiled != kDynamic && compiled != found)
    return planError(name,
                     std::to_string(compiled) + " (compiled into the kernel)",
                     std::to_string(found));
  return Status::success();
}

namespace {
/// One operand as the checks below see it.
struct OperandView {
  Operand operand;
  DType type;
  /// Elements that a stored row holds, its given length, and how many there
  /// are.
  int64_t rowElements, rowLength, rows;
  const char *strideName;
};
} // namespace

/// Whether rows are read or written in 16-byte pieces: by TMA, or in register
/// form by the warps themselves.
static bool wantsWholePieces(const KernelMetadata &kernel, Operand operand) {
  if (kernel.schedule.form == Form::Register)
    return operand == Operand::A || operand == Operand::B;
  return std::any_of(
      kernel.tensorMaps.begin(), kernel.tensorMaps.end(),
      [&](const TensorMapRecipe &map) { return map.operand == operand; });
}

static Status checkOperand(const KernelMetadata &kernel,
                           const OperandView &view, uint64_t address) {
  std::string name = std::string("operand ") + toString(view.operand);
  // Nothing of an empty operand is ever read or written.
  if (view.rowElements == 0 || view.rows == 0)
    return Status::success();
  if (address == 0)
    return planError(name, "an address", "none");
  int64_t size = sizeOf(view.type);
  bool pieces = wantsWholePieces(kernel, view.operand);
  // Without TMA the kernel still reads C and writes D two columns at a time,
  // unless it is transposed in registers.
  bool pairs = (view.operand == Operand::C || view.operand == Operand::D) &&
               kernel.schedule.form == Form::Plain;
  int64_t alignment = pieces ? 16 : pairs ? 2 * size : size;
  if (address % alignment != 0)
    return planError(name,
                     "an address that is a multiple of " +
                         std::to_string(alignment) + " bytes",
                     std::to_string(address) + " (" +
                         std::to_string(address % alignment) + " bytes past)");
  if (view.rowLength < view.rowElements)
    return planError(name,
                     std::string(view.strideName) + " of at least " +
                         std::to_string(view.rowElements) + " elements",
                     std::to_string(view.rowLength));
  int64_t limit = (int64_t(1) << 40) / size;
  if (view.rowLength >= limit)
    return planError(name,
                     std::string(view.strideName) + " below " +
                         std::to_string(limit) + " elements",
                     std::to_string(view.rowLength));
  if (pieces && view.rowLength * size % 16 != 0)
    return planError(name,
                     std::string("rows that are a multiple of 16 bytes (") +
                         view.strideName + " a multiple of " +
                         std::to_string(16 / size) + " elements)",
                     std::string(view.strideName) + " = " +
                         std::to_string(view.rowLength) + ", which is " +
                         std::to_string(view.rowLength * size) + " bytes");
  if (pairs && view.rows > 1 && view.rowLength % 2 != 0)
    return planError(name,
                     std::string("an even ") + view.strideName +
                         " (columns are accessed in pairs)",
                     std::to_string(view.rowLength));
  return Status::success();
}

/// The matrix of scales of one operand, as stored.
static OperandView scaleView(Operand operand, const ScaleSpec &scale,
                             int64_t rows, int64_t k, int64_t rowLength,
                             const char *strideName) {
  int64_t alongRows = scale.rows == 0 ? 1 : ceilDiv(rows, scale.rows);
  int64_t alongK = scale.cols == 0 ? 1 : ceilDiv(k, scale.cols);
  if (scale.major == ScaleMajor::K)
    return {operand, scale.type, alongK, rowLength, alongRows, strideName};
  return {operand, scale.type, alongRows, rowLength, alongK, strideName};
}

static Status checkOperands(const Problem &problem,
                            const KernelMetadata &kernel,
                            const LaunchSizes &sizes,
                            const LaunchOperands &operands) {
  bool aTransposed =
      problem.layout == Layout::TN || problem.layout == Layout::TT;
  bool bTransposed =
      problem.layout == Layout::NT || problem.layout == Layout::TT;
  int64_t m = sizes.m, n = sizes.n, k = sizes.k;
  std::vector<OperandView> views = {
      {Operand::A, problem.a, aTransposed ? m : k, sizes.lda,
       aTransposed ? k : m, "lda"},
      {Operand::B, problem.b, bTransposed ? k : n, sizes.ldb,
       bTransposed ? n : k, "ldb"},
      {Operand::D, problem.d, n, sizes.ldd, m, "ldd"}};
  if (problem.accumulate)
    views.push_back({Operand::C, problem.d, n, sizes.ldc, m, "ldc"});
  if (problem.scaleA.present())
    views.push_back(scaleView(Operand::ScaleA, problem.scaleA, m, k,
                              sizes.ldScaleA, "ld_scale_a"));
  if (problem.scaleB.present())
    views.push_back(scaleView(Operand::ScaleB, problem.scaleB, n, k,
                              sizes.ldScaleB, "ld_scale_b"));
  for (const OperandView &view : views)
    if (Status status =
            checkOperand(kernel, view, operands.address(view.operand));
        !status)
      return status;
  if (operands.workspace % 16 != 0)
    return planError("operand workspace",
                     "an address that is a multiple of 16 bytes",
                     std::to_string(operands.workspace));
  return Status::success();
}

/// CTAs of one launch; an error when the SMs cannot hold one cluster.
static Result<int64_t> gridSize(const KernelMetadata &kernel, int64_t tiles,
                                int64_t sms) {
  int64_t cluster =
      int64_t(kernel.cluster[0]) * kernel.cluster[1] * kernel.cluster[2];
  int64_t work = ceilDiv(tiles * kernel.splitK, cluster) * cluster;
  int64_t grid = work;
  if (kernel.persistent) {
    int64_t resident = sms * kernel.ctasPerSM / cluster * cluster;
    if (resident == 0)
      return planError("SM limit",
                       "room for a cluster of " + std::to_string(cluster) +
                           " CTAs",
                       std::to_string(sms));
    grid = std::min(work, resident);
  }
  if (grid > INT32_MAX)
    return planError("grid", "at most " + std::to_string(INT32_MAX) + " CTAs",
                     std::to_string(grid));
  return grid;
}

/// Whether a kernel that splits K through the workspace can count its parts.
static Status checkSplit(const KernelMetadata &kernel, int64_t tiles,
                         int64_t grid, int64_t k) {
  const Schedule &schedule = kernel.schedule;
  // Counters stand at a fixed place, so that another shape finds them zero.
  int64_t places = kWorkspaceCounters / schedule.consumers;
  if (schedule.splitKind == SplitKind::Workspace &&
      tiles > places / schedule.splitK)
    return planError("tiles",
                     "at most " + std::to_string(places / schedule.splitK) +
                         " where K is split " +
                         std::to_string(schedule.splitK) +
                         " times through the workspace",
                     std::to_string(tiles));
  if (schedule.splitKind != SplitKind::StreamK)
    return Status::success();
  if (grid > places / 2)
    return planError("grid",
                     "at most " + std::to_string(places / 2) +
                         " CTAs where K is dealt out over them",
                     std::to_string(grid));
  // The kernel counts the K steps of up to a wave of tiles in 32 bits.
  int64_t steps =
      ceilDiv(k, int64_t(schedule.tileK) * schedule.kBlocksPerStage);
  if (steps > INT32_MAX / grid)
    return planError("k",
                     "at most " + std::to_string(INT32_MAX / grid) +
                         " steps where they are dealt out over " +
                         std::to_string(grid) + " CTAs",
                     std::to_string(steps));
  return Status::success();
}

Result<LaunchPlan> planLaunch(const LaunchMetadata &metadata,
                              const LaunchSizes &sizes,
                              const LaunchOperands &operands,
                              const LaunchOptions &options, int smCount) {
  const Problem &problem = metadata.problem;
  struct {
    const char *name;
    int64_t compiled, found;
  } dims[] = {{"m", problem.m, sizes.m},
              {"n", problem.n, sizes.n},
              {"k", problem.k, sizes.k}};
  for (auto [name, compiled, found] : dims)
    if (Status status = checkSize(name, compiled, found); !status)
      return status;
  if (smCount < 1)
    return planError("SM count", "at least 1", std::to_string(smCount));
  if (options.smLimit < 0)
    return planError("SM limit", "at least 0", std::to_string(options.smLimit));
  if (options.rasterGroup < 0)
    return planError("raster group", "at least 0",
                     std::to_string(options.rasterGroup));

  Result<int> index = metadata.selectKernel(sizes.m);
  if (!index)
    return index.status();
  LaunchPlan plan;
  plan.kernel = &metadata.kernels[*index];
  plan.sizes = sizes;
  plan.rasterGroup = options.rasterGroup > 0
                         ? options.rasterGroup
                         : plan.kernel->schedule.rasterGroup;
  if (sizes.m == 0 || sizes.n == 0)
    return plan;
  const KernelMetadata &kernel = *plan.kernel;
  if (Status status = checkOperands(problem, kernel, sizes, operands); !status)
    return status;

  if (kernel.schedule.loadRows != 0 && sizes.m > kernel.schedule.loadRows)
    return planError("m",
                     "at most the " + std::to_string(kernel.schedule.loadRows) +
                         " rows that the kernel loads (load_rows)",
                     std::to_string(sizes.m));

  // A cluster works on neighbouring tiles, so each side is padded to it; the
  // padding tiles are walked and store nothing.
  auto padded = [](int64_t tiles, int64_t unit) {
    return ceilDiv(tiles, std::max<int64_t>(unit, 1)) *
           std::max<int64_t>(unit, 1);
  };
  int64_t tiles =
      padded(ceilDiv(sizes.m, kernel.tileM), kernel.schedule.clusterM) *
      padded(ceilDiv(sizes.n, kernel.tileN), kernel.schedule.clusterN);
  // Kernels count work items in 32 bits.
  if (tiles > INT32_MAX / kernel.splitK)
    return planError("tiles",
                     "at most " + std::to_string(INT32_MAX / kernel.splitK),
                     std::to_string(tiles));
  int64_t sms =
      options.smLimit > 0 ? std::min(options.smLimit, smCount) : smCount;
  Result<int64_t> grid = gridSize(kernel, tiles, sms);
  if (!grid)
    return grid.status();
  plan.grid = *grid;
  if (Status status = checkSplit(kernel, tiles, plan.grid, sizes.k); !status)
    return status;
  plan.workspaceBytes = kernel.workspacePerTile * tiles +
                        kernel.workspacePerCta * plan.grid +
                        kernel.workspaceFixed;
  return plan;
}

} // namespace dgemm
