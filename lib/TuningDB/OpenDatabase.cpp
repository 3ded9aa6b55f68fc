// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The database that a program's option, or its absence, stands for.

#include "ShippedTable.h"

#include "dgemm/Support/Env.h"
#include "dgemm/TuningDB/TuningDatabase.h"

#include <mutex>
#include <tuple>

#include <sys/stat.h>

namespace dgemm {

const TuningDatabase &shippedTuningDatabase() {
  static const TuningDatabase database = [] {
    TuningDatabase made;
    made.addUnread(kShippedTable, "shipped table");
    return made;
  }();
  return database;
}

std::string tuningDatabaseName(const std::string &option) {
  if (!option.empty())
    return option;
  std::string variable = getEnv("DGEMM_DB");
  return variable.empty() ? "shipped" : variable;
}

namespace {
/// Tells whether a file is still the one that was read.
using FileState = std::tuple<dev_t, ino_t, off_t, time_t, long>;
struct OpenFile {
  FileState state;
  std::shared_ptr<const TuningDatabase> database;
};
} // namespace

static FileState stateOf(const std::string &path) {
  struct stat info = {};
  (void)::stat(path.c_str(), &info);
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec};
}

Result<std::shared_ptr<const TuningDatabase>>
openTuningDatabase(const std::string &which) {
  using Shared = std::shared_ptr<const TuningDatabase>;
  if (which == "none") {
    static const Shared none = std::make_shared<const TuningDatabase>();
    return none;
  }
  // Lives as long as the program: nothing to own.
  if (which == "shipped" || which.empty())
    return Shared(Shared(), &shippedTuningDatabase());

  static std::mutex mutex;
  static std::map<std::string, OpenFile> files;
  std::lock_guard<std::mutex> lock(mutex);
  // Taken before the file is read: a change in between is noticed next time.
  FileState state = stateOf(which);
  if (auto it = files.find(which);
      it != files.end() && it->second.state == state)
    return it->second.database;
  Result<RecordFile> file = readRecordFile(which);
  if (!file)
    return Status::error("tuning database: " + file.message());
  auto database = std::make_shared<TuningDatabase>();
  database->add(*file);
  database->fillFrom(shippedTuningDatabase());
  files[which] = {state, database};
  return Shared(std::move(database));
}

} // namespace dgemm
