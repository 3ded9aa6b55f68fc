// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which records a database takes, and which of them it prefers.

#include "dgemm/TuningDB/TuningDatabase.h"

#include "dgemm/CostModel/DeviceModel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <tuple>

namespace dgemm {

int64_t tuningBucket(int64_t m) {
  for (int64_t bucket : kTuningBuckets)
    if (m <= bucket)
      return bucket;
  return std::end(kTuningBuckets)[-1];
}

TuningDatabase::TuningDatabase() {
  static std::atomic<uint64_t> next = 0;
  number = next++;
}

static std::string keyOf(const Problem &problem, const std::string &device,
                         L2State l2) {
  return device + " " + toString(l2) + " " + toString(problem);
}

/// Why a sound record is not for this database; empty: it is.
static std::string whyNot(const TuningRecord &record) {
  if (record.status != RecordStatus::Ok)
    return std::string("its status is ") + toString(record.status);
  // A name in another case would be another key.
  Result<DeviceModel> device = findDevice(record.device);
  if (!device)
    return device.message();
  if (device->name != record.device)
    return "device '" + record.device + "': expected '" + device->name + "'";
  return whyOutdated(record.versions);
}

/// A file's records as far as they are of use, the others moved to `skipped`.
static std::vector<LocatedRecord> usable(const RecordFile &file,
                                         std::vector<SkippedRecord> &skipped) {
  std::vector<LocatedRecord> records;
  skipped.insert(skipped.end(), file.skipped.begin(), file.skipped.end());
  for (const LocatedRecord &located : file.records) {
    if (std::string reason = whyNot(located.record); !reason.empty())
      skipped.push_back({located.place, std::move(reason)});
    else
      records.push_back(located);
  }
  return records;
}

void TuningDatabase::add(const RecordFile &file) {
  for (LocatedRecord &located : usable(file, skippedRecords)) {
    const TuningRecord &record = located.record;
    std::vector<LocatedRecord> &all =
        entries[keyOf(record.problem, record.device, record.l2)];
    auto same = std::find_if(all.begin(), all.end(), [&](const auto &other) {
      return other.record.schedule == record.schedule;
    });
    if (same == all.end())
      all.push_back(std::move(located));
    else if (same->record.date <= record.date)
      *same = std::move(located);
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
      // The text settles ties, so that the order of files does not matter.
      return std::tuple(a.record.medianUs, toString(a.record.schedule)) <
             std::tuple(b.record.medianUs, toString(b.record.schedule));
    });
  }
}

/// The lines of a text by what their problem says beside M, and a database of
/// those that were asked for.
struct TuningDatabase::Unread {
  struct Line {
    std::string_view text;
    std::string place;
  };
  std::mutex lock;
  /// Under "": lines that do not say it in so many words.
  std::map<std::string_view, std::vector<Line>> lines;
  TuningDatabase read;

  /// "n=..,k=..,.." of a line as toLine writes it.
  static std::string_view likeness(std::string_view line) {
    constexpr std::string_view before = "\"problem\":\"m=";
    size_t begin = line.find(before);
    if (begin == line.npos)
      return "";
    size_t end = line.find('"', begin + before.size());
    begin = line.find(',', begin);
    return end == line.npos || begin >= end
               ? ""
               : line.substr(begin + 1, end - begin - 1);
  }
  static std::string likeness(const Problem &problem) {
    std::string text = toString(problem);
    return text.substr(text.find(',') + 1);
  }

  /// To be called with the lock held.
  void take(std::string_view key) {
    auto found = lines.find(key);
    if (found == lines.end())
      return;
    for (const Line &line : found->second) {
      RecordFile one = parseRecords(std::string(line.text), "");
      for (LocatedRecord &record : one.records)
        record.place = line.place;
      for (SkippedRecord &skipped : one.skipped)
        skipped.place = line.place;
      read.add(one);
    }
    lines.erase(found);
  }
  void takeAll() {
    while (!lines.empty())
      take(lines.begin()->first);
  }
};

