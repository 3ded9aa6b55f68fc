// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/CostModel/SearchSpace.h"

#include "dgemm/CostModel/CostModel.h"

#include <algorithm>

namespace dgemm {

/// Bytes of operand stages beyond which decode kernels got slower, and stages
/// beyond which nothing is gained.
static constexpr int64_t kDecodeRingBytes = 128 * 1024;
static constexpr int kDecodeMaxStages = 12;
static constexpr int kMaxStages = 8;
/// Tiles of the register form: one instruction's columns by its rows. Largest
/// M for which it won a measurement.
static constexpr int kRegisterTileM = 8, kRegisterTileN = 16;
/// Registers more that the checked store of ragged tiles takes; without them
/// 256x128 FP8 tiles spilled.
static constexpr int kCheckedStoreMargin = 16;

int rasterGroup(const Problem &problem, const Schedule &schedule) {
  int64_t tilesM = std::max<int64_t>(
      ceilDiv(std::max<int64_t>(problem.m, 1), schedule.tileM), 1);
  int64_t rows = 2048;
  if (problem.k != kDynamic && problem.k <= 1536)
    rows = int64_t(schedule.tileM) * tilesM;
  else if (schedule.tileN <= 176 && problem.k >= 4096)
    rows = 1024;
  int64_t group = std::clamp<int64_t>(rows / schedule.tileM, 1,
                                      std::min<int64_t>(tilesM, 1024));
  if (schedule.clusterM == 2)
    group += group % 2;
  return static_cast<int>(group);
}

void setRegisters(const Problem &problem, Schedule &schedule) {
  int needed = accumulatorRegisters(problem, schedule) + kRegisterMargin;
  if (schedule.consumers == 1) {
    schedule.regsProducer = schedule.regsConsumer = 0;
  } else if (schedule.consumers == 2) {
    bool many = needed > 232 || schedule.mode == ConsumerMode::PingPong;
    schedule.regsProducer = many ? 24 : 40;
    schedule.regsConsumer = many ? 240 : 232;
  } else {
    // Pools of 512 and 480 registers per four threads.
    schedule.regsProducer = schedule.consumers == 3 ? 32 : 24;
    schedule.regsConsumer = schedule.consumers == 3 ? 160 : 112;
  }
}

namespace {
/// Completes partial schedules dimension by dimension and hands out the legal
/// ones.
class Enumerator {
public:
  using Visit = std::function<bool(const Schedule &)>;
  using Illegal = std::function<void(const Schedule &,
                                     const std::vector<ScheduleViolation> &)>;

  Enumerator(const Problem &problem, const DeviceModel &device,
             const SearchOptions &options, const Visit &visit,
             const Illegal &illegal)
      : problem(problem), device(device), options(options), visit(visit),
        illegal(illegal), decode(problem.m <= kDecodeMaxM) {}

  void run() {
    if (usesRegisterForm() && !withWarps())
      return;
    for (const Schedule &base : bases())
      for (int tileN = base.form == Form::SwapAB ? base.tileN : columnStep();
           tileN <= (base.form == Form::SwapAB ? base.tileN : 256);
           tileN += columnStep()) {
        Schedule schedule = base;
        schedule.tileN = tileN;
        if (schedule.tileM == 256 && tileN > 128 && !options.untriedTiles)
          break;
        // ptxas found no registers for wider ones (warning C7602).
        if (schedule.consumers == 3 && tileN > 192)
          break;
        if (!withColumns(schedule))
          return;
      }
  }

private:
  /// Depth of a K block: one 128-byte swizzle span, or as much as one scale
  /// covers when that is less.
  int depth() const {
    int64_t size = std::max<int64_t>(sizeOf(problem.a), 1);
    int64_t depth = 128 / size;
    for (const ScaleSpec &scale : {problem.scaleA, problem.scaleB})
      if (scale.blockedAlongK() && scale.cols < depth &&
          (scale.cols * size == 32 || scale.cols * size == 64))
        depth = scale.cols;
    return static_cast<int>(depth);
  }

  int columnStep() const { return decode || sizeOf(problem.a) == 2 ? 8 : 16; }

  Schedule plain(int rows, int consumers, ConsumerMode mode) const {
    Schedule schedule;
    schedule.tileM = rows;
    schedule.consumers = consumers;
    schedule.mode = mode;
    schedule.tileK = depth();
    schedule.swizzleA = schedule.swizzleB =
        schedule.tileK * static_cast<int>(sizeOf(problem.a));
    return schedule;
  }

