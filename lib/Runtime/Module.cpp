// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads cubins and PTX text and looks kernels up.

#include "dgemm/Runtime/Module.h"

#include <array>
#include <vector>

namespace dgemm::cuda {

static bool isElf(std::string_view image) {
  return image.substr(0, 4) == std::string_view("\x7f"
                                                "ELF",
                                                4);
}

Result<std::unique_ptr<LoadedModule>>
LoadedModule::load(std::shared_ptr<Device> device, std::string_view image) {
  if (image.empty())
    return Status::error("cannot load an empty code image");
  const DriverApi &api = device->api();
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();

  std::vector<char> info(8192, 0), errors(8192, 0);
  std::array<int, 5> options = {kJitInfoLogBuffer, kJitInfoLogBufferBytes,
                                kJitErrorLogBuffer, kJitErrorLogBufferBytes,
                                kJitLogVerbose};
  // Integer options are passed in the pointer itself.
  auto number = [](size_t n) { return reinterpret_cast<void *>(n); };
  std::array<void *, 5> values = {info.data(), number(info.size() - 1),
                                  errors.data(), number(errors.size() - 1),
                                  number(1)};
  // The driver reads PTX up to its terminating zero, which a view lacks.
  std::string text;
  const void *data = image.data();
  if (!isElf(image)) {
    text = std::string(image);
    data = text.c_str();
  }
  Module module = nullptr;
  Code code = api.cuModuleLoadDataEx(&module, data, unsigned(options.size()),
                                     options.data(), values.data());
  if (Status s = api.check(code, isElf(image) ? "loading a cubin"
                                              : "assembling PTX by the driver");
      !s) {
    std::string log(errors.data());
    return Status::error(s.message() + (log.empty() ? "" : "\n" + log));
  }
  return std::unique_ptr<LoadedModule>(new LoadedModule(
      std::move(device), module,
      isElf(image) ? std::string() : std::string(info.data())));
}

LoadedModule::~LoadedModule() {
  ContextScope scope(*owner);
  if (scope.status().ok())
    owner->api().cuModuleUnload(handle);
}

Result<KernelFunction> LoadedModule::function(const std::string &entry,
                                              int64_t dynamicSharedBytes,
                                              int threads) const {
  const DriverApi &api = owner->api();
  ContextScope scope(*owner);
  if (!scope.status())
    return scope.status();
  KernelFunction found;
  if (Status s = api.check(
          api.cuModuleGetFunction(&found.handle, handle, entry.c_str()),
          "kernel '" + entry + "'");
      !s)
    return s;
  if (dynamicSharedBytes > owner->info().sharedMemoryPerBlock)
    return Status::error("kernel '" + entry + "' needs " +
                         std::to_string(dynamicSharedBytes) +
                         " bytes of dynamic shared memory, the device allows " +
                         std::to_string(owner->info().sharedMemoryPerBlock));
  // Lazy loading would otherwise put the code on the device inside the first
  // launch, which may be under graph capture.
  if (api.cuFuncLoad)
    if (Status s = api.check(api.cuFuncLoad(found.handle),
                             "loading kernel '" + entry + "'");
        !s)
      return s;
  if (Status s = api.check(api.cuFuncSetAttribute(found.handle,
                                                  kFuncMaxDynamicSharedBytes,
                                                  int(dynamicSharedBytes)),
                           "dynamic shared memory of kernel '" + entry + "'");
      !s)
    return s;
  Status failed;
  auto attribute = [&](FunctionAttribute which) {
    int value = 0;
    Status s = api.check(api.cuFuncGetAttribute(&value, which, found.handle),
                         "cuFuncGetAttribute of kernel '" + entry + "'");
    if (!s)
      failed = s;
    return value;
  };
  found.registers = attribute(kFuncRegisters);
  found.localBytes = attribute(kFuncLocalBytes);
  found.staticSharedBytes = attribute(kFuncSharedBytes);
  if (!failed)
    return failed;
  if (Status s = api.check(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                               &found.ctasPerSM, found.handle, threads,
                               size_t(dynamicSharedBytes)),
                           "occupancy of kernel '" + entry + "'");
      !s)
    return s;
  return found;
}

} // namespace dgemm::cuda
