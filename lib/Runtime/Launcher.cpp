// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch path: plan, tensor maps, arguments in metadata order, driver call.

#include "dgemm/Runtime/Launcher.h"

#include "dgemm/Runtime/TensorMapEncode.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dgemm::cuda {

// Enough for every kernel form with room to spare; keeps launch() off the heap.
static constexpr size_t kMaxArguments = 32;

Result<uint64_t> WorkspacePool::acquire(int kernel, CUstream stream,
                                        int64_t bytes) {
  const DriverApi &api = owner->api();
  // A stream's id is never reused in a process, its handle may be.
  unsigned long long id = 0;
  if (Status s = api.check(api.cuStreamGetId(stream, &id), "cuStreamGetId"); !s)
    return s;
  std::lock_guard<std::mutex> guard(lock);
  std::vector<DeviceBuffer> &held = buffers[{kernel, id}];
  if (!held.empty() && held.back().size() >= bytes)
    return held.back().address();
  int capturing = 0;
  if (Status s = api.check(api.cuStreamIsCapturing(stream, &capturing),
                           "cuStreamIsCapturing");
      !s)
    return s;
  int64_t present = held.empty() ? 0 : held.back().size();
  if (capturing)
    return Status::error(
        "workspace: " + std::to_string(bytes) + " bytes needed, " +
        std::to_string(present) +
        " in the stream's pool, which cannot grow during graph capture; give a "
        "workspace or reserve it before");
  Result<DeviceBuffer> made = DeviceBuffer::allocate(owner, bytes);
  if (!made)
    return made.status();
  if (Status s = made->fill(0, stream); !s)
    return s;
  held.push_back(std::move(*made));
  return held.back().address();
}

static LaunchAttribute clusterAttribute(const KernelMetadata &kernel) {
  LaunchAttribute attribute;
  attribute.id = kLaunchClusterDimension;
  attribute.value.cluster = {unsigned(kernel.cluster[0]),
                             unsigned(kernel.cluster[1]),
                             unsigned(kernel.cluster[2])};
  return attribute;
}

static int clusterSize(const KernelMetadata &kernel) {
  return kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2];
}

/// Asks the driver how many of the kernel's clusters run at once.
static Status countClusters(const Device &device, const KernelMetadata &kernel,
                            KernelFunction &function) {
  if (clusterSize(kernel) == 1)
    return Status::success();
  LaunchAttribute attribute = clusterAttribute(kernel);
  LaunchConfig config;
  config.gridX = unsigned(clusterSize(kernel));
  config.blockX = unsigned(kernel.threads);
  config.sharedBytes = unsigned(kernel.dynamicSharedMemory);
  config.attributes = &attribute;
  config.attributeCount = 1;
  ContextScope scope(device);
  if (!scope.status())
    return scope.status();
  return device.api().check(
      device.api().cuOccupancyMaxActiveClusters(&function.activeClusters,
                                                function.handle, &config),
      "active clusters of kernel '" + kernel.entry + "'");
}

int LoadedArtifact::usableSMs(int64_t m) const {
  int all = owner->info().smCount;
  Result<int> index = document.selectKernel(m);
  if (!index || functions[*index].activeClusters == 0)
    return all;
  const KernelMetadata &kernel = document.kernels[*index];
  int resident = functions[*index].activeClusters * clusterSize(kernel);
  return std::clamp(resident / kernel.ctasPerSM, 1, all);
}

