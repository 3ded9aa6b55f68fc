// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Space.h"

#include "dgemm/CostModel/Realisation.h"
#include "dgemm/CostModel/Selector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace dgemm::tuner {

double predictUs(const Problem &problem, const Schedule &schedule,
                 const DeviceModel &device, L2State l2) {
  CostInputs inputs = costInputs(problem, schedule, device);
  inputs.l2 = l2;
  return Predictor(device).predict(inputs).microseconds;
}

Decisions::Decisions(const Schedule &s) {
  const std::pair<int, float> counts[] = {
      {s.tileM, 2},           {s.tileN, 2},  {s.stages, 2},
      {s.kBlocksPerStage, 2}, {s.splitK, 2}, {s.ctasPerSM, 2},
      {s.rasterGroup, 0.5}};
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] =
        counts[i].second * std::log2(float(std::max(counts[i].first, 1)));
  kinds = {int8_t(s.form),
           int8_t(s.consumers),
           int8_t(s.mode),
           int8_t(s.inTurn),
           int8_t(s.nBlocks),
           int8_t(s.overlapPromotion),
           int8_t(16 * int(s.multicast) + 3 * s.clusterM + s.clusterN),
           int8_t(s.splitKind),
           int8_t(s.store),
           int8_t(s.persistent),
           int8_t(s.rasterOrder),
           int8_t(s.streamB),
           int8_t(s.tileK / 8)};
}

double distance(const Decisions &a, const Decisions &b) {
  float sum = 0;
  for (size_t i = 0; i < a.sizes.size(); ++i)
    sum += std::fabs(a.sizes[i] - b.sizes[i]);
  for (size_t i = 0; i < a.kinds.size(); ++i)
    sum += a.kinds[i] != b.kinds[i];
  return sum;
}

double distance(const Schedule &a, const Schedule &b) {
  return distance(Decisions(a), Decisions(b));
}

Result<Space> Space::create(const Problem &problem, const DeviceModel &device,
                            L2State l2) {
  for (auto [name, size] :
       {std::pair{"m", problem.m}, std::pair{"n", problem.n},
        std::pair{"k", problem.k}})
    if (size < 1)
      return Status::error(std::string(name) +
                           ": expected a size of at least "
                           "1 to tune for, found " +
                           (size == kDynamic ? "?" : std::to_string(size)));
  // Also says why there is none, with the limit in the way.
  Result<Selection> selection = selectSchedule(problem, device);
  if (!selection)
    return selection.status();
  Space space;
  space.about = problem;
  space.model = device;
  space.state = l2;
  SearchOptions options;
  // Multicast clusters are tried as neighbours alone, and a raster along N is
  // left to the user, which nobody has timed.
  options.threeConsumers = options.untriedTiles = true;
  options.allStages = options.allRasterGroups = true;
  options.raggedColumns = problem.n * sizeOf(problem.d) % 16 != 0;
  Predictor predictor(device);
  enumerateSchedules(problem, device, options,
                     [&](const Schedule &schedule) {
                       CostInputs inputs =
                           costInputs(problem, schedule, device);
                       inputs.l2 = l2;
                       space.members.push_back(
                           {schedule, predictor.predict(inputs).microseconds});
                       return true;
                     },
                     {});
  // Equal times keep the order of the enumeration.
  std::vector<size_t> order(space.members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(space.members[a].us, a) <
           std::pair(space.members[b].us, b);
  });
  // A schedule that was enumerated twice stands among those of equal time.
  std::vector<Member> distinct;
  for (size_t i : order) {
    const Member &member = space.members[i];
    bool seen = false;
    for (auto other = distinct.rbegin();
         !seen && other != distinct.rend() && other->us == member.us; ++other)
      seen = other->schedule == member.schedule;
    if (!seen)
      distinct.push_back(member);
  }
  space.members = std::move(distinct);
  return space;
}

std::vector<Schedule> Space::neighbours(const Schedule &center) const {
  std::vector<Schedule> found;
  Decisions middle(center);
  for (const Member &member : members)
    if (double d = distance(Decisions(member.schedule), middle);
        d > 0 && d <= 1)
      found.push_back(member.schedule);
  auto tryOne = [&](auto change) {
    Schedule changed = center;
    change(changed);
    if (changed == center ||
        !verifySchedule(about, changed, model.limits).empty() ||
        !whyNotRealised(about, changed).empty())
      return;
    bool known = false;
    for (const Schedule &other : found)
      known |= distance(other, changed) == 0;
    if (!known)
      found.push_back(changed);
  };
  // Two CTAs that share the copies of A: on an H200 2 to 3 % faster with tiles
  // of 256 rows and long K, and 1 to 5 % slower with 128.
  tryOne([](Schedule &s) {
    bool shares = s.clusterN > 1;
    s.clusterN = shares ? 1 : 2;
    s.multicast = shares ? Multicast::None : Multicast::A;
  });
  tryOne([](Schedule &s) { s.persistent = !s.persistent; });
  tryOne([](Schedule &s) { s.streamB = !s.streamB; });
  tryOne([](Schedule &s) {
    s.rasterOrder = s.rasterOrder == RasterOrder::AlongM ? RasterOrder::AlongN
                                                         : RasterOrder::AlongM;
  });
  tryOne([](Schedule &s) { s.overlapPromotion = !s.overlapPromotion; });
  tryOne([](Schedule &s) { s.inTurn = !s.inTurn; });
  // As much of K in half as many slots, whose copies take longer runs of each
  // row: faster where much of A comes from DRAM (1.5 % on an H200), and slower
  // elsewhere (up to 12 %).
  tryOne([&](Schedule &s) {
    if (s.kBlocksPerStage == 1 && s.stages % 2 == 0 && about.k % s.tileK == 0) {
      s.kBlocksPerStage = 2;
      s.stages /= 2;
    } else if (s.kBlocksPerStage == 2) {
      s.kBlocksPerStage = 1;
      s.stages *= 2;
    }
  });
  tryOne([](Schedule &s) {
    s.store = s.store == StoreKind::Tma ? StoreKind::Vector : StoreKind::Tma;
  });
  return found;
}

} // namespace dgemm::tuner
