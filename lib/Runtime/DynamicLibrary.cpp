// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Where NVIDIA's libraries may lie.

#include "dgemm/Runtime/DynamicLibrary.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>

namespace dgemm::cuda {

namespace fs = std::filesystem;

void *DynamicLibrary::symbol(const char *name) const {
  return dlsym(handle, name);
}

/// Sub-folders of `base` whose name starts with `prefix`, newest name first.
static std::vector<fs::path> foldersLike(const fs::path &base,
                                         const std::string &prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(base, ignored), end; it != end;
       it.increment(ignored))
    if (it->path().filename().string().rfind(prefix, 0) == 0)
      found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

static std::vector<fs::path> searchFolders() {
  std::vector<fs::path> folders;
  for (const fs::path &toolkit : foldersLike("/usr/local", "cuda")) {
    folders.push_back(toolkit / "lib64");
    folders.push_back(toolkit / "extras/CUPTI/lib64");
    folders.push_back(toolkit / "targets/x86_64-linux/lib");
  }
  for (const char *prefix : {"/usr/local/lib", "/usr/lib", "/opt/conda/lib",
                             "/opt/venv/lib", "/usr/lib/python3"})
    for (const fs::path &python : foldersLike(prefix, "python3"))
      for (const char *packages : {"dist-packages", "site-packages"})
        for (const fs::path &package :
             foldersLike(python / packages / "nvidia", ""))
          folders.push_back(package / "lib");
  return folders;
}

Result<DynamicLibrary>
DynamicLibrary::find(const std::vector<std::string> &names) {
  std::string listed, reason;
  auto open = [&](const std::string &file) -> void * {
    void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      if (const char *text = dlerror())
        reason = text;
    return handle;
  };
  for (const std::string &name : names) {
    if (void *handle = open(name))
      return DynamicLibrary{handle, name};
    listed += (listed.empty() ? "" : ", ") + name;
  }
  std::error_code ignored;
  for (const fs::path &folder : searchFolders())
    for (const std::string &name : names)
      if (fs::exists(folder / name, ignored))
        if (void *handle = open((folder / name).string()))
          return DynamicLibrary{handle, (folder / name).string()};
  return Status::error("none of " + listed + " can be loaded: " + reason);
}

} // namespace dgemm::cuda
