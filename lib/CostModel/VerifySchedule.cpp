// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules a schedule must keep, each with the numbers that broke it and the
// nearest legal value. Rules of the schedule alone come first; those that need
// element types or sizes assume that the former hold.

#include "dgemm/CostModel/Schedule.h"

#include <algorithm>

namespace dgemm {

/// Registers a consumer needs beside accumulators and temporaries. Measured
/// kernels ran without spills with 16 to spare (2 x n112 overlapped, 240
/// registers); fewer cannot hold addresses, phases and loop counters.
static constexpr int kConsumerOverheadRegisters = 16;
/// The same in register form, where row addresses and scales of every K block
/// in flight come on top.
static constexpr int kRegisterFormOverhead = 32;
/// Registers that ptxas 13.0 wants beside the accumulators of one WGMMA, out of
/// those that every thread has before setmaxnreg; with fewer it gives up
/// (C7602).
static constexpr int kWgmmaOverheadRegisters = 26;
/// The unit in which setmaxnreg and the register file deal out registers.
static constexpr int kRegisterUnit = 8;
static constexpr int kMinSetMaxRegisters = 24, kMaxSetMaxRegisters = 240;

namespace {
class Violations {
public:
  void add(std::string message, std::string hint = "") {
    found.push_back({std::move(message), std::move(hint)});
  }
  std::vector<ScheduleViolation> found;
};
} // namespace

static std::string text(int64_t value) { return std::to_string(value); }

/// "name: expected a multiple of unit, found value", with the nearest legal
/// value at or above unit as the hint. False when the rule is broken.
static bool checkMultiple(Violations &out, const char *name, int64_t value,
                          int64_t unit) {
  if (value > 0 && value % unit == 0)
    return true;
  int64_t nearest = std::max((value + unit / 2) / unit * unit, unit);
  out.add(std::string(name) + ": expected a multiple of " + text(unit) +
              ", found " + text(value),
          std::string(name) + " = " + text(nearest));
  return false;
}

static bool checkRange(Violations &out, const char *name, int64_t value,
                       int64_t low, int64_t high) {
  if (value >= low && value <= high)
    return true;
  out.add(std::string(name) + ": expected " + text(low) + " to " + text(high) +
              ", found " + text(value),
          std::string(name) + " = " + text(std::clamp(value, low, high)));
  return false;
}

int registersAtEntry(const Schedule &schedule, const TargetLimits &limits) {
  int threads = schedule.threads() * schedule.ctasPerSM;
  if (threads <= 0)
    return 0;
  int perThread = limits.registersPerSM / threads;
  return std::min(perThread, limits.maxRegistersPerThread) / kRegisterUnit *
         kRegisterUnit;
}

static void checkRegisters(Violations &out, const Schedule &schedule,
                           const TargetLimits &limits) {
  int entry = registersAtEntry(schedule, limits);
  if (schedule.form == Form::Register ||
      (!schedule.usesSetMaxRegisters() && schedule.regsProducer == 0))
    return;
  bool legal = true;
  struct {
    const char *name;
    int value;
  } fields[] = {{"producer registers", schedule.regsProducer},
                {"consumer registers", schedule.regsConsumer}};
  for (auto [name, value] : fields)
    legal = checkRange(out, name, value, kMinSetMaxRegisters,
                       kMaxSetMaxRegisters) &&
            checkMultiple(out, name, value, kRegisterUnit) && legal;
  if (!legal)
    return;
  int pool = entry * (schedule.consumers + 1);
  int used = schedule.regsProducer + schedule.consumers * schedule.regsConsumer;
  if (used <= pool)
    return;
  int fits = (pool - schedule.regsProducer) / schedule.consumers /
             kRegisterUnit * kRegisterUnit;
  std::string hint;
  if (fits >= kMinSetMaxRegisters)
    hint = "regs = [" + text(schedule.regsProducer) + ", " +
           text(std::min(fits, kMaxSetMaxRegisters)) + "] fits";
  out.add("registers: " + text(schedule.regsProducer) + " + " +
              text(schedule.consumers) + " x " + text(schedule.regsConsumer) +
              " = " + text(used) + " used, " + text(pool) + " available (" +
              text(entry) + " at entry x " + text(schedule.consumers + 1) +
              " warpgroups)",
          hint);
}

static void checkConsumers(Violations &out, const Schedule &schedule,
                           const TargetLimits &limits) {
  int maxConsumers = limits.maxThreadsPerBlock / 128 - 1;
  if (schedule.consumers < 1 || schedule.consumers > maxConsumers) {
    out.add(
        "consumers: expected 1 to " + text(maxConsumers) + " (" +
            text(limits.maxThreadsPerBlock) +
            " threads with the producer), found " + text(schedule.consumers),
        "consumers = " + text(std::clamp(schedule.consumers, 1, maxConsumers)));
    return;
  }
  bool pingPong = schedule.mode == ConsumerMode::PingPong;
  if (pingPong && schedule.consumers != 2)
    out.add("consumers: expected 2 in ping-pong, found " +
                text(schedule.consumers),
            "consumers = 2 pingpong");
  int sharing = pingPong ? 1 : schedule.consumers;
  int rows = schedule.mmaRows();
  if (rows % (64 * sharing) != 0) {
    const char *side = schedule.form == Form::SwapAB ? "tile N" : "tile M";
    int nearest =
        std::max((rows + 32 * sharing) / (64 * sharing), 1) * 64 * sharing;
    out.add(std::string(side) + ": expected a multiple of " +
                text(64 * sharing) + " (64 rows for each of " + text(sharing) +
                " warpgroups), found " + text(rows),
            std::string(side) + " = " + text(nearest));
  }
}

static void checkNBlocks(Violations &out, const Schedule &schedule) {
  const char *side = schedule.form == Form::SwapAB ? "tile M" : "tile N";
  int cols = schedule.mmaCols();
  if (schedule.nBlocks < 1) {
    out.add("n_blocks: expected at least 1, found " + text(schedule.nBlocks),
            "n_blocks = 1");
    return;
  }
  if (cols % (8 * schedule.nBlocks) != 0) {
    checkMultiple(out, side, cols, 8 * schedule.nBlocks);
    return;
  }
  if (schedule.nPerBlock() > 256)
    out.add("columns per WGMMA: expected at most 256, found " +
                text(schedule.nPerBlock()),
            "n_blocks = " + text(ceilDiv(cols, 256)));
  if (schedule.overlapPromotion && schedule.chainsPerStep() < 2)
    out.add("n_blocks: overlapped needs at least 2 WGMMA chains in a ring "
            "step, found " +
                text(schedule.chainsPerStep()),
            "n_blocks = 2 overlapped");
}

static std::string withoutInTurn(const Schedule &schedule) {
  return "consumers = " + text(schedule.consumers) + " " +
         toString(schedule.mode) + " without in_turn";
}

/// Two chains of a warpgroup under way at once, or one that runs on into the
/// next K block, would leave the others no turn.
static void checkInTurn(Violations &out, const Schedule &schedule) {
  if (!schedule.inTurn)
    return;
  if (schedule.form == Form::Register)
    out.add("consumers: expected no in_turn in form register, found in_turn",
            withoutInTurn(schedule));
  else if (schedule.mode == ConsumerMode::PingPong || schedule.consumers < 2)
    out.add("consumers: in_turn needs at least 2 cooperative consumers, "
            "found " +
                text(schedule.consumers) + " " + toString(schedule.mode),
            withoutInTurn(schedule));
  else if (schedule.overlapPromotion)
    out.add("consumers: in_turn needs one WGMMA chain of a consumer at a time, "
            "found n_blocks overlapped",
            "n_blocks = " + text(schedule.nBlocks));
}

static void checkCluster(Violations &out, const Schedule &schedule,
                         const TargetLimits &limits) {
  if (schedule.clusterM < 1 || schedule.clusterN < 1) {
    out.add("cluster: expected at least 1x1, found " + text(schedule.clusterM) +
                "x" + text(schedule.clusterN),
            "cluster = 1x1");
    return;
  }
  // Widened: the factors are user input and may be anything.
  int64_t along = int64_t(schedule.clusterM) * schedule.clusterN;
  int64_t depth = schedule.splitKind == SplitKind::Cluster
                      ? std::max(schedule.splitK, 1)
                      : 1;
  if (along > limits.maxClusterSize || along * depth > limits.maxClusterSize)
    out.add("cluster: expected at most " + text(limits.maxClusterSize) +
                " CTAs, found " + text(schedule.clusterM) + "x" +
                text(schedule.clusterN) +
                (depth > 1 ? "x" + text(depth) + " (split K)" : ""),
            depth > 1 ? "split_k = " +
                            text(std::max<int64_t>(
                                limits.maxClusterSize / along, 1)) +
                            " cluster"
                      : "cluster = 2x1");
  if (schedule.multicast == Multicast::B && schedule.clusterM < 2)
    out.add("multicast b: expected a cluster of at least 2 along M, found " +
                text(schedule.clusterM),
            "cluster = 2x1 multicast b");
  if (schedule.multicast == Multicast::A && schedule.clusterN < 2)
    out.add("multicast a: expected a cluster of at least 2 along N, found " +
                text(schedule.clusterN),
            "cluster = 1x2 multicast a");
  // A slice of several K blocks would not lie in one piece in the slot.
  if (schedule.multicast != Multicast::None && schedule.kBlocksPerStage != 1)
    out.add("kblocks_per_stage: expected 1 under multicast, found " +
                text(schedule.kBlocksPerStage),
            "kblocks_per_stage = 1");
  // Each CTA of the cluster loads an equal slice in whole 8-row swizzle groups.
  if (schedule.multicast == Multicast::B && schedule.clusterM > 1)
    checkMultiple(out, "tile N under multicast b", schedule.tileN,
                  8 * schedule.clusterM);
  if (schedule.multicast == Multicast::A && schedule.clusterN > 1)
    checkMultiple(out, "tile M under multicast a", schedule.tileM,
                  8 * schedule.clusterN);
}

static void checkSplit(Violations &out, const Schedule &schedule) {
  if (schedule.splitK < 1)
    out.add("split_k: expected at least 1, found " + text(schedule.splitK),
            "split_k = 1");
  else if (schedule.splitK > 1 && schedule.splitKind == SplitKind::None)
    out.add("split_k = " + text(schedule.splitK) +
                ": expected a kind (cluster, workspace or stream_k), found "
                "none",
            "split_k = " + text(schedule.splitK) + " cluster");
  else if (schedule.splitK == 1 && schedule.splitKind != SplitKind::None)
    out.add(std::string("split_k = 1: expected no kind, found ") +
                toString(schedule.splitKind),
            "split_k = 1");
  if (schedule.splitKind != SplitKind::StreamK)
    return;
  if (!schedule.persistent)
    out.add("split_k stream_k: expected persistent = true, found false",
            "persistent = true");
  // In ping-pong each warpgroup would have to know the other's K steps, and a
  // cluster would have to agree on a part.
  if (schedule.mode == ConsumerMode::PingPong)
    out.add("split_k stream_k: expected cooperative consumers, found pingpong",
            "consumers = " + text(schedule.consumers) + " cooperative");
  if (int64_t(schedule.clusterM) * schedule.clusterN != 1)
    out.add("split_k stream_k: expected cluster = 1x1, found " +
                text(schedule.clusterM) + "x" + text(schedule.clusterN),
            "cluster = 1x1");
}

static void checkLoadRows(Violations &out, const Schedule &schedule) {
  if (schedule.loadRows == 0)
    return;
  if (schedule.form != Form::Plain) {
    out.add(std::string("load_rows: expected 0 in form ") +
                toString(schedule.form) + ", found " + text(schedule.loadRows),
            "load_rows = 0");
    return;
  }
  // Slices of a multicast copy and swizzled rows come in groups of 8.
  if (schedule.multicast == Multicast::A)
    out.add("load_rows: expected 0 under multicast a, found " +
                text(schedule.loadRows),
            "load_rows = 0");
  if (checkRange(out, "load_rows", schedule.loadRows, 8, schedule.tileM))
    checkMultiple(out, "load_rows", schedule.loadRows, 8);
}

static void checkTiles(Violations &out, const Schedule &schedule) {
  if (schedule.tiles == TileSource::Static)
    return;
  if (!schedule.persistent)
    out.add("tiles dynamic: expected persistent = true, found false",
            "persistent = true");
  if (schedule.form == Form::Register)
    out.add("tiles dynamic: expected form plain or swap_ab, found register",
            "tiles = static");
  // The CTAs of a cluster would have to agree on the next tile.
  if (schedule.clusterM * schedule.clusterN != 1 || schedule.splitK != 1)
    out.add("tiles dynamic: expected cluster = 1x1 and split_k = 1, found " +
                text(schedule.clusterM) + "x" + text(schedule.clusterN) +
                " and " + text(schedule.splitK),
            "tiles = static");
}

static void checkForm(Violations &out, const Schedule &schedule) {
  if (schedule.form == Form::Plain)
    return;
  const char *form = toString(schedule.form);
  // Fragments of a transposed or register-only result do not lie in rows that
  // a TMA box could take.
  if (schedule.store != StoreKind::Vector)
    out.add(std::string("store: expected vector in form ") + form + ", found " +
                toString(schedule.store),
            "store = vector");
  if (schedule.mode == ConsumerMode::PingPong)
    out.add(std::string("consumers: expected cooperative in form ") + form +
                ", found pingpong",
            "consumers = " + text(schedule.consumers) + " cooperative");
}

/// Largest tile of the register form: two instructions' columns and four
/// instructions' rows, beyond which other forms are faster.
static constexpr int kRegisterMaxRows = 16, kRegisterMaxCols = 64;
/// K blocks in flight, and bytes of one row in a K block.
static constexpr int kRegisterMaxStages = 8;
static constexpr int64_t kRegisterMaxDepth = 256;

/// The register form has neither ring nor producer, and one tile for a CTA.
static void checkRegisterForm(Violations &out, const Schedule &schedule) {
  if (checkMultiple(out, "tile M in form register", schedule.tileM, 8))
    checkRange(out, "tile M in form register", schedule.tileM, 8,
               kRegisterMaxRows);
  if (checkMultiple(out, "tile N in form register", schedule.tileN, 16))
    checkRange(out, "tile N in form register", schedule.tileN, 16,
               kRegisterMaxCols);
  auto checkIs = [&](const char *name, int64_t value, int64_t expected) {
    if (value != expected)
      out.add(std::string(name) + ": expected " + text(expected) +
                  " in form register, found " + text(value),
              std::string(name) + " = " + text(expected));
  };
  checkIs("n_blocks", schedule.nBlocks, 1);
  checkIs("kblocks_per_stage", schedule.kBlocksPerStage, 1);
  if (schedule.overlapPromotion)
    out.add("n_blocks: expected no overlapped in form register, found "
            "overlapped",
            "n_blocks = 1");
  if (int64_t(schedule.clusterM) * schedule.clusterN != 1)
    out.add("cluster: expected 1x1 in form register, found " +
                text(schedule.clusterM) + "x" + text(schedule.clusterN),
            "cluster = 1x1");
  if (schedule.splitKind == SplitKind::Workspace ||
      schedule.splitKind == SplitKind::StreamK)
    out.add(std::string("split_k: expected cluster in form register, found ") +
                toString(schedule.splitKind),
            "split_k = " + text(schedule.splitK) + " cluster");
  if (schedule.persistent)
    out.add("persistent: expected false in form register, found true",
            "persistent = false");
}

std::vector<ScheduleViolation> verifyScheduleAlone(const Schedule &schedule,
                                                   const TargetLimits &limits) {
  Violations out;
  // Extents beyond what a TMA box holds cannot be loaded in one piece; bounded
  // first, so that later arithmetic stays far from overflow.
  bool bounded =
      checkRange(out, "tile M", schedule.tileM, 1, limits.maxBoxElements);
  bounded &=
      checkRange(out, "tile N", schedule.tileN, 1, limits.maxBoxElements);
  bounded &=
      checkRange(out, "tile K", schedule.tileK, 1, limits.maxBoxElements);
  bool registers = schedule.form == Form::Register;
  bounded &=
      checkRange(out, registers ? "consumers in form register" : "consumers",
                 schedule.consumers, 1,
                 registers ? limits.maxThreadsPerBlock / 32
                           : limits.maxThreadsPerBlock / 128 - 1);
  bounded &= checkRange(out, "n_blocks", schedule.nBlocks, 1, 32);
  bounded &= registers ? checkRange(out, "stages in form register",
                                    schedule.stages, 1, kRegisterMaxStages)
                       : checkRange(out, "stages", schedule.stages, 2, 32);
  bounded &=
      checkRange(out, "kblocks_per_stage", schedule.kBlocksPerStage, 1, 16);
  bounded &= checkRange(out, "split_k", schedule.splitK, 1, 1024);
  bounded &= checkRange(out, "ctas_per_sm", schedule.ctasPerSM, 1, 32);
  if (!bounded)
    return out.found;

  for (auto [name, value] : {std::pair("swizzle of a", schedule.swizzleA),
                             std::pair("swizzle of b", schedule.swizzleB),
                             std::pair("swizzle of d", schedule.swizzleD)})
    if (value != 0 && value != 32 && value != 64 && value != 128)
      out.add(std::string(name) + ": expected 0, 32, 64 or 128 bytes, found " +
                  text(value),
              value > 128  ? "128"
              : value > 48 ? "64"
                           : "32");
  if (registers) {
    checkRegisterForm(out, schedule);
  } else {
    checkConsumers(out, schedule, limits);
    checkNBlocks(out, schedule);
  }
  if (schedule.form == Form::Plain)
    checkMultiple(out, "tile N", schedule.tileN, 8);
  checkForm(out, schedule);
  checkLoadRows(out, schedule);
  checkCluster(out, schedule, limits);
  checkSplit(out, schedule);
  checkInTurn(out, schedule);
  checkTiles(out, schedule);
  if (schedule.promotion < 0 || schedule.promotion % schedule.tileK != 0)
    out.add("promote: expected 0 or a multiple of tile K = " +
                text(schedule.tileK) + ", found " + text(schedule.promotion),
            "promote = " + text(schedule.tileK));
  if (schedule.rasterGroup < 1)
    out.add("raster group: expected at least 1, found " +
                text(schedule.rasterGroup),
            "raster = " + std::string(toString(schedule.rasterOrder)) +
                " group 1");
  int threads = schedule.threads() * schedule.ctasPerSM;
  if (threads > limits.maxThreadsPerSM)
    out.add("threads per SM: " + text(schedule.ctasPerSM) + " x " +
                text(schedule.threads()) + " = " + text(threads) + " used, " +
                text(limits.maxThreadsPerSM) + " available",
            "ctas_per_sm = " +
                text(limits.maxThreadsPerSM / schedule.threads()));
  else
    checkRegisters(out, schedule, limits);
  return out.found;
}

//===----------------------------------------------------------------------===//
// Rules of a schedule for a problem
//===----------------------------------------------------------------------===//

/// One K block of a K-contiguous operand is exactly one swizzle span wide: a
/// wider box would leave the span, a narrower one would hold less than the
/// span repeats over.
static void checkOperandSwizzle(Violations &out, const char *name, int swizzle,
                                bool kContiguous, int64_t tileK, int64_t tileMN,
                                int64_t size) {
  if (kContiguous) {
    int64_t bytes = tileK * size;
    if (swizzle == bytes)
      return;
    std::string what = swizzle > bytes ? "wider than" : "different from";
    out.add(std::string("swizzle of ") + name + ": " + text(swizzle) +
                " bytes is " + what + " the box of " + text(tileK) + " x " +
                text(size) + " bytes = " + text(bytes) + " bytes",
            swizzle > 0 ? "tile K = " + text(swizzle / size)
                        : "tile K = " + text(128 / size) + " with swizzle 128");
    return;
  }
  if (swizzle == 0) {
    out.add(std::string("swizzle of ") + name +
                ": expected 32, 64 or 128 bytes, found 0",
            "128");
    return;
  }
  if (tileMN * size % swizzle != 0)
    out.add(std::string("swizzle of ") + name + ": " + text(swizzle) +
                " bytes does not divide the tile's " + text(tileMN * size) +
                " contiguous bytes",
            "32");
}

static void checkStoreSwizzle(Violations &out, const Problem &problem,
                              const Schedule &schedule) {
  int64_t bytes = schedule.tileN * sizeOf(problem.d);
  if (schedule.swizzleD <= bytes)
    return;
  int nearest = bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
  out.add("swizzle of d: " + text(schedule.swizzleD) +
              " bytes is wider than the box of " + text(schedule.tileN) +
              " x " + text(sizeOf(problem.d)) + " bytes = " + text(bytes) +
              " bytes",
          "swizzle of d = " + text(nearest));
}

static void checkPromotion(Violations &out, const Problem &problem,
                           const Schedule &schedule) {
  int promotion = schedule.promotion;
  if (!problem.fp8()) {
    if (promotion != 0)
      out.add(std::string("promote: expected 0 for operands of type ") +
                  toString(problem.a) + ", found " + text(promotion),
              "promote = 0");
    if (schedule.inTurn)
      out.add(std::string("consumers: in_turn needs partial sums that are "
                          "promoted, found operands of type ") +
                  toString(problem.a),
              withoutInTurn(schedule));
    return;
  }
  if (promotion == 0 && !problem.fastAccumulate)
    out.add("promote: expected an interval for f8 operands (the tensor core "
            "sums f8 products in fewer bits than f32), found 0",
            "promote = " + text(std::max(schedule.tileK, 128)));
  if (schedule.overlapPromotion && promotion == 0)
    out.add("n_blocks: overlapped needs a promotion to overlap, found "
            "promote = 0",
            "n_blocks = " + text(schedule.nBlocks));
  // A WGMMA multiplies 32 bytes of each row; a chain has a half from two on.
  if (schedule.inTurn &&
      (promotion == 0 || schedule.tileK * sizeOf(problem.a) < 64))
    out.add("consumers: in_turn needs partial sums that are promoted and at "
            "least 64 bytes of K in a K block, found promote = " +
                text(promotion) + " and tile K = " + text(schedule.tileK),
            withoutInTurn(schedule));
  for (auto [name, scale] : {std::pair("scale_a", problem.scaleA),
                             std::pair("scale_b", problem.scaleB)}) {
    if (!scale.blockedAlongK())
      continue;
    if (scale.cols % schedule.tileK != 0)
      out.add("tile K: expected a divisor of the " + text(scale.cols) +
                  " K elements under one " + name + ", found " +
                  text(schedule.tileK),
              "tile K = " + text(std::min<int64_t>(scale.cols, 128)));
    else if (promotion == 0 || scale.cols % promotion != 0)
      out.add("promote: expected a divisor of the " + text(scale.cols) +
                  " K elements under one " + name + ", found " +
                  text(promotion),
              "promote = " + text(scale.cols));
  }
}

static void checkConsumerRegisters(Violations &out, const Problem &problem,
                                   const Schedule &schedule,
                                   const TargetLimits &limits) {
  int available = schedule.usesSetMaxRegisters()
                      ? schedule.regsConsumer
                      : registersAtEntry(schedule, limits);
  int entry = registersAtEntry(schedule, limits);
  int perWgmma = schedule.nPerBlock() / 2 + kWgmmaOverheadRegisters;
  if (perWgmma > entry)
    out.add("columns per WGMMA: " + text(schedule.nPerBlock()) + " take " +
                text(perWgmma) + " registers in one instruction, " +
                text(entry) + " at entry",
            text(std::max((entry - kWgmmaOverheadRegisters) * 2 / 8 * 8, 8)) +
                " columns fit");
  int values = accumulatorRegisters(problem, schedule);
  int used = values + kConsumerOverheadRegisters;
  if (used <= available)
    return;
  int perBlock = schedule.nPerBlock() / 2;
  std::string hint;
  if (problem.fp8() && schedule.promotion && !schedule.overlapPromotion &&
      schedule.nBlocks == 1 && used - perBlock / 2 <= available)
    hint = "n_blocks = 2 fits";
  else if (problem.fp8() && schedule.overlapPromotion &&
           used - perBlock <= available)
    hint = "n_blocks = " + text(schedule.nBlocks) + " without overlapped fits";
  else
    hint = std::string(schedule.form == Form::SwapAB ? "tile M" : "tile N") +
           " = " +
           text(std::max<int64_t>(schedule.mmaCols() *
                                      (available - kConsumerOverheadRegisters) /
                                      values / 16 * 16,
                                  8)) +
           " fits";
  out.add("registers of a consumer: " + text(values) +
              " for accumulators and partial sums + " +
              text(kConsumerOverheadRegisters) + " = " + text(used) +
              " used, " + text(available) + " available",
          hint);
}

/// Strips of operands and sums fit the even share of the register file.
static void checkRegisterFormOperands(Violations &out, const Problem &problem,
                                      const Schedule &schedule,
                                      const TargetLimits &limits) {
  int64_t size = sizeOf(problem.a);
  if (size != 1 && size != 2) {
    out.add(std::string("form register: expected operands of 1 or 2 bytes, "
                        "found ") +
                toString(problem.a),
            "form = plain");
    return;
  }
  // Lanes load 16 bytes each, four of them one row.
  if (!checkMultiple(out, "tile K in form register", schedule.tileK,
                     64 / size) ||
      !checkRange(out, "tile K in form register", schedule.tileK, 64 / size,
                  kRegisterMaxDepth / size))
    return;
  if (problem.scaleB.blockedAlongK() && problem.scaleB.rows % schedule.tileN)
    out.add("tile N in form register: expected a divisor of the " +
                text(problem.scaleB.rows) + " rows under one scale_b, found " +
                text(schedule.tileN),
            "tile N = 16");
  int available = registersAtEntry(schedule, limits);
  int values = accumulatorRegisters(problem, schedule);
  int used = values + kRegisterFormOverhead;
  if (used <= available)
    return;
  Schedule fewer = schedule;
  while (--fewer.stages >= 1)
    if (accumulatorRegisters(problem, fewer) + kRegisterFormOverhead <=
        available)
      break;
  out.add("registers of a thread: " + text(values) +
              " for operands and sums + " + text(kRegisterFormOverhead) +
              " = " + text(used) + " used, " + text(available) + " available",
          fewer.stages >= 1 ? "stages = " + text(fewer.stages) + " fits"
                            : "fewer consumers or ctas_per_sm");
}

static void checkSharedMemory(Violations &out, const Problem &problem,
                              const Schedule &schedule,
                              const TargetLimits &limits) {
  int64_t budget = sharedMemoryBudget(schedule, limits);
  SmemPlan plan = planSharedMemory(problem, schedule, limits);
  if (plan.total <= budget)
    return;
  std::string hint = "a smaller tile";
  Schedule fewer = schedule;
  for (fewer.stages = schedule.stages - 1; fewer.stages >= 2; --fewer.stages)
    if (planSharedMemory(problem, fewer, limits).total <= budget) {
      hint = "stages = " + text(fewer.stages) + " fits";
      break;
    }
  out.add(
      "shared memory: " + text(plan.total) + " bytes used, " + text(budget) +
          " available" +
          (schedule.ctasPerSM > 1
               ? " to each of " + text(schedule.ctasPerSM) + " CTAs on an SM"
               : ""),
      hint);
}

std::vector<ScheduleViolation> verifySchedule(const Problem &problem,
                                              const Schedule &schedule,
                                              const TargetLimits &limits) {
  std::vector<ScheduleViolation> alone = verifyScheduleAlone(schedule, limits);
  if (!alone.empty())
    return alone;
  Violations out;
  if (Status status = verifyProblem(problem); !status) {
    out.add("problem: " + status.message());
    return out.found;
  }
  if (schedule.form != Form::Plain && problem.layout != Layout::NT)
    out.add(std::string("form ") + toString(schedule.form) +
                ": expected layout nt, found " + toString(problem.layout),
            "form = plain");
  if (schedule.loadRows != 0 && problem.m > schedule.loadRows)
    out.add("load_rows: expected at least M = " + text(problem.m) +
                " rows, found " + text(schedule.loadRows),
            "load_rows = 0");
  checkPromotion(out, problem, schedule);
  if (schedule.form == Form::Register) {
    checkRegisterFormOperands(out, problem, schedule, limits);
    return out.found;
  }

  bool aKContiguous =
      problem.layout == Layout::NT || problem.layout == Layout::NN;
  bool bKContiguous =
      problem.layout == Layout::NT || problem.layout == Layout::TT;
  checkOperandSwizzle(out, "a", schedule.swizzleA, aKContiguous, schedule.tileK,
                      schedule.tileM, sizeOf(problem.a));
  checkOperandSwizzle(out, "b", schedule.swizzleB, bKContiguous, schedule.tileK,
                      schedule.tileN, sizeOf(problem.b));
  // One WGMMA multiplies 32 bytes of K.
  int64_t wgmmaK = 32 / sizeOf(problem.a);
  checkMultiple(out, "tile K", schedule.tileK, wgmmaK);
  if (schedule.store == StoreKind::Tma)
    checkStoreSwizzle(out, problem, schedule);
  // Integer WGMMA exists for N = 8, 16, 24 and multiples of 16 from 32 up.
  if (problem.a == DType::I8 && schedule.nPerBlock() > 24)
    checkMultiple(out, "columns per i8 WGMMA", schedule.nPerBlock(), 16);
  checkConsumerRegisters(out, problem, schedule, limits);
  checkSharedMemory(out, problem, schedule, limits);
  return out.found;
}

} // namespace dgemm
