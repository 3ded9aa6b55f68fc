// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the tensor core. Products of 16- and 8-bit inputs are exact in
// FP32; sums are fused multiply-adds in rising K. The reduced form models the
// narrow accumulator that FP8 inputs use on the device.

#include "Math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dgemm;
using namespace dgemm::emu;

#if defined(__x86_64__) && defined(__linux__)
#define DGEMM_CLONES                                                           \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DGEMM_CLONES
#endif

namespace {
typedef float Vector __attribute__((vector_size(64), aligned(4)));

inline __attribute__((always_inline)) Vector fma(Vector a, Vector b, Vector c) {
#if defined(__has_builtin) && __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
  for (int i = 0; i < 16; ++i)
    c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}

/// R rows x V vectors of the result stay in registers over all of K.
template <int R, int V>
inline __attribute__((always_inline)) void
block(float *acc, const float *a, const float *b, int k, int stride) {
  Vector sum[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      std::memcpy(&sum[r][v], acc + r * stride + 16 * v, 64);
  for (int i = 0; i < k; ++i) {
    Vector right[V];
    for (int v = 0; v < V; ++v)
      std::memcpy(&right[v], b + i * stride + 16 * v, 64);
    for (int r = 0; r < R; ++r) {
      const Vector left = Vector{} + a[r * k + i];
      for (int v = 0; v < V; ++v)
        sum[r][v] = fma(left, right[v], sum[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      std::memcpy(acc + r * stride + 16 * v, &sum[r][v], 64);
}
} // namespace

DGEMM_CLONES
void emu::multiplyAccumulate(float *acc, const float *a, const float *b,
                             int rows, int k, int stride) {
  int column = 0;
  for (; column + 64 <= stride; column += 64)
    for (int r = 0; r + 4 <= rows; r += 4)
      block<4, 4>(acc + r * stride + column, a + r * k, b + column, k, stride);
  for (; column + 32 <= stride; column += 32)
    for (int r = 0; r + 4 <= rows; r += 4)
      block<4, 2>(acc + r * stride + column, a + r * k, b + column, k, stride);
  for (; column + 16 <= stride; column += 16)
    for (int r = 0; r + 8 <= rows; r += 8)
      block<8, 1>(acc + r * stride + column, a + r * k, b + column, k, stride);
}

DGEMM_CLONES
void emu::transpose(const float *from, int rows, int k, float *to, int stride) {
  for (int i = 0; i < k; ++i) {
    float *row = to + i * stride;
    for (int r = 0; r < rows; ++r)
      row[r] = from[r * k + i];
    for (int r = rows; r < stride; ++r)
      row[r] = 0;
  }
}

void emu::multiplyAccumulateReduced(float *acc, const float *a, const float *b,
                                    int rows, int k, int stride) {
  // All addends of one instruction, the old accumulator among them, are
  // aligned to the largest exponent and cut to 13 bits below it.
  constexpr int kFraction = 13;
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < stride; ++n) {
      const float old = acc[r * stride + n];
      float largest = std::fabs(old);
      for (int i = 0; i < k; ++i)
        largest =
            std::max(largest, std::fabs(a[r * k + i] * b[i * stride + n]));
      if (!std::isfinite(largest) || largest == 0) {
        float sum = old;
        for (int i = 0; i < k; ++i)
          sum += a[r * k + i] * b[i * stride + n];
        acc[r * stride + n] = sum;
        continue;
      }
      const int shift = kFraction - std::ilogb(largest);
      double sum = std::trunc(std::scalbn(double(old), shift));
      for (int i = 0; i < k; ++i)
        sum += std::trunc(
            std::scalbn(double(a[r * k + i]) * b[i * stride + n], shift));
      acc[r * stride + n] = float(std::scalbn(sum, -shift));
    }
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

static float decodeSmall(unsigned bits, int exponentBits, int mantissaBits,
                         bool infinities) {
  const unsigned mantissa = bits & ((1u << mantissaBits) - 1);
  const unsigned exponent = (bits >> mantissaBits) & ((1u << exponentBits) - 1);
  const bool negative = bits >> (exponentBits + mantissaBits) & 1;
  const int bias = (1 << (exponentBits - 1)) - 1;
  const unsigned top = (1u << exponentBits) - 1;
  float value;
  if (infinities && exponent == top)
    value = mantissa ? NAN : INFINITY;
  else if (!infinities && exponent == top &&
           mantissa == (1u << mantissaBits) - 1)
    value = NAN;
  else if (exponent == 0)
    value = std::scalbn(float(mantissa), 1 - bias - mantissaBits);
  else
    value = std::scalbn(float(mantissa | 1u << mantissaBits),
                        int(exponent) - bias - mantissaBits);
  return negative ? -value : value;
}

namespace {
/// All 256 values of the 8-bit types.
struct Tables {
  float e4m3[256], e5m2[256], e8m0[256];
  Tables() {
    for (unsigned i = 0; i < 256; ++i) {
      e4m3[i] = decodeSmall(i, 4, 3, false);
      e5m2[i] = decodeSmall(i, 5, 2, true);
      e8m0[i] = i == 255 ? NAN : std::scalbn(1.0f, int(i) - 127);
    }
  }
};
} // namespace

static const Tables &tables() {
  static const Tables instance;
  return instance;
}

const float *emu::byteTable(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return tables().e4m3;
  case DType::F8E5M2:
    return tables().e5m2;
  case DType::F8E8M0FNU:
    return tables().e8m0;
  default:
    return nullptr;
  }
}

float emu::decodeElement(const unsigned char *bytes, DType type) {
  if (const float *table = byteTable(type))
    return table[*bytes];
  uint16_t half;
  switch (type) {
  case DType::F32:
    float value;
    std::memcpy(&value, bytes, 4);
    return value;
  case DType::BF16:
    std::memcpy(&half, bytes, 2);
    return fromBits(uint32_t(half) << 16);
  case DType::F16:
    std::memcpy(&half, bytes, 2);
    return decodeSmall(half, 5, 10, true);
  case DType::I8:
    return static_cast<signed char>(*bytes);
  default:
    return NAN;
  }
}

uint16_t emu::encodeBF16(float value) {
  const uint32_t bits = toBits(value);
  if (std::isnan(value))
    return 0x7FFF;
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float emu::approximateReciprocal(float value) {
  auto flush = [](float number) {
    return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0f, number)
                                                   : number;
  };
  const float exact = flush(1.0f / flush(value));
  return std::isnormal(exact) ? fromBits(toBits(exact) ^ 1) : exact;
}

/// Rounds to nearest even with the given precision; overflow gives infinity
/// when the type has one.
static unsigned encodeSmall(float value, int exponentBits, int mantissaBits,
                            bool infinities, bool saturate) {
  const unsigned sign =
      std::signbit(value) ? 1u << (exponentBits + mantissaBits) : 0;
  const int bias = (1 << (exponentBits - 1)) - 1;
  const unsigned top = (1u << exponentBits) - 1;
  const unsigned full = (1u << mantissaBits) - 1;
  const unsigned infinity = top << mantissaBits;
  const unsigned nan = infinity | full;
  const unsigned largest = infinities ? infinity - 1 : nan - 1;
  if (std::isnan(value))
    return nan;
  const double magnitude = std::fabs(double(value));
  if (std::isinf(value))
    return sign | (saturate ? largest : infinities ? infinity : nan);
  int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
  exponent = std::max(exponent, 1 - bias);
  // Units of the last place; the default rounding mode is nearest even.
  const double units = std::scalbn(magnitude, mantissaBits - exponent);
  const uint64_t rounded = uint64_t(std::nearbyint(units));
  unsigned bits =
      unsigned(rounded) + (unsigned(exponent + bias - 1) << mantissaBits);
  if (bits > largest)
    bits = saturate ? largest : infinities ? infinity : nan;
  return sign | bits;
}

uint16_t emu::encodeF16(float value) {
  return uint16_t(encodeSmall(value, 5, 10, true, false));
}

uint8_t emu::encodeF8(float value, DType type, bool saturate) {
  return type == DType::F8E5M2
             ? uint8_t(encodeSmall(value, 5, 2, true, saturate))
             : uint8_t(encodeSmall(value, 4, 3, false, saturate));
}
