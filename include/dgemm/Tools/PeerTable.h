// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of other libraries, from a CSV file, to set beside measured ones.

#ifndef DGEMM_TOOLS_PEERTABLE_H
#define DGEMM_TOOLS_PEERTABLE_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dgemm {

/// One row: a dense GEMM of one library in one L2 state.
struct PeerRow {
  std::string peer, dtype, note, l2;
  int64_t m = 0, n = 0, k = 0;
  double us = 0;
};

class PeerTable {
public:
  /// Reads a CSV text with a header line that names at least the columns
  /// peer, dtype, m, n, k, note, l2_mode and us; fields may be quoted. Rows
  /// of several groups and rows whose figures are no numbers are left out.
  static Result<PeerTable> parse(const std::string &csv);
  static Result<PeerTable> read(const std::string &path);

  /// Rows of the problem's operand types ("fp8", "bf16"), sizes and result
  /// type (a note with "fp32" or "fp32out" is an FP32 result) in an L2 state.
  std::vector<PeerRow> find(const Problem &problem,
                            const std::string &l2) const;

  size_t size() const { return rows.size(); }

private:
  std::vector<PeerRow> rows;
};

} // namespace dgemm

#endif // DGEMM_TOOLS_PEERTABLE_H
