// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the driver library and fills the table of entry points.

#include "dgemm/Runtime/DriverApi.h"

#include <dlfcn.h>
#include <memory>

namespace dgemm::cuda {

Result<const DriverApi *> DriverApi::load(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Status::error("no CUDA driver: cannot load '" + library + "'" +
                         (reason ? ": " + std::string(reason) : ""));
  }
  // Kept for the life of the process: kernels and contexts refer into the
  // driver, which does not survive being unloaded.
  auto table = std::make_unique<DriverApi>();
  const char *missing = nullptr;
#define DGEMM_LOOK_UP(name, parameters)                                        \
  table->name = reinterpret_cast<Code(*) parameters>(dlsym(handle, #name));    \
  if (!table->name && !missing)                                                \
    missing = #name;
  DGEMM_CUDA_DRIVER_CALLS(DGEMM_LOOK_UP)
#undef DGEMM_LOOK_UP
  table->cuFuncLoad =
      reinterpret_cast<Code (*)(Function)>(dlsym(handle, "cuFuncLoad"));
  if (missing)
    return Status::error("the CUDA driver '" + library + "' has no " + missing +
                         "; dgemm needs the driver of CUDA 12.0 or newer");
  if (Status s = table->check(table->cuInit(0), "cuInit"); !s)
    return Status::error("no usable CUDA driver: " + s.message());
  if (Status s = table->check(table->cuDriverGetVersion(&table->driverVersion),
                              "cuDriverGetVersion");
      !s)
    return s;
  return static_cast<const DriverApi *>(table.release());
}

Result<const DriverApi *> DriverApi::get() {
  static const Result<const DriverApi *> loaded = load("libcuda.so.1");
  return loaded;
}

Status DriverApi::check(Code code, const std::string &what) const {
  if (code == 0)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &text);
  std::string message = what + ": ";
  message += name ? name : "CUDA error " + std::to_string(code);
  if (text)
    message += std::string(": ") + text;
  return Status::error(std::move(message));
}

} // namespace dgemm::cuda