  /// Rows, warpgroups and form.
  std::vector<Schedule> bases() const {
    std::vector<Schedule> out;
    // Swapped, a block's 64 rows of B must share their scales; C is not added.
    bool oneScale =
        !problem.scaleB.blockedAlongK() || problem.scaleB.rows % 64 == 0;
    // Promoting a swapped FP8 block takes a multiplication more for every
    // column: with more than 64 rows of A the plain form won everywhere.
    bool fewRows = !promotes() || problem.m <= 64;
    bool swap = options.swapAB && decode && problem.layout == Layout::NT &&
                oneScale && !problem.accumulate && fewRows;
    // A box of A that is mostly beyond M is filled with zeros, which was
    // measured to take up to 1.7 times as long as loading it: up to 32 rows
    // the swapped form, which has no such rows, won everywhere.
    if (!swap || problem.m > 32)
      out.push_back(plain(64, 1, ConsumerMode::Cooperative));
    if (problem.m > 64) {
      out.push_back(plain(128, 2, ConsumerMode::Cooperative));
      if (problem.m > 128)
        out.push_back(plain(256, 2, ConsumerMode::Cooperative));
      // What promotes has two warpgroups take turns within a tile; one alone
      // leaves the tensor core idle (measured: 20 to 30 %).
      if (options.pingPong && problem.m > 128 && !promotes())
        out.push_back(plain(128, 2, ConsumerMode::PingPong));
      if (options.threeConsumers && problem.m > 128)
        out.push_back(plain(192, 3, ConsumerMode::Cooperative));
    }
    if (!swap)
      return out;
    // All rows in one tile, and many in two, each of which reads B.
    int rows = static_cast<int>(std::max<int64_t>(problem.m, 1));
    for (int tiles : {1, 2}) {
      if (tiles == 2 && rows <= 64)
        break;
      int tokens = static_cast<int>(ceilDiv(rows, 8 * tiles)) * 8;
      for (int weights : {64, 128, 256}) {
        Schedule schedule =
            plain(tokens, weights >= 128 ? 2 : 1, ConsumerMode::Cooperative);
        schedule.form = Form::SwapAB;
        schedule.tileN = weights;
        schedule.store = StoreKind::Vector;
        out.push_back(schedule);
      }
    }
    return out;
  }

  /// Measured: with more tiles than SMs, whose CTAs would come one after the
  /// other, every form with a ring was faster.
  bool usesRegisterForm() const {
    bool oneScale = !problem.scaleB.blockedAlongK() ||
                    problem.scaleB.rows % kRegisterTileN == 0;
    return options.registerForm && problem.m <= kRegisterTileM &&
           problem.layout == Layout::NT && sizeOf(problem.a) <= 2 && oneScale &&
           ceilDiv(problem.n, kRegisterTileN) <= device.smCount;
  }

  /// Register form: CTAs of a cluster and warps that split K, K blocks each of
  /// them has in flight, CTAs that share an SM.
  bool withWarps() {
    Schedule schedule = plain(kRegisterTileM, 1, ConsumerMode::Cooperative);
    schedule.form = Form::Register;
    schedule.tileN = kRegisterTileN;
    schedule.store = StoreKind::Vector;
    schedule.persistent = false;
    if (promotes())
      schedule.promotion = promotionInterval(schedule);
    int64_t tiles = ceilDiv(problem.n, kRegisterTileN);
    for (int split : {1, 2, 4, 8}) {
      if (split > 1 && !options.splitK)
        break;
      // Measured: the smallest split that gives (nearly) every SM a CTA wins.
      bool fills = 10 * tiles * split >= 9 * device.smCount;
      if (split < 8 && !fills && options.splitK && !options.allStages)
        continue;
      schedule.splitK = split;
      schedule.splitKind = split > 1 ? SplitKind::Cluster : SplitKind::None;
      int64_t blocks = ceilDiv(ceilDiv(problem.k, schedule.tileK), split);
      // Many warps with one K block each come before few with several.
      for (int warps : {16, 14, 12, 8, 7, 4})
        for (int stages : {1, 2, 4}) {
          // Warps without a K block only wait for the others; more than two
          // blocks of each in flight have not been measured.
          if (warps * stages > std::max<int64_t>(blocks, 4) ||
              (stages > 2 && !options.allStages))
            break;
          schedule.consumers = warps;
          schedule.stages = stages;
          for (int ctas : {1, 2, 4}) {
            schedule.ctasPerSM = ctas;
            if (ctas > 1 && !options.severalCtas)
              break;
            if (!emit(schedule))
              return false;
          }
        }
      if (fills)
        break;
    }
    return true;
  }

  bool promotes() const {
    return problem.fp8() &&
           !(problem.fastAccumulate && !problem.scaleA.blockedAlongK() &&
             !problem.scaleB.blockedAlongK());
  }

