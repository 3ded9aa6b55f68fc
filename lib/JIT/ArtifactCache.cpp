// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Disk cache: <folder>/<first two digits of key>/<key>/ with one file per part
// and a manifest that names, for each, its size and hash. Writers work in
// <folder>/<two digits>/tmp-* and rename; readers never look there.

#include "dgemm/JIT/ArtifactCache.h"

#include "dgemm/JIT/ArtifactFormat.h"
#include "dgemm/Support/Env.h"
#include "dgemm/Support/File.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
namespace json = llvm::json;

namespace dgemm::jit {

static constexpr int kEntryVersion = 1;
static constexpr const char *kManifest = "manifest.json";
static constexpr const char *kTempPrefix = "tmp-";

std::string contentHash(const std::string &bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string ArtifactCache::resolveFolder(const std::string &cacheDir) {
  if (cacheDir == "none")
    return {};
  if (!cacheDir.empty())
    return cacheDir;
  if (std::string folder = getEnv("DGEMM_CACHE_DIR"); !folder.empty())
    return folder == "none" ? std::string() : folder;
  if (std::string base = getEnv("XDG_CACHE_HOME"); !base.empty())
    return base + "/dgemm";
  if (std::string home = getEnv("HOME"); !home.empty())
    return home + "/.cache/dgemm";
  return {};
}

std::string ArtifactCache::entryPath(const std::string &key) const {
  return folder + "/" + key.substr(0, 2) + "/" + key;
}

std::optional<Artifact> ArtifactCache::load(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  std::string entry = entryPath(key);
  Result<std::string> manifestText = readFile(entry + "/" + kManifest);
  if (!manifestText)
    return std::nullopt;
  llvm::Expected<json::Value> manifest = json::parse(*manifestText);
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return std::nullopt;
  }
  const json::Object *root = manifest->getAsObject();
  if (!root || root->getInteger("version") != kEntryVersion ||
      root->getString("key") != llvm::StringRef(key))
    return std::nullopt;
  const json::Object *files = root->getObject("files");
  if (!files)
    return std::nullopt;

  std::map<std::string, std::string> parts;
  for (const auto &[name, hash] : *files) {
    std::string file = name.str();
    Result<std::string> content = readFile(entry + "/" + file);
    if (!content ||
        hash.getAsString() != llvm::StringRef(contentHash(*content)))
      return std::nullopt;
    parts[file] = std::move(*content);
  }
  Result<Artifact> artifact = fromParts(parts);
  if (!artifact)
    return std::nullopt;
  return std::move(*artifact);
}

/// Removes what killed writers left behind. An hour is far beyond the time any
/// writer takes.
static void removeStaleTemporaries(const std::string &parent) {
  std::error_code error;
  auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename().string().rfind(kTempPrefix, 0) != 0)
      continue;
    std::error_code ignored;
    auto time = fs::last_write_time(it->path(), ignored);
    if (!ignored && now - time > std::chrono::hours(1))
      fs::remove_all(it->path(), ignored);
  }
}

/// A fresh folder in `parent` that no reader looks into. Not by mkdtemp, whose
/// folders are private: users who share a cache read each other's entries.
static Result<std::string> makeTemporary(const std::string &parent) {
  static std::atomic<unsigned> counter = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    // Hosts that share the folder have process ids of their own.
    auto now = std::chrono::system_clock::now().time_since_epoch().count();
    std::string path = parent + "/" + kTempPrefix + std::to_string(::getpid()) +
                       "-" + std::to_string(now) + "-" +
                       std::to_string(counter++);
    if (::mkdir(path.c_str(), 0777) == 0)
      return path;
    if (errno != EEXIST)
      break;
  }
  return Status::error("cannot create a folder in '" + parent +
                       "': " + std::generic_category().message(errno));
}

static Status writeEntry(const std::string &folder, const std::string &key,
                         const Artifact &artifact) {
  json::Object files;
  for (const auto &[name, content] : toParts(artifact)) {
    if (Status status = writeFile(folder + "/" + name, content); !status)
      return status;
    files[name] = contentHash(content);
  }
  json::Value manifest = json::Object{
      {"version", kEntryVersion}, {"key", key}, {"files", std::move(files)}};
  return writeFile(folder + "/" + kManifest,
                   llvm::formatv("{0:2}\n", manifest).str());
}

Status ArtifactCache::store(const std::string &key,
                            const Artifact &artifact) const {
  if (folder.empty())
    return Status::success();
  std::string entry = entryPath(key);
  std::string parent = folder + "/" + key.substr(0, 2);
  std::error_code error;
  // Another process may create any of the folders in between; only their
  // absence afterwards is an error.
  fs::create_directories(parent, error);
  std::error_code ignored;
  if (!fs::is_directory(parent, ignored))
    return Status::error("cannot create cache folder '" + parent +
                         "': " + error.message());
  removeStaleTemporaries(parent);

  Result<std::string> temporary = makeTemporary(parent);
  if (!temporary)
    return temporary.status();
  Status written = writeEntry(*temporary, key, artifact);
  if (!written) {
    fs::remove_all(*temporary, ignored);
    return written;
  }
  fs::rename(*temporary, entry, error);
  if (error && !load(key)) {
    // The name is taken by a damaged entry (or by one that a racing writer is
    // replacing right now): move it away, then try once more.
    if (Result<std::string> away = makeTemporary(parent)) {
      fs::rename(entry, *away + "/damaged", ignored);
      fs::rename(*temporary, entry, error);
      fs::remove_all(*away, ignored);
    }
  }
  if (!error)
    return Status::success();
  fs::remove_all(*temporary, ignored);
  if (load(key))
    return Status::success();
  return Status::error("cannot publish cache entry '" + entry +
                       "': " + error.message());
}

} // namespace dgemm::jit