Result<std::shared_ptr<LoadedArtifact>>
LoadedArtifact::load(std::shared_ptr<Device> device, LaunchMetadata metadata,
                     std::string_view image) {
  if (metadata.chip != "sm_90a")
    return Status::error("artifact is for chip '" + metadata.chip +
                         "', expected 'sm_90a'");
  if (metadata.kernels.empty())
    return Status::error("artifact holds no kernel");
  std::shared_ptr<LoadedArtifact> artifact(
      new LoadedArtifact(device, std::move(metadata)));
  Result<std::unique_ptr<LoadedModule>> module =
      LoadedModule::load(device, image);
  if (!module)
    return module.status();
  artifact->module = std::move(*module);
  for (const KernelMetadata &kernel : artifact->document.kernels) {
    if (kernel.arguments.size() > kMaxArguments)
      return Status::error("kernel '" + kernel.entry + "' has " +
                           std::to_string(kernel.arguments.size()) +
                           " arguments, at most " +
                           std::to_string(kMaxArguments) + " are supported");
    Result<KernelFunction> found = artifact->module->function(
        kernel.entry, kernel.dynamicSharedMemory, kernel.threads);
    if (!found)
      return found.status();
    if (Status s = countClusters(*device, kernel, *found); !s)
      return s;
    artifact->functions.push_back(*found);
  }
  return artifact;
}

/// planLaunch for questions about sizes only: addresses that pass its checks.
static Result<LaunchPlan> planSizes(const LaunchMetadata &metadata,
                                    const LaunchSizes &sizes,
                                    const LaunchOptions &options, int smCount) {
  constexpr uint64_t kAligned = 4096;
  LaunchOperands operands{kAligned, kAligned, kAligned, kAligned,
                          kAligned, kAligned, kAligned};
  return planLaunch(metadata, sizes, operands, options, smCount);
}

Result<int64_t>
LoadedArtifact::workspaceBytes(const LaunchSizes &sizes,
                               const LaunchOptions &options) const {
  Result<LaunchPlan> plan =
      planSizes(document, sizes, options, usableSMs(sizes.m));
  if (!plan)
    return plan.status();
  return plan->workspaceBytes;
}

Status LoadedArtifact::reserveWorkspace(const LaunchSizes &sizes,
                                        const LaunchOptions &options,
                                        CUstream stream) const {
  Result<LaunchPlan> plan =
      planSizes(document, sizes, options, usableSMs(sizes.m));
  if (!plan)
    return plan.status();
  if (plan->grid == 0 || plan->workspaceBytes == 0)
    return Status::success();
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  int kernel = int(plan->kernel - document.kernels.data());
  return workspaces->acquire(kernel, stream, plan->workspaceBytes).status();
}

/// Refuses operands that live on another device than the code.
static Status checkOwners(const Device &device, const KernelMetadata &kernel,
                          const LaunchOperands &operands) {
  auto check = [&](Operand operand) -> Status {
    uint64_t address = operands.address(operand);
    if (address == 0)
      return Status::success();
    Result<int> ordinal = deviceOfPointer(device.api(), address);
    std::string name = std::string("operand ") + toString(operand) + ": ";
    if (!ordinal)
      return Status::error(name + ordinal.message());
    if (*ordinal != device.info().ordinal)
      return Status::error(name + "lies on device " + std::to_string(*ordinal) +
                           ", the kernel is loaded on device " +
                           std::to_string(device.info().ordinal));
    return Status::success();
  };
  for (const TensorMapRecipe &recipe : kernel.tensorMaps)
    if (Status s = check(recipe.operand); !s)
      return s;
  for (const KernelArgument &argument : kernel.arguments)
    if (argument.kind == KernelArgument::Kind::Pointer)
      if (Status s = check(argument.operand); !s)
        return s;
  return Status::success();
}

namespace {
/// Storage of all arguments of one launch: scalars and pointers in 64-bit
/// slots, tensor maps in their own aligned ones.
struct ArgumentStorage {
  std::array<TensorMap, kMaxArguments> maps;
  std::array<uint64_t, kMaxArguments> words = {};
  std::array<void *, kMaxArguments> pointers = {};

  template <typename T> void set(size_t index, T value) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    std::memcpy(&words[index], &value, sizeof(T));
    pointers[index] = &words[index];
  }
};
} // namespace