void TuningDatabase::addUnread(const char *text, const std::string &name) {
  unread = std::make_shared<Unread>();
  std::string_view rest = text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    unread->lines[Unread::likeness(line)].push_back(
        {line, name + ":" + std::to_string(number)});
  }
}

std::vector<SkippedRecord> TuningDatabase::skipped() const {
  std::vector<SkippedRecord> all = skippedRecords;
  if (unread) {
    std::lock_guard<std::mutex> guard(unread->lock);
    std::vector<SkippedRecord> late = unread->read.skipped();
    all.insert(all.end(), late.begin(), late.end());
  }
  return all;
}

void TuningDatabase::fillFrom(const TuningDatabase &base) {
  for (const auto &[key, records] : base.entries)
    entries.try_emplace(key, records);
  if (!unread)
    unread = base.unread;
}

const LocatedRecord *TuningDatabase::find(const Problem &problem,
                                          const std::string &device,
                                          L2State l2) const {
  auto it = entries.find(keyOf(problem, device, l2));
  if (it != entries.end())
    return &it->second.front();
  if (!unread)
    return nullptr;
  std::lock_guard<std::mutex> guard(unread->lock);
  unread->take("");
  unread->take(Unread::likeness(problem));
  // What is read stays where it is: lines are read with all that are like them.
  return unread->read.find(problem, device, l2);
}

const LocatedRecord *TuningDatabase::find(const Problem &problem,
                                          const std::string &device) const {
  if (const LocatedRecord *dirty = find(problem, device, L2State::Dirty))
    return dirty;
  return find(problem, device, L2State::Clean);
}

std::vector<LocatedRecord> TuningDatabase::best() const {
  std::vector<LocatedRecord> records;
  for (const auto &[key, all] : entries)
    records.push_back(all.front());
  if (unread) {
    std::lock_guard<std::mutex> guard(unread->lock);
    unread->takeAll();
    for (const auto &[key, all] : unread->read.entries)
      if (!entries.count(key))
        records.push_back(all.front());
  }
  auto order = [](const LocatedRecord &located) {
    const TuningRecord &record = located.record;
    Problem others = record.problem;
    others.m = kDynamic;
    return std::tuple(record.device, toString(others), record.problem.m,
                      record.l2);
  };
  std::sort(records.begin(), records.end(),
            [&](const auto &a, const auto &b) { return order(a) < order(b); });
  return records;
}

std::string TuningDatabase::toText() const {
  std::string text;
  for (const LocatedRecord &located : best())
    text += toLine(located.record) + "\n";
  return text;
}

std::string TuningDatabase::describe(const Problem &problem,
                                     const std::string &device) const {
  if (empty())
    return "empty\n";
  std::string text;
  auto add = [&](int64_t m) {
    Problem at = problem;
    at.m = m;
    if (const LocatedRecord *found = find(at, device))
      text += toLine(found->record) + "\n";
  };
  if (problem.m != kDynamic)
    add(problem.m);
  for (int64_t bucket : kTuningBuckets)
    add(bucket);
  return text;
}

Status mergeIntoFile(const std::string &path,
                     const std::vector<RecordFile> &others,
                     std::vector<SkippedRecord> &skipped) {
  return rewriteRecords(path, [&](const std::string &text) {
    RecordFile own = parseRecords(text, path);
    // A file named by mistake is not to be emptied.
    if (own.records.empty() && !own.skipped.empty())
      return Result<std::string>(Status::error(
          "'" + path + "' holds no tuning records and is left as it is: " +
          toString(own.skipped.front())));
    TuningDatabase merged;
    merged.add(own);
    skipped = merged.skipped();
    for (const RecordFile &other : others)
      merged.add(other);
    return Result<std::string>(merged.toText());
  });
}

} // namespace dgemm
