// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Number formats: exact values, ties, subnormals, overflow, NaN, and round
// trips over every bit pattern.

#include "dgemm/Reference/Numerics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace dgemm;

static constexpr float kInf = std::numeric_limits<float>::infinity();
static const float kNaN = std::nanf("");

TEST(Numerics, E4M3KnownValues) {
  EXPECT_EQ(encode(DType::F8E4M3FN, 1.0f), 0x38u);
  EXPECT_EQ(encode(DType::F8E4M3FN, -1.0f), 0xb8u);
  EXPECT_EQ(encode(DType::F8E4M3FN, 448.0f), 0x7eu);
  EXPECT_EQ(encode(DType::F8E4M3FN, 0x1p-9f), 0x01u); // smallest subnormal
  EXPECT_EQ(encode(DType::F8E4M3FN, 0x1p-6f), 0x08u); // smallest normal
  EXPECT_EQ(encode(DType::F8E4M3FN, -0.0f), 0x80u);
  EXPECT_EQ(decode(DType::F8E4M3FN, 0x7e), 448.0f);
  EXPECT_EQ(decode(DType::F8E4M3FN, 0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(decode(DType::F8E4M3FN, 0x7f)));
  EXPECT_TRUE(std::isnan(decode(DType::F8E4M3FN, 0xff)));
}

TEST(Numerics, E4M3RoundsToEven) {
  EXPECT_EQ(encode(DType::F8E4M3FN, 1.0625f), 0x38u);  // tie: 1.0 | 1.125
  EXPECT_EQ(encode(DType::F8E4M3FN, 1.1875f), 0x3au);  // tie: 1.125 | 1.25
  EXPECT_EQ(encode(DType::F8E4M3FN, 1.063f), 0x39u);   // just above a tie
  EXPECT_EQ(encode(DType::F8E4M3FN, 0x1p-10f), 0x00u); // tie with zero
  EXPECT_EQ(encode(DType::F8E4M3FN, 0x1.8p-9f), 0x02u);
  EXPECT_EQ(encode(DType::F8E4M3FN, 0x1.fp-7f), 0x08u); // carries to normal
  EXPECT_EQ(encode(DType::F8E4M3FN, 1.97f), 0x40u);     // carries to 2
}

TEST(Numerics, E4M3Overflow) {
  EXPECT_EQ(encode(DType::F8E4M3FN, 464.0f), 0x7eu); // tie, down to 448
  EXPECT_EQ(encode(DType::F8E4M3FN, 465.0f), 0x7eu);
  EXPECT_EQ(encode(DType::F8E4M3FN, 465.0f, Overflow::NonFinite), 0x7fu);
  EXPECT_EQ(encode(DType::F8E4M3FN, -kInf), 0xfeu);
  EXPECT_EQ(encode(DType::F8E4M3FN, kInf, Overflow::NonFinite), 0x7fu);
  EXPECT_EQ(encode(DType::F8E4M3FN, kNaN) & 0x7f, 0x7fu);
}

TEST(Numerics, E5M2KnownValues) {
  EXPECT_EQ(encode(DType::F8E5M2, 1.0f), 0x3cu);
  EXPECT_EQ(encode(DType::F8E5M2, 57344.0f), 0x7bu);
  EXPECT_EQ(encode(DType::F8E5M2, 1e9f), 0x7bu);
  EXPECT_EQ(encode(DType::F8E5M2, 1e9f, Overflow::NonFinite), 0x7cu);
  EXPECT_EQ(encode(DType::F8E5M2, 0x1p-16f), 0x01u);
  EXPECT_EQ(decode(DType::F8E5M2, 0x7c), kInf);
  EXPECT_EQ(decode(DType::F8E5M2, 0xfc), -kInf);
  EXPECT_TRUE(std::isnan(decode(DType::F8E5M2, 0x7d)));
  EXPECT_EQ(encode(DType::F8E5M2, 1.125f), 0x3cu); // tie to even
  EXPECT_EQ(encode(DType::F8E5M2, 1.375f), 0x3eu);
}

TEST(Numerics, BF16) {
  EXPECT_EQ(encode(DType::BF16, 1.0f), 0x3f80u);
  EXPECT_EQ(encode(DType::BF16, 0x1.01p0f), 0x3f80u); // tie to even
  EXPECT_EQ(encode(DType::BF16, 0x1.03p0f), 0x3f82u);
  EXPECT_EQ(encode(DType::BF16, kInf), 0x7f80u);
  EXPECT_EQ(encode(DType::BF16, std::numeric_limits<float>::max()), 0x7f80u);
  EXPECT_TRUE(std::isnan(decode(DType::BF16, encode(DType::BF16, kNaN))));
  // A NaN whose payload lies in the bits that are cut off stays a NaN.
  EXPECT_TRUE(std::isnan(decode(
      DType::BF16, encode(DType::BF16, decode(DType::F32, 0x7f800001)))));
  EXPECT_EQ(decode(DType::BF16, 0x0001), 0x1p-133f); // subnormal
}

TEST(Numerics, F16) {
  EXPECT_EQ(encode(DType::F16, 1.0f), 0x3c00u);
  EXPECT_EQ(encode(DType::F16, 65504.0f), 0x7bffu);
  EXPECT_EQ(encode(DType::F16, 65520.0f), 0x7c00u);
  EXPECT_EQ(encode(DType::F16, 0x1p-24f), 0x0001u);
  EXPECT_EQ(decode(DType::F16, 0xfc00), -kInf);
  EXPECT_TRUE(std::isnan(decode(DType::F16, 0x7e00)));
}

TEST(Numerics, E8M0) {
  EXPECT_EQ(encode(DType::F8E8M0FNU, 1.0f), 127u);
  EXPECT_EQ(encode(DType::F8E8M0FNU, 0.25f), 125u);
  EXPECT_EQ(encode(DType::F8E8M0FNU, 1.4f), 127u);
  EXPECT_EQ(encode(DType::F8E8M0FNU, 1.6f), 128u);
  EXPECT_EQ(encode(DType::F8E8M0FNU, 0.0f), 0xffu);
  EXPECT_EQ(encode(DType::F8E8M0FNU, -2.0f), 0xffu);
  EXPECT_EQ(decode(DType::F8E8M0FNU, 0), 0x1p-127f);
  EXPECT_EQ(decode(DType::F8E8M0FNU, 254), 0x1p127f);
  EXPECT_TRUE(std::isnan(decode(DType::F8E8M0FNU, 0xff)));
}

TEST(Numerics, IntegersRoundAndSaturate) {
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, -3.5f)), -4);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, 300.0f)), 127);
  EXPECT_EQ(decode(DType::I32, encode(DType::I32, -70000.0f)), -70000);
  EXPECT_EQ(encode(DType::I32, 1e20f), 0x7fffffffu);
}

