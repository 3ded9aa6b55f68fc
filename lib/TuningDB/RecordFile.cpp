// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading, appending to and rewriting files of records.

#include "dgemm/TuningDB/RecordFile.h"

#include "dgemm/Support/File.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dgemm {

std::string toString(const SkippedRecord &skipped) {
  return skipped.place + ": tuning record skipped: " + skipped.reason;
}

RecordFile parseRecords(const std::string &text, const std::string &name) {
  RecordFile file;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    bool finished = end != std::string::npos;
    end = std::min(end, text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    std::string place = name + ":" + std::to_string(++number);
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    if (Result<TuningRecord> record = parseRecord(line))
      file.records.push_back({std::move(*record), std::move(place)});
    else
      file.skipped.push_back(
          {std::move(place), finished ? record.message()
                                      : "the line is not finished; its writer "
                                        "was stopped"});
  }
  return file;
}

Result<RecordFile> readRecordFile(const std::string &path) {
  // Waits for a writer in the middle of a line. Where a file system has no
  // locks, reading goes on without.
  int lock = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock >= 0)
    (void)::flock(lock, LOCK_SH);
  Result<std::string> text = readFile(path);
  if (lock >= 0)
    ::close(lock);
  if (!text)
    return text.status();
  return parseRecords(*text, path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Status fileError(const char *action, const std::string &path) {
  return Status::error(std::string("cannot ") + action + " '" + path +
                       "': " + std::strerror(errno));
}

namespace {
/// A file that is open for appending and locked for this process alone.
class LockedFile {
public:
  static Result<LockedFile> open(const std::string &path) {
    for (;;) {
      int file =
          ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
      if (file < 0)
        return fileError("open", path);
      LockedFile locked(file);
      while (::flock(file, LOCK_EX) != 0)
        if (errno != EINTR)
          return fileError("lock", path);
      // Whoever held the lock may have put another file in place of this one.
      struct stat held, named;
      if (::fstat(file, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
          held.st_dev == named.st_dev && held.st_ino == named.st_ino)
        return locked;
    }
  }
  LockedFile(LockedFile &&other) noexcept
      : file(std::exchange(other.file, -1)) {}
  LockedFile &operator=(LockedFile &&) = delete;
  ~LockedFile() {
    // Closing releases the lock, as the end of the process does.
    if (file >= 0)
      ::close(file);
  }
  int get() const { return file; }

private:
  explicit LockedFile(int file) : file(file) {}
  int file;
};
} // namespace

Status appendRecord(const std::string &path, const TuningRecord &record) {
  Result<LockedFile> file = LockedFile::open(path);
  if (!file)
    return file.status();
  struct stat info;
  if (::fstat(file->get(), &info) != 0)
    return fileError("inspect", path);
  std::string text = toLine(record) + "\n";
  char last = '\n';
  if (info.st_size > 0 && ::pread(file->get(), &last, 1, info.st_size - 1) != 1)
    return fileError("read", path);
  if (last != '\n')
    text.insert(text.begin(), '\n');
  // One call, so that hardly ever anything stops it halfway: a kill in the very
  // moment, which leaves an unfinished line, or a full disk.
  ssize_t count;
  do
    count = ::write(file->get(), text.data(), text.size());
  while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(text.size()))
    return Status::success();
  if (count >= 0)
    errno = ENOSPC;
  Status status = fileError("append to", path);
  if (count > 0)
    (void)!::ftruncate(file->get(), info.st_size);
  return status;
}

Status rewriteRecords(
    const std::string &path,
    const std::function<Result<std::string>(const std::string &)> &change) {
  Result<LockedFile> file = LockedFile::open(path);
  if (!file)
    return file.status();
  Result<std::string> before = readFile(path);
  if (!before)
    return before.status();
  Result<std::string> after = change(*before);
  if (!after)
    return after.status();
  return writeFileAtomically(path, *after);
}

} // namespace dgemm
