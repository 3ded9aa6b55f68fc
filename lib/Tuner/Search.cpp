// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dgemm::tuner {

/// Weight of the model against measurements, w0 above.
static constexpr double kModelWeight = 0.5;
/// Spread of residuals about their neighbourhood: the model's error.
static constexpr double kModelSpread = 0.05;
/// A failed schedule counts as this much slower than predicted.
static constexpr double kFailure = 0.2;
/// Schedules whose neighbourhoods are searched, and how far those reach.
static constexpr size_t kCenters = 3;
static constexpr double kNear = 1;
/// Beyond this a measurement says nothing (its weight is below 3e-4).
static constexpr double kReach = 4;
/// Tiles closer than this are the same to a first look.
static constexpr double kSameTile = 0.6;

Search::Search(const Space &space, uint64_t seed)
    : space(space), generator(seed) {
  points.reserve(space.size());
  for (size_t i = 0; i < space.size(); ++i)
    points.push_back({space.schedule(i), Decisions(space.schedule(i)),
                      std::log(space.predictedUs(i))});
  order.resize(points.size());
  std::iota(order.begin(), order.end(), 0);
  // std::shuffle differs between libraries.
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[generator() % i]);
}

bool Search::take(Point &point) {
  if (point.taken)
    return false;
  point.taken = true;
  return known.insert(toString(point.schedule)).second;
}

bool Search::knows(const Schedule &schedule) const {
  return known.count(toString(schedule)) > 0;
}

std::vector<Schedule> Search::best(size_t count) {
  std::vector<Schedule> found;
  for (Point &point : points) {
    if (found.size() >= count)
      break;
    if (take(point))
      found.push_back(point.schedule);
  }
  return found;
}

std::vector<Schedule> Search::first(size_t count) {
  std::vector<Schedule> found = best((count + 1) / 2);
  for (Point &point : points) {
    if (found.size() >= count)
      break;
    bool like =
        std::any_of(found.begin(), found.end(), [&](const Schedule &other) {
          return distance(Decisions(other), point.decisions) < kSameTile;
        });
    if (!like && take(point))
      found.push_back(point.schedule);
  }
  return found;
}

Search::Point *Search::drawn() {
  for (; nextDrawn < order.size(); ++nextDrawn)
    if (Point &point = points[order[nextDrawn]]; take(point))
      return &point;
  return nullptr;
}

std::vector<Schedule> Search::random(size_t count) {
  std::vector<Schedule> found;
  while (found.size() < count) {
    Point *point = drawn();
    if (!point)
      break;
    found.push_back(point->schedule);
  }
  return found;
}

void Search::tell(const Schedule &schedule, std::optional<double> us) {
  known.insert(toString(schedule));
  double predicted =
      predictUs(space.problem(), schedule, space.device(), space.l2());
  double residual = us ? std::log(*us / predicted) : kFailure;
  Decisions here(schedule);
  if (us) {
    bool fastest = measured.empty() || *us < measured.front().us;
    Measured one{schedule, here, *us, residual};
    measured.insert(std::upper_bound(measured.begin(), measured.end(), one,
                                     [](const Measured &a, const Measured &b) {
                                       return a.us < b.us;
                                     }),
                    one);
    residualSum += residual;
    if (fastest)
      addNeighbours(schedule);
  }
  for (Point &point : points) {
    double away = distance(point.decisions, here);
    if (away == 0 && point.schedule == schedule)
      point.taken = true;
    if (away > kReach)
      continue;
    double weight = std::exp(-2 * away);
    // A failure is relative to what the others do.
    double mean =
        us || measured.empty() ? 0 : residualSum / double(measured.size());
    point.weight += weight;
    point.weighted += weight * (residual + mean);
  }
}

/// Legal schedules near `center` that the space does not list.
void Search::addNeighbours(const Schedule &center) {
  for (const Schedule &schedule : space.neighbours(center)) {
    bool listed =
        std::any_of(points.begin(), points.end(), [&](const Point &point) {
          return point.schedule == schedule;
        });
    if (listed)
      continue;
    Point point{schedule, Decisions(schedule),
                std::log(predictUs(space.problem(), schedule, space.device(),
                                   space.l2()))};
    point.taken = knows(schedule);
    for (const Measured &other : measured) {
      double weight = std::exp(-2 * distance(point.decisions, other.decisions));
      point.weight += weight;
      point.weighted += weight * other.residual;
    }
    points.push_back(point);
  }
}

/// Logarithm of the time expected by model and measurements.
double Search::expected(const Point &point) const {
  double mean = measured.empty() ? 0 : residualSum / double(measured.size());
  return point.logPredicted +
         (point.weighted + kModelWeight * mean) / (point.weight + kModelWeight);
}

/// The untried point with the lowest expected time less `luck` standard
/// deviations, if `near` is given within reach of one of those.
Search::Point *Search::choose(double luck, const std::vector<Decisions> *near) {
  Point *chosen = nullptr;
  double lowest = 0;
  for (Point &point : points) {
    if (point.taken)
      continue;
    double score = expected(point) -
                   luck * kModelSpread *
                       std::sqrt(kModelWeight / (point.weight + kModelWeight));
    if (chosen && score >= lowest)
      continue;
    auto reaches = [&](const Decisions &center) {
      return distance(center, point.decisions) <= kNear;
    };
    if (near && std::none_of(near->begin(), near->end(), reaches))
      continue;
    chosen = &point;
    lowest = score;
  }
  return chosen;
}

std::optional<Schedule> Search::propose() {
  size_t turn = proposals++ % 8;
  for (;;) {
    Point *point = nullptr;
    if (turn == 7)
      point = drawn();
    if (!point && turn % 4 == 1) {
      std::vector<Decisions> centers;
      for (size_t i = 0; i < std::min(kCenters, measured.size()); ++i)
        centers.push_back(measured[i].decisions);
      point = choose(0, &centers);
    }
    if (!point)
      point = choose(1, nullptr);
    if (!point)
      return std::nullopt;
    bool fresh = turn == 7 && point->taken;
    if (fresh || take(*point))
      return point->schedule;
  }
}

std::vector<Schedule> Search::around(const Schedule &center, size_t count) {
  addNeighbours(center);
  Decisions middle(center);
  std::vector<Point *> near;
  for (Point &point : points)
    if (!point.taken && distance(point.decisions, middle) <= kNear)
      near.push_back(&point);
  std::sort(near.begin(), near.end(), [&](const Point *a, const Point *b) {
    return expected(*a) < expected(*b);
  });
  std::vector<Schedule> found;
  for (Point *point : near)
    if (found.size() < count && take(*point))
      found.push_back(point->schedule);
  return found;
}

} // namespace dgemm::tuner
