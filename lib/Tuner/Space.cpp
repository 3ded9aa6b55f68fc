// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Space.h"

#include "dgemm/CostModel/Selector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

namespace dgemm::tuner {

double predictUs(const Problem &problem, const Schedule &schedule,
                 const DeviceModel &device, L2State l2) {
  CostInputs inputs = costInputs(problem, schedule, device);
  inputs.l2 = l2;
  return (inputs.m <= kDecodeMaxM ? decodeCost(inputs, device)
                                  : largeCost(inputs, device))
      .microseconds;
}

/// Distance of two sizes: half their ratio's logarithm to base 2 counts as one
/// decision.
static double ratio(int a, int b) {
  return 2 * std::fabs(std::log2(double(std::max(a, 1)) / std::max(b, 1)));
}

double distance(const Schedule &a, const Schedule &b) {
  double sum = ratio(a.tileM, b.tileM) + ratio(a.tileN, b.tileN) +
               ratio(a.stages, b.stages) +
               ratio(a.kBlocksPerStage, b.kBlocksPerStage) +
               ratio(a.splitK, b.splitK) + ratio(a.ctasPerSM, b.ctasPerSM) +
               0.25 * ratio(a.rasterGroup, b.rasterGroup);
  for (bool differs :
       {a.form != b.form, a.consumers != b.consumers, a.mode != b.mode,
        a.nBlocks != b.nBlocks, a.overlapPromotion != b.overlapPromotion,
        a.clusterM != b.clusterM || a.clusterN != b.clusterN,
        a.splitKind != b.splitKind && a.splitK > 1 && b.splitK > 1,
        a.store != b.store, a.persistent != b.persistent,
        a.rasterOrder != b.rasterOrder, a.streamB != b.streamB,
        a.tileK != b.tileK, a.multicast != b.multicast})
    sum += differs;
  return sum;
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
  options.threeConsumers = options.untriedTiles = options.clusters = true;
  options.allStages = options.allRasterGroups = true;
  options.raggedColumns = problem.n * sizeOf(problem.d) % 16 != 0;
  enumerateSchedules(
      problem, device, options,
      [&](const Schedule &schedule) {
        space.members.push_back(
            {schedule, predictUs(problem, schedule, device, l2)});
        return true;
      },
      {});
  // Equal times keep the order of the enumeration.
  std::vector<size_t> order(space.members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(space.members[a].us, a) <
           std::tuple(space.members[b].us, b);
  });
  std::vector<Member> sorted;
  std::set<std::string> seen;
  for (size_t i : order)
    if (seen.insert(toString(space.members[i].schedule)).second)
      sorted.push_back(space.members[i]);
  space.members = std::move(sorted);
  return space;
}

std::vector<Schedule> Space::neighbours(const Schedule &center) const {
  std::vector<Schedule> found;
  for (const Member &member : members)
    if (double d = distance(member.schedule, center); d > 0 && d <= 1)
      found.push_back(member.schedule);
  auto tryOne = [&](auto change) {
    Schedule changed = center;
    change(changed);
    if (changed == center ||
        !verifySchedule(about, changed, model.limits).empty())
      return;
    bool known = false;
    for (const Schedule &other : found)
      known |= distance(other, changed) == 0;
    if (!known)
      found.push_back(changed);
  };
  tryOne([](Schedule &s) { s.persistent = !s.persistent; });
  tryOne([](Schedule &s) { s.streamB = !s.streamB; });
  tryOne([](Schedule &s) { s.overlapPromotion = !s.overlapPromotion; });
  tryOne([](Schedule &s) {
    s.store = s.store == StoreKind::Tma ? StoreKind::Vector : StoreKind::Tma;
  });
  tryOne([](Schedule &s) {
    s.rasterOrder = s.rasterOrder == RasterOrder::AlongM ? RasterOrder::AlongN
                                                         : RasterOrder::AlongM;
  });
  return found;
}

} // namespace dgemm::tuner
