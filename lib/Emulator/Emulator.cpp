// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Launching: from metadata to arguments and tensor maps, and the spreading of
// clusters over host threads.

#include "dgemm/Emulator/Emulator.h"

#include "Faults.h"
#include "Jit.h"
#include "Lowering.h"
#include "Machine.h"
#include "Math.h"

#include "dgemm/InitAllDialects.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

using namespace dgemm;
using namespace dgemm::emu;

struct EmulatorProgram::Impl {
  std::unique_ptr<mlir::MLIRContext> ownContext; ///< createFromText only
  std::vector<Site> sites;
  std::map<std::string, LoweredKernel> kernels;
  std::unique_ptr<HostCode> code;
  std::map<std::string, HostCode::Entry> entries;
};

EmulatorProgram::EmulatorProgram(std::unique_ptr<Impl> i)
    : impl(std::move(i)) {}
EmulatorProgram::~EmulatorProgram() = default;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static Status compile(mlir::ModuleOp l3, EmulatorProgram::Impl &impl) {
  Result<LoweredModule> lowered = lowerToHost(l3);
  if (!lowered)
    return lowered.status();
  Result<std::unique_ptr<HostCode>> code = HostCode::create(*lowered->module);
  if (!code)
    return code.status();
  impl.code = std::move(*code);
  impl.sites = std::move(lowered->sites);
  impl.kernels = std::move(lowered->kernels);
  for (const auto &[name, kernel] : impl.kernels) {
    Result<HostCode::Entry> entry = impl.code->lookup(kernel.entryName);
    if (!entry)
      return entry.status();
    impl.entries[name] = *entry;
  }
  return Status::success();
}

Result<std::unique_ptr<EmulatorProgram>>
EmulatorProgram::create(mlir::ModuleOp l3) {
  auto impl = std::make_unique<Impl>();
  if (Status s = compile(l3, *impl); !s)
    return s;
  return std::unique_ptr<EmulatorProgram>(new EmulatorProgram(std::move(impl)));
}

Result<std::unique_ptr<EmulatorProgram>>
EmulatorProgram::createFromText(const std::string &text) {
  auto impl = std::make_unique<Impl>();
  // The module may hold anything around its kernels.
  mlir::DialectRegistry registry;
  mlir::dgemm::registerAllDialects(registry);
  impl->ownContext = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      impl->ownContext.get(), [&](mlir::Diagnostic &d) {
        diagnostics += (diagnostics.empty() ? "" : "; ") + d.str();
        return mlir::success();
      });
  mlir::ParserConfig config(impl->ownContext.get());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, config, "kernel.mlir");
  if (!module)
    return Status::error("emulator: the IR does not parse: " + diagnostics);
  if (Status s = compile(*module, *impl); !s)
    return s;
  return std::unique_ptr<EmulatorProgram>(new EmulatorProgram(std::move(impl)));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// Kernel arguments of one launch; the storage behind the void** of the
/// trampoline.
struct Arguments {
  std::vector<TensorMapValues> values;
  std::vector<EncodedTensorMap> maps;
  std::vector<uint64_t> scalars;
  std::vector<void *> pointers;
};
} // namespace

static int64_t symbolValue(Symbol symbol, const LaunchSizes &sizes) {
  return evaluate(SizeExpr{symbol, 1, 1}, sizes);
}

static const char *kindName(KernelArgument::Kind kind) {
  switch (kind) {
  case KernelArgument::Kind::TensorMap:
    return "a tensor map";
  case KernelArgument::Kind::Pointer:
    return "a pointer";
  case KernelArgument::Kind::Size64:
    return "a 64-bit size";
  default:
    return "a 32-bit value";
  }
}

