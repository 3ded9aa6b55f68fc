// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The model against measurements: error of the time, and how fast the
// schedules are that it would pick. The floors lie just below what the model
// reaches, so that a change for the worse fails.

#include "MeasuredVariants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace dgemm;

namespace {
struct Scores {
  double medianError = 0;
  double meanTop1 = 0, worstTop1 = 1; ///< best time / time of the pick
  double meanTop8 = 0, worstTop8 = 1; ///< best time / best of eight
  size_t rows = 0, groups = 0;
};
} // namespace

static Scores score(bool large, bool fp8) {
  DeviceModel device;
  std::map<std::string, std::vector<std::pair<double, double>>> groups;
  std::vector<double> errors;
  for (const MeasuredVariant &variant : readMeasuredVariants()) {
    if (variant.large != large || variant.inputs.fp8 != fp8)
      continue;
    double us = (large ? largeCost(variant.inputs, device)
                       : decodeCost(variant.inputs, device))
                    .microseconds;
    errors.push_back(std::abs(us / variant.us - 1));
    groups[variant.group].emplace_back(us, variant.us);
  }
  Scores scores;
  scores.rows = errors.size();
  if (errors.empty())
    return scores;
  std::sort(errors.begin(), errors.end());
  scores.medianError = errors[errors.size() / 2];
  for (auto &[name, rows] : groups) {
    if (rows.size() < 12)
      continue;
    std::sort(rows.begin(), rows.end());
    double best = rows[0].second, bestOf8 = rows[0].second;
    for (size_t i = 0; i < rows.size(); ++i) {
      best = std::min(best, rows[i].second);
      if (i < 8)
        bestOf8 = std::min(bestOf8, rows[i].second);
    }
    ++scores.groups;
    scores.meanTop1 += best / rows[0].second;
    scores.meanTop8 += best / bestOf8;
    scores.worstTop1 = std::min(scores.worstTop1, best / rows[0].second);
    scores.worstTop8 = std::min(scores.worstTop8, best / bestOf8);
  }
  scores.meanTop1 /= scores.groups;
  scores.meanTop8 /= scores.groups;
  return scores;
}

TEST(MeasuredVariants, LargeBf16) {
  Scores scores = score(true, false);
  EXPECT_GT(scores.rows, 1000u);
  EXPECT_EQ(scores.groups, 8u);
  EXPECT_LT(scores.medianError, 0.013);
  EXPECT_GT(scores.meanTop1, 0.99);
  EXPECT_GT(scores.worstTop1, 0.94);
  EXPECT_GT(scores.meanTop8, 0.998);
  EXPECT_GT(scores.worstTop8, 0.995);
}

TEST(MeasuredVariants, LargeFp8) {
  Scores scores = score(true, true);
  EXPECT_GT(scores.rows, 1400u);
  EXPECT_EQ(scores.groups, 8u);
  EXPECT_LT(scores.medianError, 0.018);
  EXPECT_GT(scores.meanTop1, 0.97);
  EXPECT_GT(scores.worstTop1, 0.95);
  EXPECT_GT(scores.meanTop8, 0.99);
  EXPECT_GT(scores.worstTop8, 0.965);
}

TEST(MeasuredVariants, DecodeBf16) {
  Scores scores = score(false, false);
  EXPECT_GT(scores.rows, 800u);
  EXPECT_LT(scores.medianError, 0.04);
  EXPECT_GT(scores.meanTop1, 0.96);
  EXPECT_GT(scores.worstTop8, 0.96);
}

TEST(MeasuredVariants, DecodeFp8) {
  Scores scores = score(false, true);
  EXPECT_GT(scores.rows, 100u);
  EXPECT_LT(scores.medianError, 0.045);
}

TEST(MeasuredVariants, TheCheapBoundIsBelowThePrediction) {
  DeviceModel device;
  size_t rows = 0, tight = 0;
  for (const MeasuredVariant &variant : readMeasuredVariants()) {
    if (!variant.large)
      continue;
    double bound = largeCost(variant.inputs, device, false).microseconds;
    double us = largeCost(variant.inputs, device).microseconds;
    ASSERT_LE(bound, us * (1 + 1e-9)) << variant.group;
    ++rows;
    tight += bound > us * 0.97;
  }
  // Useless if it were far below; it is for raster groups of one row.
  EXPECT_GT(tight, rows * 6 / 10);
}
