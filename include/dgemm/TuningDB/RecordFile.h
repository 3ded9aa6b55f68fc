// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of tuning records, one a line (JSON Lines). Any number of processes may
// append at once, and each may be killed at any moment: a line is there whole,
// or it is skipped when the file is read.

#ifndef DGEMM_TUNINGDB_RECORDFILE_H
#define DGEMM_TUNINGDB_RECORDFILE_H

#include "dgemm/Support/Status.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <functional>
#include <string>
#include <vector>

namespace dgemm {

/// A record and where it stands, "file:line".
struct LocatedRecord {
  TuningRecord record;
  std::string place;
};

/// A line that is not used, and why.
struct SkippedRecord {
  std::string place; ///< "file:line"
  std::string reason;
};
/// "file:line: tuning record skipped: reason"
std::string toString(const SkippedRecord &skipped);

struct RecordFile {
  std::vector<LocatedRecord> records;
  std::vector<SkippedRecord> skipped;
};

/// The records in a text, blank lines ignored. `name` stands for the file in
/// places.
RecordFile parseRecords(const std::string &text, const std::string &name);

/// The same of a file. Errors: the file cannot be read.
Result<RecordFile> readRecordFile(const std::string &path);

/// Adds a line at the end, creating the file. It is written in one piece while
/// the file is locked against other writers, and after a line that a killed
/// writer left unfinished it begins on a line of its own. On an error (a full
/// disk) the file is as it was.
Status appendRecord(const std::string &path, const TuningRecord &record);

/// Replaces the content by what `change` makes of it (empty for a file that is
/// not there yet), while the file is locked against other writers; readers see
/// the old content or the new. An error of `change` leaves the file as it was.
Status rewriteRecords(
    const std::string &path,
    const std::function<Result<std::string>(const std::string &)> &change);

} // namespace dgemm

#endif // DGEMM_TUNINGDB_RECORDFILE_H
