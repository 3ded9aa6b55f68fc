// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files and folders with errors as values.

#ifndef DGEMM_SUPPORT_FILE_H
#define DGEMM_SUPPORT_FILE_H

#include "dgemm/Support/Status.h"

#include <string>

namespace dgemm {

/// Whether there is such a file or folder; no when that cannot be told.
bool fileExists(const std::string &path);

/// The whole content. Errors name the path and the reason.
Result<std::string> readFile(const std::string &path);

/// Writes in place, creating or truncating; for files nobody else looks at yet.
Status writeFile(const std::string &path, const std::string &content);

/// Writes a file that others only ever see complete: into a temporary file in
/// the same folder, flushed to disk, then renamed over `path`. On an error the
/// old file is untouched and nothing is left behind.
Status writeFileAtomically(const std::string &path, const std::string &content);

/// A fresh folder under $TMPDIR (or /tmp) that goes away, with its content,
/// when the object does.
class TempDir {
public:
  static Result<TempDir> create();
  TempDir(TempDir &&other) noexcept : folder(std::move(other.folder)) {
    other.folder.clear();
  }
  TempDir &operator=(TempDir &&) = delete;
  ~TempDir();
  const std::string &path() const { return folder; }

private:
  explicit TempDir(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace dgemm

#endif // DGEMM_SUPPORT_FILE_H
