// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and element types of the emulated tensor core.

#ifndef DGEMM_EMULATOR_MATH_H
#define DGEMM_EMULATOR_MATH_H

#include "dgemm/CostModel/Problem.h"

#include <cstdint>

namespace dgemm::emu {

/// acc (rows x stride) += a (rows x k) * b (k x stride), all row-major FP32;
/// stride is a multiple of 16, rows of 8.
void multiplyAccumulate(float *acc, const float *a, const float *b, int rows,
                        int k, int stride);
/// The same with addends cut to 13 bits below the largest of each sum.
void multiplyAccumulateReduced(float *acc, const float *a, const float *b,
                               int rows, int k, int stride);

/// to (k x stride, padding columns zero) = from (rows x k) transposed.
void transpose(const float *from, int rows, int k, float *to, int stride);

/// The 256 values of an 8-bit float type; null for others.
const float *byteTable(DType type);
/// One element of any type as FP32 (exact).
float decodeElement(const unsigned char *bytes, DType type);
/// Round to nearest even.
uint16_t encodeBF16(float value);
uint16_t encodeF16(float value);
/// E4M3FN or E5M2; `saturate` gives the largest finite value on overflow.
uint8_t encodeF8(float value, DType type, bool saturate);
/// PTX's rcp.approx.ftz.f32: 1 / value, correctly rounded and then, where it is
/// normal, its last bit turned over; PTX lets it be off by about as much.
/// Subnormal numbers count and come out as zeros.
float approximateReciprocal(float value);

} // namespace dgemm::emu

#endif // DGEMM_EMULATOR_MATH_H