/// Every value of a type comes back to its own bits, NaNs to a NaN.
TEST(Numerics, EveryPatternRoundTrips) {
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2, DType::F8E8M0FNU,
                     DType::BF16, DType::F16, DType::I8}) {
    uint32_t count = 1u << (8 * sizeOf(type));
    for (uint32_t bits = 0; bits < count; ++bits) {
      float value = decode(type, bits);
      uint32_t back = encode(type, value, Overflow::NonFinite);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(type, back))) << toString(type) << bits;
      else
        EXPECT_EQ(back, bits) << toString(type);
    }
  }
}

/// Between two neighbours the nearer one is taken, halfway the even one.
TEST(Numerics, EveryMidpointRoundsToEven) {
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2, DType::F16, DType::BF16})
    for (uint32_t bits = 0; bits < 0x7a; ++bits) {
      double low = decode(type, bits), high = decode(type, bits + 1);
      float middle = float((low + high) / 2);
      EXPECT_EQ(encode(type, middle), bits % 2 ? bits + 1 : bits);
      EXPECT_EQ(encode(type, std::nextafter(middle, kInf)), bits + 1);
      EXPECT_EQ(encode(type, std::nextafter(middle, 0.0f)), bits);
    }
}

TEST(Numerics, ElementsOfArrays) {
  uint8_t bytes[8] = {};
  storeElement(DType::BF16, bytes, 1, 2.0f);
  EXPECT_EQ(bytes[2], 0x00);
  EXPECT_EQ(bytes[3], 0x40);
  EXPECT_EQ(bytes[4], 0);
  EXPECT_EQ(loadElement(DType::BF16, bytes, 1), 2.0f);
}
