// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One encoder and one decoder serve all small floating-point formats.

#include "dgemm/Reference/Numerics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace dgemm {

namespace {
/// A binary format with a sign, `exponentBits`, `mantissaBits` and subnormals.
struct Format {
  int exponentBits, mantissaBits, bias;
  bool hasInfinity; ///< the top exponent holds infinity and NaN
  uint32_t largest; ///< bits of the largest finite value
  uint32_t quietNaN;
};
constexpr Format kF16 = {5, 10, 15, true, 0x7bff, 0x7e00};
constexpr Format kE4M3 = {4, 3, 7, false, 0x7e, 0x7f};
constexpr Format kE5M2 = {5, 2, 15, true, 0x7b, 0x7f};
} // namespace

static uint32_t encodeSmall(const Format &format, float value, bool saturate) {
  uint32_t sign = std::signbit(value)
                      ? 1u << (format.exponentBits + format.mantissaBits)
                      : 0;
  if (std::isnan(value))
    return sign | format.quietNaN;
  uint32_t beyond = saturate             ? format.largest
                    : format.hasInfinity ? ((1u << format.exponentBits) - 1)
                                               << format.mantissaBits
                                         : format.quietNaN;
  if (std::isinf(value))
    return sign | beyond;
  // Every such format is exact in double, so rounding happens once: scale to
  // units of the last place of the value's binade, round to even, rescale.
  double magnitude = std::fabs(double(value));
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  double units =
      std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  uint32_t mantissa = uint32_t(units);
  // A carry into the next binade, or out of the subnormals, lands in the
  // exponent field by itself.
  int64_t bits = int64_t(exponent + format.bias - 1) *
                     (int64_t(1) << format.mantissaBits) +
                 mantissa;
  if (bits > int64_t(format.largest))
    return sign | beyond;
  return sign | uint32_t(bits);
}

static float decodeSmall(const Format &format, uint32_t bits) {
  int width = format.exponentBits + format.mantissaBits;
  double sign = (bits >> width) & 1 ? -1 : 1;
  uint32_t magnitude = bits & ((1u << width) - 1);
  if (magnitude > format.largest) {
    uint32_t infinity = ((1u << format.exponentBits) - 1)
                        << format.mantissaBits;
    if (format.hasInfinity && magnitude == infinity)
      return float(sign * INFINITY);
    return std::copysign(NAN, float(sign));
  }
  uint32_t exponent = magnitude >> format.mantissaBits;
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  if (exponent == 0)
    return float(sign *
                 std::ldexp(mantissa, 1 - format.bias - format.mantissaBits));
  return float(sign *
               std::ldexp(mantissa + (1u << format.mantissaBits),
                          int(exponent) - format.bias - format.mantissaBits));
}

static uint32_t encodeBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

static uint32_t encodeE8M0(float value) {
  if (!(value > 0) || std::isinf(value))
    return 0xff;
  int exponent = std::ilogb(double(value));
  double fraction = std::ldexp(double(value), -exponent);
  // The nearest power of two; halfway is 1.5.
  exponent += fraction > 1.5 || (fraction == 1.5 && (exponent & 1));
  return uint32_t(std::clamp(exponent, -127, 127) + 127);
}

uint32_t encode(DType type, float value, Overflow overflow) {
  bool saturate = overflow == Overflow::Saturate;
  switch (type) {
  case DType::None:
    return 0;
  case DType::BF16:
    return encodeBF16(value);
  case DType::F16:
    return encodeSmall(kF16, value, false);
  case DType::F32:
    return std::bit_cast<uint32_t>(value);
  case DType::F8E4M3FN:
    return encodeSmall(kE4M3, value, saturate);
  case DType::F8E5M2:
    return encodeSmall(kE5M2, value, saturate);
  case DType::F8E8M0FNU:
    return encodeE8M0(value);
  case DType::I8: {
    double rounded = std::isnan(value) ? 0 : std::nearbyint(double(value));
    return uint8_t(int8_t(std::clamp(rounded, -128.0, 127.0)));
  }
  case DType::I32: {
    double rounded = std::isnan(value) ? 0 : std::nearbyint(double(value));
    return uint32_t(int32_t(std::clamp(rounded, -2147483648.0, 2147483647.0)));
  }
  }
  return 0;
}

float decode(DType type, uint32_t bits) {
  switch (type) {
  case DType::None:
    return 0;
  case DType::BF16:
    return std::bit_cast<float>(bits << 16);
  case DType::F16:
    return decodeSmall(kF16, bits & 0xffff);
  case DType::F32:
    return std::bit_cast<float>(bits);
  case DType::F8E4M3FN:
    return decodeSmall(kE4M3, bits & 0xff);
  case DType::F8E5M2:
    return decodeSmall(kE5M2, bits & 0xff);
  case DType::F8E8M0FNU:
    return (bits & 0xff) == 0xff
               ? NAN
               : float(std::ldexp(1.0, int(bits & 0xff) - 127));
  case DType::I8:
    return int8_t(bits);
  case DType::I32:
    return float(int32_t(bits));
  }
  return 0;
}

float loadElement(DType type, const void *base, int64_t index) {
  uint32_t bits = 0;
  int64_t size = sizeOf(type);
  std::memcpy(&bits, static_cast<const char *>(base) + index * size,
              size_t(size));
  return decode(type, bits);
}

void storeElement(DType type, void *base, int64_t index, float value) {
  uint32_t bits = encode(type, value);
  int64_t size = sizeOf(type);
  std::memcpy(static_cast<char *>(base) + index * size, &bits, size_t(size));
}

double unitRoundoff(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1p-8;
  case DType::F16:
    return 0x1p-11;
  case DType::F32:
    return 0x1p-24;
  case DType::F8E4M3FN:
    return 0x1p-4;
  case DType::F8E5M2:
    return 0x1p-3;
  case DType::F8E8M0FNU:
    return 0.5;
  case DType::None:
  case DType::I8:
  case DType::I32:
    return 0;
  }
  return 0;
}

} // namespace dgemm
