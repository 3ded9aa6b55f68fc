// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The disk cache of artifacts. Many processes share it without locks: an entry
// is a folder that is complete before it gets its name, is never changed
// afterwards, and carries checksums.

#ifndef DGEMM_JIT_ARTIFACTCACHE_H
#define DGEMM_JIT_ARTIFACTCACHE_H

#include "dgemm/JIT/Compiler.h"

#include <optional>
#include <string>

namespace dgemm::jit {

/// SHA-256 in hexadecimal.
std::string contentHash(const std::string &bytes);

class ArtifactCache {
public:
  /// A cache in `folder`, which need not exist; empty: no cache, every load
  /// misses and every store does nothing.
  explicit ArtifactCache(std::string folder) : folder(std::move(folder)) {}

  /// The folder that CompileOptions::cacheDir means: itself, "" for "none",
  /// and by default $DGEMM_CACHE_DIR, $XDG_CACHE_HOME/dgemm or
  /// $HOME/.cache/dgemm.
  static std::string resolveFolder(const std::string &cacheDir);

  /// The entry of `key` (a contentHash), or nothing when there is none or it
  /// is damaged in any way.
  std::optional<Artifact> load(const std::string &key) const;

  /// Publishes an entry. Losing a race against another writer of the same key
  /// is success; a damaged entry is replaced. The error (read-only folder, full
  /// disk) may be ignored: the cache then lacks this entry, nothing else.
  Status store(const std::string &key, const Artifact &artifact) const;

  /// Where the entry of `key` is or would be.
  std::string entryPath(const std::string &key) const;

private:
  std::string folder;
};

} // namespace dgemm::jit

#endif // DGEMM_JIT_ARTIFACTCACHE_H
