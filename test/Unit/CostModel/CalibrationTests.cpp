// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration finds coefficients again from times made with them, says which
// it could not find, and refuses what cannot be fitted.

#include "dgemm/CostModel/Calibration.h"

#include "MeasuredVariants.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dgemm;
using Fit = DeviceField::Fit;

/// Every `step`-th measured kernel, with the time that `device` predicts.
static std::vector<Measurement> synthetic(const DeviceModel &device, bool large,
                                          size_t step) {
  std::vector<Measurement> out;
  size_t i = 0;
  for (const MeasuredVariant &variant : readMeasuredVariants()) {
    if (variant.large != large || i++ % step != 0)
      continue;
    double us = (large ? largeCost(variant.inputs, device)
                       : decodeCost(variant.inputs, device))
                    .microseconds;
    out.push_back({variant.inputs, us});
  }
  return out;
}

static const FittedCoefficient *find(const CalibrationResult &result,
                                     const std::string &name) {
  for (const FittedCoefficient &coefficient : result.coefficients)
    if (coefficient.name == name)
      return &coefficient;
  return nullptr;
}

TEST(Calibration, RecoversLargeCoefficients) {
  DeviceModel truth;
  truth.large.clock16 *= 0.9;
  truth.large.loadLatency *= 1.3;
  truth.large.tmaRow *= 0.8;
  truth.large.epilogueRound *= 1.2;
  std::vector<Measurement> data = synthetic(truth, true, 12);
  Result<CalibrationResult> result = calibrate(DeviceModel(), data, Fit::Large);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_GT(result->medianErrorBefore, 0.02);
  EXPECT_LT(result->medianErrorAfter, 0.002);
  EXPECT_NEAR(result->device.large.clock16, truth.large.clock16, 0.01);
  EXPECT_NEAR(result->device.large.loadLatency / truth.large.loadLatency, 1,
              0.03);
  EXPECT_NEAR(result->device.large.tmaRow / truth.large.tmaRow, 1, 0.05);
  EXPECT_NEAR(result->device.large.epilogueRound / truth.large.epilogueRound, 1,
              0.1);
  for (const FittedCoefficient &coefficient : result->coefficients)
    EXPECT_FALSE(coefficient.atBound) << coefficient.name;
}

TEST(Calibration, RecoversDecodeCoefficients) {
  DeviceModel truth;
  truth.decode.hbm *= 0.7;
  truth.decode.launch *= 1.5;
  std::vector<Measurement> data = synthetic(truth, false, 4);
  Result<CalibrationResult> result =
      calibrate(DeviceModel(), data, Fit::Decode);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_LT(result->medianErrorAfter, 0.005);
  EXPECT_NEAR(result->device.decode.hbm / truth.decode.hbm, 1, 0.02);
  const FittedCoefficient *hbm = find(*result, "decode.hbm");
  ASSERT_NE(hbm, nullptr);
  EXPECT_DOUBLE_EQ(hbm->before, DeviceModel().decode.hbm);
  EXPECT_DOUBLE_EQ(hbm->value, result->device.decode.hbm);
}

TEST(Calibration, SaysWhatTheDataDoNotShow) {
  // BF16 kernels without clusters know nothing of promotion or clusters.
  DeviceModel truth;
  std::vector<Measurement> data;
  for (const Measurement &measurement : synthetic(truth, true, 4))
    if (!measurement.inputs.fp8 &&
        measurement.inputs.clusterM * measurement.inputs.clusterN == 1)
      data.push_back(measurement);
  Result<CalibrationResult> result = calibrate(truth, data, Fit::Large);
  ASSERT_TRUE(result.ok()) << result.message();
  for (const char *name : {"large.cluster_8", "large.clock_8",
                           "large.extra_block", "large.promotion"}) {
    const FittedCoefficient *coefficient = find(*result, name);
    ASSERT_NE(coefficient, nullptr) << name;
    EXPECT_TRUE(std::isinf(coefficient->standardError)) << name;
    EXPECT_DOUBLE_EQ(coefficient->value, coefficient->before) << name;
  }
  const FittedCoefficient *clock = find(*result, "large.clock_16");
  ASSERT_NE(clock, nullptr);
  EXPECT_FALSE(std::isinf(clock->standardError));
}

TEST(Calibration, MeasurementsGiveTheShippedCoefficients) {
  DeviceModel shipped;
  std::vector<Measurement> data;
  size_t i = 0;
  for (const MeasuredVariant &variant : readMeasuredVariants())
    if (variant.large && i++ % 6 == 0)
      data.push_back({variant.inputs, variant.us});
  // From a start that is off, so that agreement is not mere inertia.
  DeviceModel start;
  start.large.clock16 *= 1.1;
  start.large.clock8 *= 0.9;
  start.large.loadLatency *= 1.3;
  start.large.tmaRow *= 0.7;
  Result<CalibrationResult> result = calibrate(start, data, Fit::Large);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_LT(result->medianErrorAfter, 0.016);
  EXPECT_GT(result->medianErrorBefore, 0.04);
  const LargeCoefficients &fitted = result->device.large;
  // Slow kernels counted much less when the shipped ones were fitted.
  EXPECT_NEAR(fitted.clock16 / shipped.large.clock16, 1, 0.04);
  EXPECT_NEAR(fitted.clock8 / shipped.large.clock8, 1, 0.03);
  EXPECT_NEAR(fitted.loadLatency / shipped.large.loadLatency, 1, 0.1);
  EXPECT_NEAR(fitted.tmaRow / shipped.large.tmaRow, 1, 0.15);
}

TEST(Calibration, RefusesBadData) {
  DeviceModel device;
  EXPECT_NE(calibrate(device, {}, Fit::Large)
                .message()
                .find("expected at least 1 measurements with M > 128"),
            std::string::npos);
  std::vector<Measurement> data = synthetic(device, true, 8);
  data[3].microseconds = 0;
  EXPECT_NE(calibrate(device, data, Fit::Large).message().find("positive"),
            std::string::npos);
  data[3].microseconds = NAN;
  EXPECT_FALSE(calibrate(device, data, Fit::Large).ok());
}