  bool withColumns(Schedule &schedule) {
    if (schedule.form != Form::SwapAB) {
      // The largest store box that the tile fills.
      int bytes = schedule.tileN * static_cast<int>(sizeOf(problem.d));
      schedule.swizzleD = bytes >= 128  ? 128
                          : bytes >= 64 ? 64
                          : bytes >= 32 ? 32
                                        : 0;
    }
    if (!promotes())
      return withPipeline(schedule);
    schedule.promotion = promotionInterval(schedule);
    if (!withPipeline(schedule) || !withDeepSlots(schedule))
      return false;
    if (decode || schedule.mmaCols() % 16 != 0 || schedule.mmaCols() < 128)
      return true;
    Schedule split = schedule;
    split.nBlocks = 2;
    // The range in which overlap was measured to win; wider blocks leave no
    // registers for two sets of partial sums.
    split.overlapPromotion = split.nPerBlock() >= 64 &&
                             split.nPerBlock() <= 112 && split.mBlocks() == 1;
    if (!withPipeline(split))
      return false;
    // Measured: two chains of 128 columns fall in step and lose 6 to 8 % where
    // K is long; in turn they are up to 1 % faster than any other tile, and
    // often as fast. So only a tuner looks.
    split.inTurn = options.allStages && split.consumers > 1 &&
                   split.mode == ConsumerMode::Cooperative &&
                   !split.overlapPromotion;
    return !split.inTurn || withPipeline(split);
  }

  /// Two K blocks in a slot, one promoted under the other. Measured: 4 % faster
  /// for 4096x512x32768, where A's rows come from DRAM in longer runs, and
  /// slower at six other sizes, so only a tuner looks.
  bool withDeepSlots(Schedule schedule) {
    if (decode || !options.allStages || !options.severalKBlocks ||
        problem.k % schedule.tileK != 0 || schedule.mBlocks() > 1)
      return true;
    schedule.kBlocksPerStage = 2;
    schedule.overlapPromotion = true;
    return isHopeless(schedule) || withStages(schedule);
  }

  /// 128 K elements, or less where scales change sooner.
  int promotionInterval(const Schedule &schedule) const {
    int interval = std::max(schedule.tileK, 128);
    for (const ScaleSpec &scale : {problem.scaleA, problem.scaleB})
      if (scale.blockedAlongK() && scale.cols % interval != 0)
        interval = schedule.tileK;
    return interval;
  }

  bool withPipeline(Schedule schedule) {
    for (int blocks : {1, 2, 4, 8}) {
      if (blocks > 1 && !(options.severalKBlocks && decode &&
                          problem.k % schedule.tileK == 0))
        break;
      schedule.kBlocksPerStage = blocks;
      for (int ctas = 1; ctas <= (options.severalCtas && decode ? 4 : 1);
           ++ctas) {
        schedule.ctasPerSM = ctas;
        schedule.persistent = ctas == 1;
        if (isHopeless(schedule)) {
          // So are more blocks or CTAs. Most of a small problem's schedules
          // are left out here, at once rather than one by one.
          if (ctas == 1)
            return true;
          break;
        }
        if (!withCluster(schedule))
          return false;
        // Narrow tiles: K blocks of a step promoted one under the other.
        if (!decode || schedule.promotion == 0 || schedule.nBlocks > 1 ||
            schedule.chainsPerStep() < 2)
          continue;
        Schedule overlapped = schedule;
        overlapped.overlapPromotion = true;
        if (!withCluster(overlapped))
          return false;
      }
    }
    return true;
  }

  bool withCluster(Schedule schedule) {
    if (!withSplit(schedule))
      return false;
    if (!options.clusters || decode)
      return true;
    schedule.clusterM = 2;
    schedule.multicast = Multicast::B;
    if (!withStages(schedule))
      return false;
    schedule.clusterM = 1;
    schedule.clusterN = 2;
    schedule.multicast = Multicast::A;
    return withStages(schedule);
  }

  bool withSplit(Schedule schedule) {
    if (!withStages(schedule))
      return false;
    if (schedule.mode == ConsumerMode::PingPong)
      return true;
    if (!decode)
      return withDealtSteps(schedule);
    if (!options.splitK)
      return true;
    schedule.persistent = false;
    int64_t tiles =
        ceilDiv(problem.m, schedule.tileM) * ceilDiv(problem.n, schedule.tileN);
    // A reduction costs more than idle SMs once half of them have a tile.
    // Other numbers pay where they divide the K blocks and powers of two do not
    // fill the device: rarely, so only a tuner looks.
    for (int split = 2; split <= 8; ++split) {
      if (tiles * split > device.smCount || split * schedule.tileK > problem.k)
        break;
      if (!options.allStages && split != 2 && split != 4 && split != 8)
        continue;
      schedule.splitK = split;
      schedule.splitKind = SplitKind::Cluster;
      if (!withStages(schedule))
        return false;
    }
    return true;
  }

