// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a kernel at the machine level (L3a) on the host CPU: the same IR that
// becomes PTX, lowered for the host, with the meaning of TMA, mbarriers, WGMMA,
// clusters and named barriers supplied by a runtime that chooses an adversarial
// order for everything asynchronous and checks every synchronisation rule it
// can see (docs/emulator.md).

#ifndef DGEMM_EMULATOR_EMULATOR_H
#define DGEMM_EMULATOR_EMULATOR_H

#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace dgemm {

/// When asynchronous operations take effect.
enum class AsyncOrder {
  Lazy,  ///< as late as is legal: only when no thread can run
  Eager, ///< at the moment of issue
  Random ///< anywhere in between, by the seed
};
const char *toString(AsyncOrder order);
Result<AsyncOrder> parseAsyncOrder(const std::string &text);

/// Memory the kernel may touch; with at least one entry, every global access
/// is checked against the list.
struct DeviceAllocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string name; ///< shown in reports, e.g. "d"
};

/// Which rules are checked. The meaning of the program does not change with
/// these, only what is reported.
struct EmulatorChecks {
  bool bounds = true;       ///< global and shared accesses inside their buffers
  bool initialized = true;  ///< shared memory read before anything wrote it
  bool proxy = true;        ///< generic writes fenced before async reads
  bool accumulators = true; ///< WGMMA fences, groups and waits
  bool races = true;        ///< happens-before over everything in shared memory
  bool exit = true;         ///< barriers and copies at the end of each CTA
  bool gridWait = true;     ///< griddepcontrol.wait before any global access
};

struct EmulatorOptions {
  uint64_t seed = 1;
  AsyncOrder order = AsyncOrder::Lazy;
  EmulatorChecks checks;
  /// Loop iterations plus thread switches one cluster may take before it is
  /// stopped with a report.
  uint64_t stepLimit = 400'000'000;
  /// Host threads; clusters are spread over them. 0: as many as the machine
  /// has. Kernels whose CTAs talk through global memory use one.
  int threads = 0;
  /// SMs of the emulated device. Small, so that persistent loops are run.
  int smCount = 4;
  /// Model the tensor core's narrow FP8 accumulator (docs/emulator.md).
  bool reducedFp8Accumulator = false;
  /// Gather bank conflicts and traffic.
  bool statistics = false;
  /// Record the ring timeline of this cluster; -1: none.
  int timelineCluster = -1;
  std::vector<DeviceAllocation> allocations;
};

enum class FindingKind {
  Deadlock,
  StepLimit,
  OutOfBounds,
  Misaligned,
  Uninitialized,
  ProxyFence,
  Accumulator,
  Race,
  BarrierMisuse,
  ByteCount,
  ExitState,
  ClusterExit,
  Divergence,
  BadDescriptor,
  GridDependency,
  HostFault
};
const char *toString(FindingKind kind);

/// One broken rule.
struct Finding {
  FindingKind kind = FindingKind::Deadlock;
  std::string message;  ///< plain words, with numbers
  std::string location; ///< IR location and op of the access that broke it
  int64_t count = 1;    ///< times it was seen in this run
  bool fatal = false;   ///< the cluster was stopped here
};

struct EmulatorStatistics {
  uint64_t clusters = 0, threadSwitches = 0, asyncOps = 0;
  uint64_t tmaLoads = 0, tmaLoadBytes = 0;
  uint64_t tmaStores = 0, tmaStoreBytes = 0;
  uint64_t wgmmas = 0, multiplyAdds = 0;
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0;
  uint64_t sharedLoadBytes = 0, sharedStoreBytes = 0;
  /// Shared-memory accesses of whole warps, and the 128-byte wavefronts they
  /// took (equal when there is no bank conflict).
  uint64_t sharedAccesses = 0, sharedWavefronts = 0, idealWavefronts = 0;
};

struct EmulatorReport {
  std::vector<Finding> findings;
  /// False when a cluster was stopped before its end.
  bool completed = false;
  EmulatorStatistics statistics;
  std::string timelineText, timelineSvg;

  /// Ran to the end and nothing was found.
  bool clean() const { return completed && findings.empty(); }
};
/// One line per finding, then a line of totals.
std::string toString(const EmulatorReport &report);

/// A module lowered for the host; runs any number of times, also from several
/// threads at once.
class EmulatorProgram {
public:
  /// Lowers every kernel of an L3a module. The module is not changed. An op
  /// the emulator does not know is refused by name and location.
  static Result<std::unique_ptr<EmulatorProgram>> create(mlir::ModuleOp l3);
  /// The same from MLIR text, in a context of its own.
  static Result<std::unique_ptr<EmulatorProgram>>
  createFromText(const std::string &text);
  ~EmulatorProgram();

  /// Launches as the CUDA runtime would: planLaunch picks kernel and grid, the
  /// tensor maps are worked out from the metadata. Addresses are host
  /// addresses. An error says why nothing ran; what the kernel did wrong is
  /// in `report`.
  Status run(const LaunchMetadata &metadata, const LaunchSizes &sizes,
             const LaunchOperands &hostAddresses, const LaunchOptions &launch,
             const EmulatorOptions &options, EmulatorReport &report) const;

  struct Impl;

private:
  explicit EmulatorProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// create() and run() in one call.
Status emulate(mlir::ModuleOp l3, const LaunchMetadata &metadata,
               const LaunchSizes &sizes, const LaunchOperands &hostAddresses,
               const LaunchOptions &launch, const EmulatorOptions &options,
               EmulatorReport &report);
Status emulateText(const std::string &l3Text, const LaunchMetadata &metadata,
                   const LaunchSizes &sizes,
                   const LaunchOperands &hostAddresses,
                   const LaunchOptions &launch, const EmulatorOptions &options,
                   EmulatorReport &report);

} // namespace dgemm

#endif // DGEMM_EMULATOR_EMULATOR_H
