// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From the text of --gemm to what one launch needs: sizes and strides.

#ifndef DGEMM_TOOLS_GEMMOPTION_H
#define DGEMM_TOOLS_GEMMOPTION_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Support/Status.h"

#include <string>

namespace dgemm {

/// Values for sizes that a problem leaves open; kDynamic: none given.
struct SizeOverrides {
  int64_t m = kDynamic, n = kDynamic, k = kDynamic;
};

/// Sizes and strides of one launch. A size the problem fixes must agree with
/// its override; one it leaves open must have an override. Strides are those
/// named in the text, else packed when it says so, else the smallest multiple
/// of 16 bytes. Errors name the key.
Result<LaunchSizes> launchSizes(const GemmText &gemm,
                                const SizeOverrides &overrides = {});

/// The problem with the named dimensions ("m", "mn", "mnk", ...) left open, as
/// one kernel for many sizes is compiled.
Result<Problem> withDynamicDims(const Problem &problem,
                                const std::string &dims);

/// Multiply-adds times two.
double flops(const LaunchSizes &sizes);
/// Bytes of A, B, scales, C and D once each: what HBM moves at least.
double minimalBytes(const Problem &problem, const LaunchSizes &sizes);

} // namespace dgemm

#endif // DGEMM_TOOLS_GEMMOPTION_H
