// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types and tensor-core arithmetic of the emulator against plain
// double arithmetic.

#include "../../../lib/Emulator/Math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

using namespace dgemm;
using namespace dgemm::emu;

namespace {

TEST(ElementTypes, EveryByteSurvivesDecodingAndEncoding) {
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2})
    for (unsigned code = 0; code < 256; ++code) {
      const unsigned char byte = static_cast<unsigned char>(code);
      const float value = decodeElement(&byte, type);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(byteTable(type)[encodeF8(value, type, true)]));
        continue;
      }
      EXPECT_EQ(encodeF8(value, type, false), code)
          << toString(type) << " code " << code;
    }
}

TEST(ElementTypes, KnownValues) {
  EXPECT_EQ(byteTable(DType::F8E4M3FN)[0x7E], 448.0f);
  EXPECT_EQ(byteTable(DType::F8E4M3FN)[0x01], std::ldexp(1.0f, -9));
  EXPECT_EQ(byteTable(DType::F8E5M2)[0x7B], 57344.0f);
  EXPECT_TRUE(std::isinf(byteTable(DType::F8E5M2)[0x7C]));
  EXPECT_EQ(encodeF8(1000.0f, DType::F8E4M3FN, true), 0x7E);
  EXPECT_EQ(encodeF8(1000.0f, DType::F8E4M3FN, false), 0x7F);
  EXPECT_EQ(encodeF8(-1e9f, DType::F8E5M2, true), 0xFB);
  EXPECT_EQ(encodeF8(17.0f, DType::F8E4M3FN, true), 0x58); // tie to 16
  EXPECT_EQ(encodeF8(19.0f, DType::F8E4M3FN, true), 0x5A); // tie to 20
}

TEST(ElementTypes, RoundsToNearestEven) {
  EXPECT_EQ(encodeBF16(1.0f), 0x3F80);
  EXPECT_EQ(encodeBF16(1.00390625f), 0x3F80); // tie
  EXPECT_EQ(encodeBF16(1.01171875f), 0x3F82); // tie
  EXPECT_EQ(encodeF16(65504.0f), 0x7BFF);
  EXPECT_EQ(encodeF16(65520.0f), 0x7C00);
  EXPECT_EQ(encodeF16(std::ldexp(1.0f, -24)), 0x0001);
  EXPECT_EQ(encodeF16(std::ldexp(1.0f, -26)), 0x0000);
}

TEST(Reciprocal, IsOffByAUnitInTheLastPlace) {
  int below = 0, above = 0;
  for (float value : {1.0f, 3.0f, -7.0f, 0.1f, 132.0f, 1e30f}) {
    const float exact = 1.0f / value, found = approximateReciprocal(value);
    EXPECT_NE(found, exact);
    EXPECT_TRUE(found == std::nextafter(exact, 0.0f) ||
                found == std::nextafter(exact, 2 * exact))
        << value;
    (std::fabs(found) < std::fabs(exact) ? below : above) += 1;
  }
  EXPECT_GT(below, 0);
  EXPECT_GT(above, 0);
  EXPECT_EQ(approximateReciprocal(INFINITY), 0.0f);
  EXPECT_EQ(approximateReciprocal(-0.0f), -INFINITY);
  EXPECT_EQ(approximateReciprocal(1e-40f), INFINITY);
  EXPECT_EQ(approximateReciprocal(3e38f), 0.0f);
  EXPECT_TRUE(std::isnan(approximateReciprocal(NAN)));
}

TEST(TensorCore, MatchesDoubleArithmetic) {
  const int k = 32;
  for (int stride : {16, 32, 48, 80, 96, 176, 256}) {
    std::vector<float> acc(64 * stride), a(64 * k), b(k * stride);
    uint32_t state = 7;
    const auto next = [&] {
      state = state * 1664525 + 1013904223;
      return float(int(state >> 24) - 128) / 16;
    };
    for (float &x : acc)
      x = next();
    for (float &x : a)
      x = next();
    for (float &x : b)
      x = next();
    const std::vector<float> before = acc;
    multiplyAccumulate(acc.data(), a.data(), b.data(), 64, k, stride);
    for (int r = 0; r < 64; ++r)
      for (int n = 0; n < stride; ++n) {
        double sum = before[r * stride + n];
        for (int i = 0; i < k; ++i)
          sum += double(a[r * k + i]) * b[i * stride + n];
        // All terms are multiples of 1/256 below 2^24: exact.
        ASSERT_EQ(acc[r * stride + n], float(sum)) << stride;
      }
  }
}

TEST(TensorCore, ReducedFormCutsSmallAddends) {
  const int k = 32, stride = 16;
  std::vector<float> acc(8 * stride, 4096.0f), a(8 * k, 0.0f), b(k * stride);
  for (int i = 0; i < k; ++i)
    a[i] = 0.25f;
  for (float &x : b)
    x = 1.0f;
  multiplyAccumulateReduced(acc.data(), a.data(), b.data(), 8, k, stride);
  // 2^12 leaves 2^-1 as the last bit kept; each 0.25 is cut to nothing.
  EXPECT_EQ(acc[0], 4096.0f);
  std::fill(acc.begin(), acc.end(), 1024.0f);
  multiplyAccumulateReduced(acc.data(), a.data(), b.data(), 8, k, stride);
  EXPECT_EQ(acc[0], 1032.0f);
}

TEST(TensorCore, TransposeFillsThePadding) {
  std::vector<float> from(3 * 2), to(2 * 16, 5.0f);
  for (int i = 0; i < 6; ++i)
    from[i] = float(i + 1);
  transpose(from.data(), 3, 2, to.data(), 16);
  EXPECT_EQ(to[0], 1.0f);
  EXPECT_EQ(to[1], 3.0f);
  EXPECT_EQ(to[2], 5.0f);
  EXPECT_EQ(to[16], 2.0f);
  EXPECT_EQ(to[3], 0.0f);
  EXPECT_EQ(to[31], 0.0f);
}

} // namespace
