// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Text form of schedules: writing and reading what stands between the angle
// brackets of the schedule attribute.

#include "dgemm/CostModel/Schedule.h"

#include <cctype>
#include <charconv>
#include <set>

namespace dgemm {

int Schedule::chainsInFlight() const {
  if (!overlapPromotion)
    return 1;
  int fit = nPerBlock() > 0 ? 128 / nPerBlock() : 2;
  return std::min(chainsPerStep(), std::max(2, fit));
}

const char *toString(Form form) {
  switch (form) {
  case Form::Plain:
    return "plain";
  case Form::SwapAB:
    return "swap_ab";
  case Form::Register:
    return "register";
  }
  return "plain";
}

const char *toString(ConsumerMode mode) {
  return mode == ConsumerMode::PingPong ? "pingpong" : "cooperative";
}

const char *toString(StoreKind kind) {
  return kind == StoreKind::Vector ? "vector" : "tma";
}

const char *toString(RasterOrder order) {
  return order == RasterOrder::AlongN ? "along_n" : "along_m";
}

const char *toString(SplitKind kind) {
  switch (kind) {
  case SplitKind::None:
    return "none";
  case SplitKind::Cluster:
    return "cluster";
  case SplitKind::Workspace:
    return "workspace";
  case SplitKind::StreamK:
    return "stream_k";
  }
  return "none";
}

const char *toString(Multicast multicast) {
  switch (multicast) {
  case Multicast::None:
    return "none";
  case Multicast::A:
    return "a";
  case Multicast::B:
    return "b";
  }
  return "none";
}

const char *toString(TileSource source) {
  return source == TileSource::Dynamic ? "dynamic" : "static";
}

const char *toString(ScheduleSource source) {
  switch (source) {
  case ScheduleSource::Model:
    return "model";
  case ScheduleSource::Tuned:
    return "tuned";
  case ScheduleSource::User:
    return "user";
  }
  return "model";
}

Result<ScheduleSource> parseScheduleSource(const std::string &text) {
  for (ScheduleSource source :
       {ScheduleSource::Model, ScheduleSource::Tuned, ScheduleSource::User})
    if (text == toString(source))
      return source;
  return Status::error("unknown schedule source '" + text +
                       "'; expected model, tuned or user");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string toString(const Schedule &schedule) {
  const Schedule defaults;
  auto text = [](int value) { return std::to_string(value); };
  std::string out = "tile = " + text(schedule.tileM) + "x" +
                    text(schedule.tileN) + "x" + text(schedule.tileK);
  if (schedule.consumers != defaults.consumers ||
      schedule.mode != defaults.mode || schedule.inTurn != defaults.inTurn) {
    out += ", consumers = " + text(schedule.consumers) + " " +
           toString(schedule.mode);
    if (schedule.inTurn)
      out += " in_turn";
  }
  if (schedule.nBlocks != defaults.nBlocks ||
      schedule.overlapPromotion != defaults.overlapPromotion) {
    out += ", n_blocks = " + text(schedule.nBlocks);
    if (schedule.overlapPromotion)
      out += " overlapped";
  }
  if (schedule.stages != defaults.stages)
    out += ", stages = " + text(schedule.stages);
  if (schedule.kBlocksPerStage != defaults.kBlocksPerStage)
    out += ", kblocks_per_stage = " + text(schedule.kBlocksPerStage);
  if (schedule.swizzleA != defaults.swizzleA ||
      schedule.swizzleB != defaults.swizzleB ||
      schedule.swizzleD != defaults.swizzleD)
    out += ", swizzle = [" + text(schedule.swizzleA) + ", " +
           text(schedule.swizzleB) + ", " + text(schedule.swizzleD) + "]";
  if (schedule.clusterM != defaults.clusterM ||
      schedule.clusterN != defaults.clusterN ||
      schedule.multicast != defaults.multicast) {
    out += ", cluster = " + text(schedule.clusterM) + "x" +
           text(schedule.clusterN);
    if (schedule.multicast != Multicast::None)
      out += std::string(" multicast ") + toString(schedule.multicast);
  }
  if (schedule.promotion != defaults.promotion)
    out += ", promote = " + text(schedule.promotion);
  if (schedule.regsProducer != defaults.regsProducer ||
      schedule.regsConsumer != defaults.regsConsumer)
    out += ", regs = [" + text(schedule.regsProducer) + ", " +
           text(schedule.regsConsumer) + "]";
  if (schedule.rasterOrder != defaults.rasterOrder ||
      schedule.rasterGroup != defaults.rasterGroup)
    out += std::string(", raster = ") + toString(schedule.rasterOrder) +
           " group " + text(schedule.rasterGroup);
  if (schedule.splitK != defaults.splitK ||
      schedule.splitKind != defaults.splitKind) {
    out += ", split_k = " + text(schedule.splitK);
    if (schedule.splitKind != SplitKind::None)
      out += std::string(" ") + toString(schedule.splitKind);
  }
  if (schedule.form != defaults.form)
    out += std::string(", form = ") + toString(schedule.form);
  if (schedule.store != defaults.store)
    out += std::string(", store = ") + toString(schedule.store);
  if (schedule.persistent != defaults.persistent)
    out += std::string(", persistent = ") +
           (schedule.persistent ? "true" : "false");
  if (schedule.ctasPerSM != defaults.ctasPerSM)
    out += ", ctas_per_sm = " + text(schedule.ctasPerSM);
  if (schedule.streamB != defaults.streamB)
    out += std::string(", stream_b = ") + (schedule.streamB ? "true" : "false");
  if (schedule.loadRows != defaults.loadRows)
    out += ", load_rows = " + text(schedule.loadRows);
  if (schedule.tiles != defaults.tiles)
    out += std::string(", tiles = ") + toString(schedule.tiles);
  return out;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Walks the text once; the first failure is kept and every later step fails,
/// so that callers may chain steps with &&.
class ScheduleReader {
public:
  explicit ScheduleReader(const std::string &text) : text(text) {}

  bool atEnd() {
    skipSpace();
    return position == text.size();
  }

  bool fail(const std::string &expected) {
    if (error.empty()) {
      skipSpace();
      std::string found = position == text.size()
                              ? "the end"
                              : "'" + text.substr(position, 16) + "'";
      error = "schedule" +
              (clause.empty() ? std::string() : " clause '" + clause + "'") +
              ": expected " + expected + ", found " + found;
    }
    return false;
  }

  bool tryPunctuation(char c) {
    skipSpace();
    if (!error.empty() || position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  bool punctuation(char c) {
    return tryPunctuation(c) || fail(std::string("'") + c + "'");
  }

  std::string peekWord() {
    skipSpace();
    size_t end = position;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) ||
            text[end] == '_'))
      ++end;
    return text.substr(position, end - position);
  }

  bool tryWord(const char *word) {
    if (!error.empty() || peekWord() != word)
      return false;
    position += std::string(word).size();
    return true;
  }

  /// Digits end where they end: "128x256" is an integer, x, an integer.
  bool integer(int &value) {
    skipSpace();
    if (!error.empty())
      return false;
    auto [end, code] = std::from_chars(text.data() + position,
                                       text.data() + text.size(), value);
    if (code != std::errc())
      return fail("an integer");
    position = end - text.data();
    return true;
  }

  template <typename E>
  bool keyword(E &value, std::initializer_list<E> choices) {
    std::string expected;
    for (E choice : choices) {
      if (tryWord(toString(choice))) {
        value = choice;
        return true;
      }
      expected +=
          (expected.empty() ? "" : " or ") + std::string(toString(choice));
    }
    return fail(expected);
  }

  bool boolean(bool &value) {
    if (tryWord("true"))
      return value = true;
    if (tryWord("false")) {
      value = false;
      return true;
    }
    return fail("true or false");
  }

  std::string clause, error;

private:
  void skipSpace() {
    while (position < text.size() &&
           std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
  }

  const std::string &text;
  size_t position = 0;
};
} // namespace

static bool readTile(ScheduleReader &reader, Schedule &schedule) {
  return reader.integer(schedule.tileM) && reader.punctuation('x') &&
         reader.integer(schedule.tileN) && reader.punctuation('x') &&
         reader.integer(schedule.tileK);
}

static bool readSwizzle(ScheduleReader &reader, Schedule &schedule) {
  return reader.punctuation('[') && reader.integer(schedule.swizzleA) &&
         reader.punctuation(',') && reader.integer(schedule.swizzleB) &&
         reader.punctuation(',') && reader.integer(schedule.swizzleD) &&
         reader.punctuation(']');
}

static bool readCluster(ScheduleReader &reader, Schedule &schedule) {
  if (!reader.integer(schedule.clusterM) || !reader.punctuation('x') ||
      !reader.integer(schedule.clusterN))
    return false;
  return !reader.tryWord("multicast") ||
         reader.keyword(schedule.multicast, {Multicast::A, Multicast::B});
}

static bool readRegisters(ScheduleReader &reader, Schedule &schedule) {
  return reader.punctuation('[') && reader.integer(schedule.regsProducer) &&
         reader.punctuation(',') && reader.integer(schedule.regsConsumer) &&
         reader.punctuation(']');
}

static bool readRaster(ScheduleReader &reader, Schedule &schedule) {
  return reader.keyword(schedule.rasterOrder,
                        {RasterOrder::AlongM, RasterOrder::AlongN}) &&
         (reader.tryWord("group") || reader.fail("group")) &&
         reader.integer(schedule.rasterGroup);
}

static bool readSplit(ScheduleReader &reader, Schedule &schedule) {
  if (!reader.integer(schedule.splitK))
    return false;
  // Whether a kind must stand here depends on the factor, so that is a rule
  // of verifyScheduleAlone, which gives the numbers.
  if (reader.peekWord().empty())
    return true;
  return reader.keyword(
      schedule.splitKind,
      {SplitKind::Cluster, SplitKind::Workspace, SplitKind::StreamK});
}

static bool readClause(ScheduleReader &reader, const std::string &name,
                       Schedule &schedule) {
  if (name == "tile")
    return readTile(reader, schedule);
  if (name == "consumers") {
    if (!reader.integer(schedule.consumers) ||
        !reader.keyword(schedule.mode,
                        {ConsumerMode::Cooperative, ConsumerMode::PingPong}))
      return false;
    schedule.inTurn = reader.tryWord("in_turn");
    return true;
  }
  if (name == "n_blocks") {
    if (!reader.integer(schedule.nBlocks))
      return false;
    schedule.overlapPromotion = reader.tryWord("overlapped");
    return true;
  }
  if (name == "stages")
    return reader.integer(schedule.stages);
  if (name == "kblocks_per_stage")
    return reader.integer(schedule.kBlocksPerStage);
  if (name == "swizzle")
    return readSwizzle(reader, schedule);
  if (name == "cluster")
    return readCluster(reader, schedule);
  if (name == "promote")
    return reader.integer(schedule.promotion);
  if (name == "regs")
    return readRegisters(reader, schedule);
  if (name == "raster")
    return readRaster(reader, schedule);
  if (name == "split_k")
    return readSplit(reader, schedule);
  if (name == "form")
    return reader.keyword(schedule.form,
                          {Form::Plain, Form::SwapAB, Form::Register});
  if (name == "store")
    return reader.keyword(schedule.store, {StoreKind::Tma, StoreKind::Vector});
  if (name == "persistent")
    return reader.boolean(schedule.persistent);
  if (name == "stream_b")
    return reader.boolean(schedule.streamB);
  if (name == "load_rows")
    return reader.integer(schedule.loadRows);
  if (name == "tiles")
    return reader.keyword(schedule.tiles,
                          {TileSource::Static, TileSource::Dynamic});
  return reader.integer(schedule.ctasPerSM);
}

Result<Schedule> parseSchedule(const std::string &text) {
  static const std::set<std::string> names = {
      "tile",     "consumers", "n_blocks", "stages",     "kblocks_per_stage",
      "swizzle",  "cluster",   "promote",  "regs",       "raster",
      "split_k",  "form",      "store",    "persistent", "ctas_per_sm",
      "stream_b", "load_rows", "tiles"};
  Schedule schedule;
  ScheduleReader reader(text);
  std::set<std::string> seen;
  do {
    std::string name = reader.peekWord();
    reader.clause.clear();
    if (seen.empty() && name != "tile")
      reader.fail("'tile' first");
    else if (!names.count(name))
      reader.fail("a clause name (tile, consumers, n_blocks, stages, "
                  "kblocks_per_stage, swizzle, cluster, promote, regs, raster, "
                  "split_k, form, store, persistent, ctas_per_sm, stream_b, "
                  "load_rows, tiles)");
    else if (!seen.insert(name).second)
      reader.fail("each clause once");
    if (!reader.error.empty())
      return Status::error(reader.error);
    reader.tryWord(name.c_str());
    reader.clause = name;
    if (!reader.punctuation('=') || !readClause(reader, name, schedule))
      return Status::error(reader.error);
  } while (reader.tryPunctuation(','));
  if (!reader.atEnd()) {
    reader.fail("',' or the end");
    return Status::error(reader.error);
  }
  return schedule;
}

} // namespace dgemm
