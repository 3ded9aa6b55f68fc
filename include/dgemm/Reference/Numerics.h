// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions between float and the element types of a GEMM, as the hardware
// defines them: round to nearest, ties to even.

#ifndef DGEMM_REFERENCE_NUMERICS_H
#define DGEMM_REFERENCE_NUMERICS_H

#include "dgemm/CostModel/Problem.h"

#include <cstdint>

namespace dgemm {

/// What a finite value beyond the largest finite one (or an infinity)
/// becomes in an FP8 type. The 16- and 32-bit types always overflow to
/// infinity.
enum class Overflow {
  Saturate, ///< the largest finite value, as cvt.satfinite does
  NonFinite ///< infinity where the type has one (E5M2), else NaN (E4M3FN)
};

/// Bits of `value` in `type`, in the low bytes of the result. NaN stays NaN.
/// E8M0 keeps only the exponent (rounded to the nearest power of two, at
/// least 2^-127) and turns anything not positive into NaN. I8 and I32 round
/// and saturate. None gives 0.
uint32_t encode(DType type, float value,
                Overflow overflow = Overflow::Saturate);
/// The value of bits in `type`. I32 beyond 2^24 rounds to float.
float decode(DType type, uint32_t bits);

/// Reads or writes element `index` of an array of `type`; any alignment.
float loadElement(DType type, const void *base, int64_t index);
void storeElement(DType type, void *base, int64_t index, float value);

/// Half the distance between 1 and the next value: the relative error of one
/// rounding to `type`; 0 for integers.
double unitRoundoff(DType type);

} // namespace dgemm

#endif // DGEMM_REFERENCE_NUMERICS_H
