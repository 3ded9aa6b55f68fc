// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Which schedule to try next. The cost model gives every schedule a time; what
// is measured corrects it nearby.
//
// With x the logarithm of measured over predicted time, a schedule s is
// expected at
//
//   log predicted(s) + sum_i w_i x_i / (w0 + sum_i w_i),  w_i = exp(-2 d(s, i))
//
// where d is the distance of Space.h and w0 pulls schedules far from all
// measurements back to the model. Its uncertainty falls with the weight around
// it; the next to try is the one that would be fastest were it lucky. Every
// fourth one comes from the neighbourhood of the best three instead, and every
// eighth at random, so that an error the model makes everywhere is found too.

#ifndef DGEMM_TUNER_SEARCH_H
#define DGEMM_TUNER_SEARCH_H

#include "dgemm/Tuner/Space.h"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

namespace dgemm::tuner {

class Search {
public:
  /// The space outlives the search. Equal seeds and equal answers give equal
  /// proposals.
  Search(const Space &space, uint64_t seed);

  /// The first `count` schedules of the model: every other one the best
  /// predicted, the rest the best of a tile that is not among them yet.
  std::vector<Schedule> first(size_t count);
  /// The `count` best predicted.
  std::vector<Schedule> best(size_t count);
  /// `count` schedules drawn evenly from the whole space.
  std::vector<Schedule> random(size_t count);
  /// The next to try; none when all were. Never one that was handed out or
  /// told before.
  std::optional<Schedule> propose();
  /// The best untried ones within one decision of `center`, by expected time.
  std::vector<Schedule> around(const Schedule &center, size_t count);

  /// What became of a schedule: its time in microseconds, or none when it
  /// failed, which makes its neighbours less attractive.
  void tell(const Schedule &schedule, std::optional<double> us);
  /// True when this schedule was handed out or told.
  bool knows(const Schedule &schedule) const;

private:
  struct Point {
    Schedule schedule;
    Decisions decisions;
    double logPredicted = 0;
    double weight = 0, weighted = 0; ///< sums over measurements
    bool taken = false;
  };
  struct Measured {
    Schedule schedule;
    Decisions decisions;
    double us = 0, residual = 0;
  };

  bool take(Point &point);
  void addNeighbours(const Schedule &center);
  double expected(const Point &point) const;
  Point *choose(double luck, const std::vector<Decisions> *near);
  Point *drawn();

  const Space &space;
  std::mt19937_64 generator;
  std::vector<Point> points; ///< the space, then neighbours beyond it
  std::vector<size_t> order; ///< of random draws
  size_t nextDrawn = 0;
  std::unordered_set<std::string> known;
  std::vector<Measured> measured; ///< fastest first
  double residualSum = 0;
  size_t proposals = 0;
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_SEARCH_H