static Status fillArgument(const Device &device, const LaunchPlan &plan,
                           const LaunchOperands &operands,
                           const LaunchOptions &options, size_t index,
                           ArgumentStorage &storage) {
  using Kind = KernelArgument::Kind;
  const KernelArgument &argument = plan.kernel->arguments[index];
  switch (argument.kind) {
  case Kind::TensorMap: {
    if (argument.tensorMap < 0 ||
        size_t(argument.tensorMap) >= plan.kernel->tensorMaps.size())
      return Status::error("argument " + std::to_string(index) +
                           " names tensor map " +
                           std::to_string(argument.tensorMap) + " of " +
                           std::to_string(plan.kernel->tensorMaps.size()));
    Result<TensorMapValues> values = evaluateTensorMap(
        plan.kernel->tensorMaps[argument.tensorMap], plan.sizes, operands);
    if (!values)
      return values.status();
    storage.pointers[index] = &storage.maps[index];
    return encodeTensorMap(device.api(), *values, storage.maps[index]);
  }
  case Kind::Pointer:
    storage.set(index, operands.address(argument.operand));
    break;
  case Kind::Size32:
    storage.set(index, int32_t(evaluate({argument.symbol, 1, 1}, plan.sizes)));
    break;
  case Kind::Size64:
    storage.set(index, int64_t(evaluate({argument.symbol, 1, 1}, plan.sizes)));
    break;
  case Kind::RasterGroup:
    storage.set(index, int32_t(plan.rasterGroup));
    break;
  case Kind::Alpha:
    storage.set(index, options.alpha);
    break;
  case Kind::Beta:
    storage.set(index, options.beta);
    break;
  }
  return Status::success();
}

Status launch(const LoadedArtifact &artifact, const LaunchSizes &sizes,
              const LaunchOperands &operands, const LaunchOptions &options,
              CUstream stream) {
  const Device &device = *artifact.owner;
  Result<LaunchPlan> planned = planLaunch(artifact.document, sizes, operands,
                                          options, artifact.usableSMs(sizes.m));
  if (!planned)
    return planned.status();
  const LaunchPlan &plan = *planned;
  if (plan.grid == 0)
    return Status::success();
  const KernelMetadata &kernel = *plan.kernel;
  int index = int(plan.kernel - artifact.document.kernels.data());

  ContextScope scope(device);
  if (!scope.status())
    return scope.status();
  if (artifact.checkPointers)
    if (Status s = checkOwners(device, kernel, operands); !s)
      return s;

  LaunchOperands used = operands;
  if (plan.workspaceBytes > 0 && used.workspace == 0) {
    Result<uint64_t> workspace =
        artifact.workspaces->acquire(index, stream, plan.workspaceBytes);
    if (!workspace)
      return workspace.status();
    used.workspace = *workspace;
  }

  ArgumentStorage storage;
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    if (Status s = fillArgument(device, plan, used, options, i, storage); !s)
      return s;

  std::array<LaunchAttribute, 2> attributes;
  unsigned count = 0;
  if (clusterSize(kernel) > 1)
    attributes[count++] = clusterAttribute(kernel);
  if (options.programmaticDependentLaunch) {
    LaunchAttribute &attribute = attributes[count++];
    attribute.id = kLaunchProgrammaticStreamSerialization;
    attribute.value.programmaticStreamSerialization = 1;
  }
  LaunchConfig config;
  config.gridX = unsigned(plan.grid);
  config.blockX = unsigned(kernel.threads);
  config.sharedBytes = unsigned(kernel.dynamicSharedMemory);
  config.stream = stream;
  config.attributes = attributes.data();
  config.attributeCount = count;
  return device.api().check(
      device.api().cuLaunchKernelEx(&config, artifact.functions[index].handle,
                                    storage.pointers.data(), nullptr),
      "launch of kernel '" + kernel.entry + "'");
}

} // namespace dgemm::cuda
