// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The fastest measured schedule of each problem. docs/tuning.md says how a
// record is found for a problem that was not measured itself.

#ifndef DGEMM_TUNINGDB_TUNINGDATABASE_H
#define DGEMM_TUNINGDB_TUNINGDATABASE_H

#include "dgemm/Support/Status.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dgemm {

/// Values of M that stand for all from the one before up to themselves; the
/// last one stands for larger M as well.
inline constexpr int64_t kTuningBuckets[] = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
/// The bucket that stands for `m`, which is at least 1.
int64_t tuningBucket(int64_t m);

class TuningDatabase {
public:
  TuningDatabase();

  /// Takes the records of status ok of this build's versions and a known
  /// device; the others join skipped(). Of several measurements of one schedule
  /// the latest counts (by date, then by order); of several schedules of one
  /// problem, device and L2 state the one with the least median.
  void add(const RecordFile &file);

  /// Adds a text of records that is known to be sound. Lines are read when a
  /// problem like theirs, of whatever M, is first asked for, or when all are;
  /// what was added otherwise comes first. At most once. `text` has to outlive
  /// the database, `name` stands for it in places.
  void addUnread(const char *text, const std::string &name);

  /// Adds what `base` has for problems, devices and L2 states that this
  /// database knows nothing of; what it knows itself comes first whatever the
  /// times. What `base` skipped is not taken over.
  void fillFrom(const TuningDatabase &base);

  /// The best record of exactly this problem, device and L2 state; null: none.
  const LocatedRecord *find(const Problem &problem, const std::string &device,
                            L2State l2) const;
  /// The same for any L2 state: dirty, as the kernel before leaves it, if that
  /// was measured.
  const LocatedRecord *find(const Problem &problem,
                            const std::string &device) const;

  /// The best record of every problem, device and L2 state: by device, then by
  /// problem with rising M.
  std::vector<LocatedRecord> best() const;
  /// The same as the text of a file.
  std::string toText() const;

  bool empty() const { return entries.empty() && !unread; }
  /// Of unread lines those that turned out to be of no use so far.
  std::vector<SkippedRecord> skipped() const;

  /// All that this database could say of a problem with any M, as text: what
  /// depends on the database for this problem has to depend on this.
  std::string describe(const Problem &problem, const std::string &device) const;

  /// A number that no other database of this process has, other than copies.
  uint64_t identity() const { return number; }

private:
  struct Unread;

  uint64_t number;
  /// Per schedule the latest record; the best one stands first.
  std::map<std::string, std::vector<LocatedRecord>> entries;
  std::vector<SkippedRecord> skippedRecords;
  /// Shared by copies, and with the database that was filled up from it.
  std::shared_ptr<Unread> unread;
};

/// The table that is part of this build.
const TuningDatabase &shippedTuningDatabase();

/// "none": an empty database; "shipped" or "": the shipped table; else the
/// file of that name, with the shipped table for what it does not know. A file
/// is read again only after it has changed. Errors: the file cannot be read.
Result<std::shared_ptr<const TuningDatabase>>
openTuningDatabase(const std::string &which);

/// What a program uses for a --db option that may be empty: the option, else
/// $DGEMM_DB, else "shipped".
std::string tuningDatabaseName(const std::string &option);

/// Makes the file `path` hold the best of its own records and those of
/// `others`, in the order of TuningDatabase::best. Says what of its own it left
/// out, and why, in `skipped`.
Status mergeIntoFile(const std::string &path,
                     const std::vector<RecordFile> &others,
                     std::vector<SkippedRecord> &skipped);

} // namespace dgemm

#endif // DGEMM_TUNINGDB_TUNINGDATABASE_H