static Status makeArguments(const KernelMetadata &meta,
                            const LoweredKernel &kernel, const LaunchPlan &plan,
                            const LaunchOperands &operands,
                            const LaunchOptions &launch, Arguments &out) {
  if (meta.arguments.size() != kernel.parameterBytes.size())
    return Status::error(
        "emulator: @" + meta.entry + " has " +
        plural(int64_t(kernel.parameterBytes.size()), "parameter") +
        ", its launch metadata gives " +
        plural(int64_t(meta.arguments.size()), "argument"));
  out.values.reserve(meta.tensorMaps.size());
  for (const TensorMapRecipe &recipe : meta.tensorMaps) {
    Result<TensorMapValues> values =
        evaluateTensorMap(recipe, plan.sizes, operands);
    if (!values)
      return values.status();
    out.values.push_back(std::move(*values));
    EncodedTensorMap map;
    map.values = &out.values.back();
    map.elementBytes = sizeOf(recipe.type);
    out.maps.push_back(map);
  }
  out.scalars.resize(meta.arguments.size());
  for (size_t i = 0; i < meta.arguments.size(); ++i) {
    const KernelArgument &argument = meta.arguments[i];
    unsigned bytes = 4;
    uint64_t bits = 0;
    float number = 0;
    switch (argument.kind) {
    case KernelArgument::Kind::TensorMap:
      bytes = 0;
      if (argument.tensorMap < 0 ||
          size_t(argument.tensorMap) >= out.maps.size())
        return Status::error(
            "emulator: argument " + std::to_string(i) + " of @" + meta.entry +
            " names tensor map " + std::to_string(argument.tensorMap) +
            ", the metadata has " + std::to_string(out.maps.size()));
      break;
    case KernelArgument::Kind::Pointer:
      bytes = 8;
      bits = operands.address(argument.operand);
      break;
    case KernelArgument::Kind::Size32:
      bits = uint32_t(symbolValue(argument.symbol, plan.sizes));
      break;
    case KernelArgument::Kind::Size64:
      bytes = 8;
      bits = uint64_t(symbolValue(argument.symbol, plan.sizes));
      break;
    case KernelArgument::Kind::RasterGroup:
      bits = uint32_t(plan.rasterGroup);
      break;
    case KernelArgument::Kind::Alpha:
    case KernelArgument::Kind::Beta:
      number = argument.kind == KernelArgument::Kind::Alpha ? launch.alpha
                                                            : launch.beta;
      std::memcpy(&bits, &number, 4);
      break;
    }
    if (bytes != kernel.parameterBytes[i])
      return Status::error(
          "emulator: parameter " + std::to_string(i) + " of @" + meta.entry +
          " has " +
          (kernel.parameterBytes[i] ? plural(kernel.parameterBytes[i], "byte")
                                    : std::string("a tensor map by value")) +
          ", its launch metadata gives " + kindName(argument.kind));
    out.scalars[i] = bits;
    out.pointers.push_back(
        bytes ? static_cast<void *>(&out.scalars[i])
              : static_cast<void *>(&out.maps[size_t(argument.tensorMap)]));
  }
  return Status::success();
}

