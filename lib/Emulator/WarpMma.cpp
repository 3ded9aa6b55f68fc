// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplication by one warp with operands in registers (mma.sync).

#include "Machine.h"

#include <cmath>

using namespace dgemm;
using namespace dgemm::emu;

void Machine::warpMultiply(const uint32_t *a, const uint32_t *b, const float *c,
                           float *d, unsigned k, DType typeA, DType typeB,
                           SiteId site) {
  Thread &thread = *current;
  Rendezvous &r = meeting(*thread.warp, ~0u);
  const unsigned parity = r.generation & 1;
  std::vector<float> &operands = r.operands[parity];
  operands.resize(24 * 32);
  const unsigned bytes = unsigned(sizeOf(typeA));
  const unsigned perRegister = 4 / bytes, half = 4 * perRegister;
  const unsigned group = thread.lane / 4, inGroup = thread.lane % 4;
  // Each lane decodes what it holds. Register 2h + q of A holds row
  // group + 8 q and the columns of half h; register h of B column `group` and
  // the rows of half h.
  const auto decode = [&](uint32_t word, DType type, float *to) {
    for (unsigned e = 0; e < perRegister; ++e)
      to[e] = decodeElement(
          reinterpret_cast<const unsigned char *>(&word) + e * bytes, type);
  };
  for (unsigned h = 0; h < k / half; ++h) {
    const unsigned depth = h * half + inGroup * perRegister;
    for (unsigned q = 0; q < 2; ++q)
      decode(a[2 * h + q], typeA, &operands[(group + 8 * q) * k + depth]);
    decode(b[h], typeB, &operands[(16 + group) * k + depth]);
  }
  meet(thread, ~0u, site);
  const float *rows[2] = {&operands[group * k], &operands[(group + 8) * k]};
  const float *columns[2] = {&operands[(16 + 2 * inGroup) * k],
                             &operands[(17 + 2 * inGroup) * k]};
  if (bytes == 2) {
    // In rising K, onto C.
    for (unsigned i = 0; i < 4; ++i)
      d[i] = c[i];
    for (unsigned x = 0; x < k; ++x)
      for (unsigned i = 0; i < 4; ++i)
        d[i] = std::fma(rows[i / 2][x], columns[i % 2][x], d[i]);
    return;
  }
  // Two f16 multiplications, of the low and the high halves of the registers,
  // whose sum is added to C (DgemmMachineOps.td).
  float sums[4] = {};
  for (unsigned pair = 0; pair < 2; ++pair)
    for (unsigned x = 2 * pair; x < k; x += 4)
      for (unsigned e = 0; e < 2; ++e)
        for (unsigned i = 0; i < 4; ++i)
          sums[i] =
              std::fma(rows[i / 2][x + e], columns[i % 2][x + e], sums[i]);
  for (unsigned i = 0; i < 4; ++i)
    d[i] = c[i] + sums[i];
}
