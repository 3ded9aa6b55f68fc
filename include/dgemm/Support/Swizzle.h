// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The shared-memory swizzle of TMA and WGMMA as arithmetic: 16-byte chunks of
// each 128-byte line are permuted by an exclusive or with the line's number.

#ifndef DGEMM_SUPPORT_SWIZZLE_H
#define DGEMM_SUPPORT_SWIZZLE_H

#include <cstdint>

namespace dgemm {

/// Bytes after which the pattern of a swizzle span repeats: 8 lines of 128
/// bytes for a span of 128, 4 for 64, 2 for 32; one chunk without swizzle.
constexpr int64_t swizzleRepeat(int span) {
  return span == 0 ? 16 : int64_t(span) * 8;
}

/// Where the byte at `offset` of an unswizzled buffer lies in the swizzled one.
/// `offset` counts from a boundary of 1024 bytes; `span` is 0, 32, 64 or 128
/// bytes. The span's chunk number (address bits 4 to 6 as far as the span
/// reaches) is xored with the low bits of the 128-byte line number, so the map
/// is its own inverse and moves whole chunks of 16 bytes.
constexpr int64_t swizzledOffset(int64_t offset, int span) {
  int64_t chunksPerSpan = span / 16;
  if (chunksPerSpan < 2)
    return offset;
  int64_t line = offset / 128;
  return offset ^ ((line & (chunksPerSpan - 1)) << 4);
}

} // namespace dgemm

#endif // DGEMM_SUPPORT_SWIZZLE_H