  /// Stream-K where the last wave is not whole.
  bool withDealtSteps(Schedule schedule) {
    int64_t tiles =
        ceilDiv(problem.m, schedule.tileM) * ceilDiv(problem.n, schedule.tileN);
    if (!options.streamK ||
        tiles % (int64_t(device.smCount) * schedule.ctasPerSM) == 0)
      return true;
    schedule.splitKind = SplitKind::StreamK;
    for (int split : {4, 2, 8}) {
      if ((split != 4 && !options.allStages) ||
          int64_t(split) * schedule.tileK > problem.k)
        break;
      schedule.splitK = split;
      if (!withStages(schedule))
        return false;
    }
    return true;
  }

  bool withStages(Schedule &schedule) {
    setRegisters(problem, schedule);
    int limit = decode ? kDecodeMaxStages : kMaxStages;
    int64_t budget = sharedMemoryBudget(schedule, device.limits);
    int deepest = 0, deepestWhole = 0;
    for (int stages = 2; stages <= limit; ++stages) {
      schedule.stages = stages;
      SmemPlan plan = planSharedMemory(problem, schedule, device.limits);
      bool tooMuch =
          decode && stages > 4 &&
          stages * (plan.slotBytesA + plan.slotBytesB) * schedule.ctasPerSM >
              kDecodeRingBytes;
      if (plan.total > budget || tooMuch)
        break;
      deepest = stages;
      if (plan.storeChunks <= 1)
        deepestWhole = stages;
      if (options.allStages && !emit(schedule))
        return false;
    }
    if (deepest == 0) {
      schedule.stages = 2;
      return emit(schedule); // illegal, and reported so
    }
    if (options.allStages)
      return true;
    schedule.stages = deepest;
    if (!emit(schedule))
      return false;
    if (deepestWhole == 0 || deepestWhole == deepest)
      return true;
    schedule.stages = deepestWhole;
    return emit(schedule);
  }

  /// Whether a schedule is out of the question with the shortest ring and
  /// neither split nor cluster, all of which only take more.
  bool isHopeless(Schedule schedule) {
    schedule.stages = 2;
    setRegisters(problem, schedule);
    complete(schedule);
    return isLeftOut(schedule);
  }

  /// Fields that follow from the others.
  void complete(Schedule &schedule) const {
    schedule.rasterGroup = rasterGroup(problem, schedule);
    // Weights that the cache holds are there for a second row of tiles too.
    double weights = double(std::max<int64_t>(problem.n, 0)) *
                     double(std::max<int64_t>(problem.k, 0)) *
                     sizeOf(problem.b);
    bool once = problem.m <= schedule.tileM ||
                (weights > 0 && weights <= device.l2Megabytes * 1e6);
    schedule.streamB = decode && once;
  }

  /// Whether a complete schedule breaks a rule, which it is reported for.
  bool isLeftOut(const Schedule &schedule) {
    std::vector<ScheduleViolation> violations =
        verifySchedule(problem, schedule, device.limits);
    if (!violations.empty()) {
      if (illegal)
        illegal(schedule, violations);
      return true;
    }
    int available = schedule.usesSetMaxRegisters()
                        ? schedule.regsConsumer
                        : registersAtEntry(schedule, device.limits);
    int needed = accumulatorRegisters(problem, schedule) + kRegisterMargin;
    if (options.raggedColumns && schedule.store == StoreKind::Tma)
      needed += kCheckedStoreMargin;
    if (needed <= available)
      return false;
    if (illegal)
      illegal(schedule, {{"registers of a consumer: " + std::to_string(needed) +
                              " wanted, " + std::to_string(available) +
                              " available; legal, but likely to spill",
                          ""}});
    return true;
  }

  bool emit(Schedule schedule) {
    complete(schedule);
    if (isLeftOut(schedule))
      return true;
    if (!options.allRasterGroups || decode)
      return visit(schedule);
    int rule = schedule.rasterGroup;
    for (int group : {rule, 1, 4, 8, 16, 32}) {
      if (group != rule && (group == schedule.rasterGroup || group == rule))
        continue;
      schedule.rasterGroup = group;
      if (!visit(schedule))
        return false;
    }
    return true;
  }

  const Problem &problem;
  const DeviceModel &device;
  const SearchOptions &options;
  const Visit &visit;
  const Illegal &illegal;
  const bool decode;
};
} // namespace

void enumerateSchedules(
    const Problem &problem, const DeviceModel &device,
    const SearchOptions &options,
    const std::function<bool(const Schedule &)> &visit,
    const std::function<void(
        const Schedule &, const std::vector<ScheduleViolation> &)> &illegal) {
  Enumerator(problem, device, options, visit, illegal).run();
}

} // namespace dgemm
