// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Says once, and early, what is wrong with a tuning database.

#include "dgemm/Tools/TuningOption.h"

#include "dgemm/TuningDB/TuningDatabase.h"

#include <cstdio>

namespace dgemm {

/// Warnings printed; after an update every record of a large file may be one.
static constexpr size_t kMaxWarnings = 20;

Status checkTuningOption(const std::string &value) {
  std::string name = tuningDatabaseName(value);
  auto database = openTuningDatabase(name);
  if (!database)
    return Status::error(
        (value.empty() ? "variable DGEMM_DB: " : "option --db: ") +
        database.message());
  const std::vector<SkippedRecord> &skipped = (*database)->skipped();
  for (size_t i = 0; i < skipped.size() && i < kMaxWarnings; ++i)
    std::fprintf(stderr, "warning: %s\n", toString(skipped[i]).c_str());
  if (skipped.size() > kMaxWarnings)
    std::fprintf(stderr, "warning: '%s': %zu more tuning records skipped\n",
                 name.c_str(), skipped.size() - kMaxWarnings);
  return Status::success();
}

} // namespace dgemm
