// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every legal schedule of one problem with its predicted time: what the tuner
// searches.

#ifndef DGEMM_TUNER_SPACE_H
#define DGEMM_TUNER_SPACE_H

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/CostModel/SearchSpace.h"
#include "dgemm/Support/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// Predicted time in microseconds with L2 in the given state.
double predictUs(const Problem &problem, const Schedule &schedule,
                 const DeviceModel &device, L2State l2);

/// How far two schedules are apart: the number of independent decisions that
/// differ (tile, form, stages, cluster, split, ...), where tile widths, stages
/// and raster groups count by how far apart they are. 0 for equal ones; values
/// that follow from others (registers, swizzle of D) do not count.
double distance(const Schedule &a, const Schedule &b);

/// What distance looks at, worked out once for many distances.
struct Decisions {
  explicit Decisions(const Schedule &schedule);
  std::array<float, 7> sizes; ///< logarithms, scaled so that 1 is a decision
  std::array<int8_t, 13> kinds;
};
double distance(const Decisions &a, const Decisions &b);

class Space {
public:
  /// Enumerates the widest space of a problem of known sizes, fastest
  /// prediction first. Errors: a malformed problem, an unknown size, or no
  /// legal schedule (the text says which limit is in the way).
  static Result<Space> create(const Problem &problem, const DeviceModel &device,
                              L2State l2);

  size_t size() const { return members.size(); }
  const Schedule &schedule(size_t index) const {
    return members[index].schedule;
  }
  double predictedUs(size_t index) const { return members[index].us; }

  /// Schedules one decision away from `center`: members of the space, and
  /// legal ones beyond it that differ in a decision the enumeration leaves
  /// fixed (persistence, cache hint, overlap, kind of store).

  std::vector<Schedule> neighbours(const Schedule &center) const;

  const Problem &problem() const { return about; }
  const DeviceModel &device() const { return model; }
  L2State l2() const { return state; }

private:
  struct Member {
    Schedule schedule;
    double us = 0;
  };
  Problem about;
  DeviceModel model;
  L2State state = L2State::Dirty;
  std::vector<Member> members;
};

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_SPACE_H
