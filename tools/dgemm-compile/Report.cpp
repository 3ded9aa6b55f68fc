// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The report of dgemm-compile.

#include "Report.h"

#include "dgemm/CostModel/CostModel.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace dgemm::compile {

/// Limits that a report names.
static constexpr size_t kMaxBottlenecks = 3;

static const jit::KernelResources *findResources(const jit::Artifact &artifact,
                                                 const std::string &entry) {
  for (const jit::KernelResources &resources : artifact.resources)
    if (resources.entry == entry)
      return &resources;
  return nullptr;
}

/// CTAs of this kernel that fit an SM at once, by shared memory, registers and
/// threads. Each CTA also costs 1 KiB of shared memory that the system takes.
static int64_t ctasPerSM(const KernelMetadata &kernel, int registers,
                         const TargetLimits &limits) {
  int64_t bySmem =
      limits.sharedMemoryPerSM / (kernel.dynamicSharedMemory + 1024);
  int64_t byThreads = 2048 / std::max(kernel.threads, 1);
  int64_t byRegisters =
      registers == 0 ? byThreads
                     : limits.registersPerSM / (registers * kernel.threads);
  return std::min({bySmem, byThreads, byRegisters});
}

static void printResources(std::ostream &out, const jit::Artifact &artifact,
                           const KernelMetadata &kernel,
                           const DeviceModel &device) {
  const jit::KernelResources *resources = findResources(artifact, kernel.entry);
  if (resources) {
    out << "  registers      " << resources->registers << " at entry";
    if (kernel.schedule.form != Form::Register)
      out << ", " << kernel.schedule.regsProducer << " producer, "
          << kernel.schedule.regsConsumer << " consumer";
    out << "\n  spills         " << resources->spillStores << " bytes stored, "
        << resources->spillLoads << " bytes loaded, stack "
        << resources->stackFrame << " bytes\n";
    for (const std::string &warning : resources->warnings)
      out << "  warning        " << warning << '\n';
  } else {
    out << "  registers      unknown without a cubin\n";
  }
  out << "  shared memory  "
      << kernel.dynamicSharedMemory + (resources ? resources->sharedMemory : 0)
      << " of " << device.limits.sharedMemoryPerBlock << " bytes\n"
      << "  stages         " << kernel.schedule.stages << " x "
      << kernel.schedule.kBlocksPerStage << " K block(s)\n"
      << "  CTAs per SM    "
      << ctasPerSM(kernel, resources ? resources->registers : 0, device.limits)
      << " fit, " << kernel.ctasPerSM << " wanted, " << kernel.threads
      << " threads each\n";
}

static void printPrediction(std::ostream &out, Problem problem,
                            const KernelMetadata &kernel, int64_t maxM,
                            const DeviceModel &device) {
  // A kernel of a table is judged at the largest M that it takes.
  if (problem.m == kDynamic)
    problem.m = maxM > 0 ? maxM : 4096;
  if (problem.n == kDynamic || problem.k == kDynamic) {
    out << "  predicted      nothing: N or K is known only at run time\n";
    return;
  }
  if (problem.m == 0 || problem.n == 0) {
    out << "  predicted      nothing is launched: M or N is 0\n";
    return;
  }
  CostBreakdown cost = predict(problem, kernel.schedule, device);
  out << "  waves          " << cost.waves << " at M = " << problem.m << '\n'
      << "  predicted      " << toString(cost) << '\n';
  std::vector<Bottleneck> found = bottlenecks(problem, kernel.schedule, device);
  found.resize(std::min(found.size(), kMaxBottlenecks));
  for (const Bottleneck &bottleneck : found) {
    char gain[32];
    std::snprintf(gain, sizeof(gain), "%.1f %%", 100 * bottleneck.gain);
    out << "  held back by   " << bottleneck.limit << ", " << gain
        << " of the time; would need " << bottleneck.remedy << '\n';
  }
}

std::string makeReport(const jit::Artifact &artifact,
                       const DeviceModel &device) {
  std::ostringstream out;
  const LaunchMetadata &metadata = artifact.metadata;
  out << "problem: " << toString(metadata.problem)
      << "\ndevice: " << device.name << '\n';
  for (const DispatchEntry &row : metadata.dispatch) {
    const KernelMetadata &kernel = metadata.kernels[row.kernel];
    out << "kernel " << kernel.entry;
    if (metadata.dispatch.size() > 1)
      out << (row.maxM < 0 ? std::string(", every other M")
                           : ", M <= " + std::to_string(row.maxM));
    out << "\n  schedule       " << toString(kernel.schedule)
        << "\n  chosen by      " << kernel.scheduleSource << '\n';
    printResources(out, artifact, kernel, device);
    printPrediction(out, metadata.problem, kernel, row.maxM, device);
  }
  if (artifact.cubin.empty())
    out << artifact.ptxasLog;
  if (!artifact.scheduleReport.empty()) {
    out << "decisions:\n";
    std::istringstream lines(artifact.scheduleReport);
    for (std::string line; std::getline(lines, line);)
      out << "  " << line << '\n';
  }
  return out.str();
}

} // namespace dgemm::compile