/// A tensor map whose tensor does not lie inside a buffer would read or write
/// beyond it; the first copy through such a map is reported. (With K = 0 the
/// sizes are clamped to 1, but nothing is copied.)
static void checkMaps(Arguments &arguments, const EmulatorOptions &options) {
  if (options.allocations.empty() || !options.checks.bounds)
    return;
  for (EncodedTensorMap &map : arguments.maps) {
    const TensorMapValues &values = *map.values;
    uint64_t bytes = values.dims[0] * uint64_t(map.elementBytes);
    for (size_t d = 1; d < values.dims.size(); ++d)
      bytes += (values.dims[d] - 1) * values.stridesBytes[d - 1];
    const bool inside =
        std::any_of(options.allocations.begin(), options.allocations.end(),
                    [&](const DeviceAllocation &a) {
                      return values.base >= a.address && bytes <= a.bytes &&
                             values.base + bytes <= a.address + a.bytes;
                    });
    map.bytesOutside = inside ? 0 : bytes;
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void add(EmulatorStatistics &to, const EmulatorStatistics &from) {
  to.clusters += from.clusters;
  to.threadSwitches += from.threadSwitches;
  to.asyncOps += from.asyncOps;
  to.tmaLoads += from.tmaLoads;
  to.tmaLoadBytes += from.tmaLoadBytes;
  to.tmaStores += from.tmaStores;
  to.tmaStoreBytes += from.tmaStoreBytes;
  to.wgmmas += from.wgmmas;
  to.multiplyAdds += from.multiplyAdds;
  to.globalLoadBytes += from.globalLoadBytes;
  to.globalStoreBytes += from.globalStoreBytes;
  to.sharedLoadBytes += from.sharedLoadBytes;
  to.sharedStoreBytes += from.sharedStoreBytes;
  to.sharedAccesses += from.sharedAccesses;
  to.sharedWavefronts += from.sharedWavefronts;
  to.idealWavefronts += from.idealWavefronts;
}

/// Findings of one group of clusters, in the order they were made.
namespace {
struct GroupResult {
  std::vector<Finding> findings;
  /// The first read of rows that nothing has written; empty message: none.
  Finding unwrittenRead;
  bool stopped = false;
};
} // namespace

/// Merges by cluster, so the report does not depend on the number of threads.
static void merge(const std::vector<GroupResult> &results,
                  EmulatorReport &report) {
  std::map<std::string, size_t> known;
  for (const GroupResult &result : results)
    for (const Finding &finding : result.findings) {
      const std::string key =
          std::to_string(int(finding.kind)) + finding.location +
          finding.message.substr(0,
                                 finding.message.find_first_of("0123456789"));
      auto [it, fresh] = known.try_emplace(key, report.findings.size());
      if (fresh)
        report.findings.push_back(finding);
      else
        report.findings[it->second].count += finding.count;
    }
}

static bool holdsNaN(const Problem &problem, const LaunchSizes &sizes,
                     uint64_t address) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(address);
  const int64_t size = sizeOf(problem.d);
  for (int64_t row = 0; row < sizes.m; ++row)
    for (int64_t col = 0; col < sizes.n; ++col)
      if (std::isnan(
              decodeElement(bytes + (row * sizes.ldd + col) * size, problem.d)))
        return true;
  return false;
}

/// Rows of A that nothing has written are NaN. They may be multiplied, since
/// rows of a product do not mix, but no such row may be stored.
static void reportUnwritten(const std::vector<GroupResult> &results,
                            const Problem &problem, const LaunchSizes &sizes,
                            uint64_t address, EmulatorReport &report) {
  for (const GroupResult &result : results) {
    if (result.unwrittenRead.message.empty())
      continue;
    if (holdsNaN(problem, sizes, address))
      report.findings.push_back(result.unwrittenRead);
    return;
  }
}

Status EmulatorProgram::run(const LaunchMetadata &metadata,
                            const LaunchSizes &sizes,
                            const LaunchOperands &hostAddresses,
                            const LaunchOptions &launch,
                            const EmulatorOptions &options,
                            EmulatorReport &report) const {
  report = EmulatorReport();
  if (options.smCount < 1)
    return Status::error(
        "emulator: the device must have at least 1 SM, found " +
        std::to_string(options.smCount));
  Result<LaunchPlan> plan =
      planLaunch(metadata, sizes, hostAddresses, launch, options.smCount);
  if (!plan)
    return plan.status();
  if (plan->grid == 0) {
    report.completed = true;
    return Status::success();
  }
  const KernelMetadata &meta = *plan->kernel;
  auto found = impl->kernels.find(meta.entry);
  if (found == impl->kernels.end())
    return Status::error("emulator: the launch metadata names the kernel @" +
                         meta.entry + ", which the module does not hold");
  const LoweredKernel &kernel = found->second;
  const int clusterSize = meta.cluster[0] * meta.cluster[1] * meta.cluster[2];
  if (kernel.threads && kernel.threads != meta.threads)
    return Status::error("emulator: @" + meta.entry + " is compiled for " +
                         std::to_string(kernel.threads) +
                         " threads, its launch metadata says " +
                         std::to_string(meta.threads));
  if (kernel.clusterSize != clusterSize && kernel.clusterSize != 1)
    return Status::error("emulator: @" + meta.entry + " is compiled for " +
                         "clusters of " + std::to_string(kernel.clusterSize) +
                         ", its launch metadata says " +
                         std::to_string(clusterSize));
  if (meta.threads < 1 || meta.threads > 1024 || clusterSize < 1 ||
      clusterSize > 16 || plan->grid % clusterSize)
    return Status::error(
        "emulator: cannot launch " + std::to_string(plan->grid) + " CTAs of " +
        std::to_string(meta.threads) + " threads in clusters of " +
        std::to_string(clusterSize));
  if (meta.dynamicSharedMemory < 0 ||
      uint64_t(meta.dynamicSharedMemory) > kWindowBytes - 2 * kSharedBase)
    return Status::error(
        "emulator: " + std::to_string(meta.dynamicSharedMemory) +
        " bytes of shared memory; a CTA has at most " +
        std::to_string(kWindowBytes - 2 * kSharedBase));

  Arguments arguments;
  if (Status s =
          makeArguments(meta, kernel, *plan, hostAddresses, launch, arguments);
      !s)
    return s;
  checkMaps(arguments, options);

  LaunchShape shape;
  shape.threads = meta.threads;
  shape.clusterSize = clusterSize;
  shape.grid = plan->grid;
  shape.sharedBytes = meta.dynamicSharedMemory;
  shape.entry = impl->entries.at(meta.entry);
  shape.arguments = arguments.pointers.data();
  shape.sites = &impl->sites;
  shape.asyncCopies = kernel.asyncCopies;
  shape.overlapsPrevious =
      launch.programmaticDependentLaunch || kernel.waitsForGrid;

  const int64_t clusters = plan->grid / clusterSize;
  const unsigned together = kernel.needsResidence ? unsigned(clusters) : 1;
  unsigned workers = options.threads > 0
                         ? unsigned(options.threads)
                         : std::max(1u, std::thread::hardware_concurrency());
  if (kernel.sharesGlobal)
    workers = 1;
  workers = unsigned(std::min<int64_t>(workers, clusters / together));
  std::optional<GlobalMemory> global;
  if (options.checks.races && !options.allocations.empty()) {
    global.emplace(options.allocations, workers > 1);
    shape.global = &*global;
  }
  std::vector<GroupResult> results(size_t(clusters / together));
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status failure;

  const auto work = [&] {
    Machine device;
    if (Status s = device.prepare(options, shape, together); !s) {
      std::lock_guard<std::mutex> lock(mutex);
      failure = std::move(s);
      stop = true;
      return;
    }
    FaultGuard guard;
    for (int64_t group; !stop && (group = next++) < int64_t(results.size());) {
      device.findings.clear();
      device.findingIndex.clear();
      device.runClusters(group * together, together);
      results[size_t(group)].findings = device.findings;
      if (auto &read = device.unwrittenRead; read.site) {
        Finding &finding = results[size_t(group)].unwrittenRead;
        finding.kind = FindingKind::Uninitialized;
        finding.message = read.text + ", and D holds NaN";
        finding.location = device.siteText(read.site);
        read.site = 0;
      }
      results[size_t(group)].stopped = device.stopped;
      if (device.stopped)
        stop = true;
    }
    std::lock_guard<std::mutex> lock(mutex);
    add(report.statistics, device.statistics);
    if (device.timeline.recorded()) {
      report.timelineText = device.timeline.text();
      report.timelineSvg = device.timeline.svg();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < workers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (!failure)
    return failure;
  merge(results, report);
  reportUnwritten(results, metadata.problem, sizes, hostAddresses.d, report);
  report.completed =
      std::none_of(results.begin(), results.end(),
                   [](const GroupResult &r) { return r.stopped; });
  return Status::success();
}

Status dgemm::emulate(mlir::ModuleOp l3, const LaunchMetadata &metadata,
                      const LaunchSizes &sizes,
                      const LaunchOperands &hostAddresses,
                      const LaunchOptions &launch,
                      const EmulatorOptions &options, EmulatorReport &report) {
  Result<std::unique_ptr<EmulatorProgram>> program =
      EmulatorProgram::create(l3);
  if (!program)
    return program.status();
  return (*program)->run(metadata, sizes, hostAddresses, launch, options,
                         report);
}

Status dgemm::emulateText(const std::string &l3Text,
                          const LaunchMetadata &metadata,
                          const LaunchSizes &sizes,
                          const LaunchOperands &hostAddresses,
                          const LaunchOptions &launch,
                          const EmulatorOptions &options,
                          EmulatorReport &report) {
  Result<std::unique_ptr<EmulatorProgram>> program =
      EmulatorProgram::createFromText(l3Text);
  if (!program)
    return program.status();
  return (*program)->run(metadata, sizes, hostAddresses, launch, options,
                         report);
}
