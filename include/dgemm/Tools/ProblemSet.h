// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Named lists of GEMMs as JSON files (benchmarks/problems/): what the
// benchmark measures and the tuner tunes.

#ifndef DGEMM_TOOLS_PROBLEMSET_H
#define DGEMM_TOOLS_PROBLEMSET_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/Support/Status.h"

#include <string>
#include <vector>

namespace dgemm {

/// One GEMM of a set.
struct ProblemSetEntry {
  std::string recipe; ///< name of the recipe it came from, for tables
  std::string text;   ///< the --gemm spelling
  GemmText gemm;      ///< the same, parsed; every size static
};

struct ProblemSet {
  std::string name;
  std::string l2; ///< L2 state the set is meant for: "dirty", "clean", or ""
  std::vector<ProblemSetEntry> entries;
};

/// Reads
///   {"name": "decode", "l2": "dirty",
///    "recipes": {"bf16": "a=bf16,b=bf16,d=bf16", ...},
///    "shapes": [[m, n, k], ...], "m": [...], "nk": [[n, k], ...]}
/// and makes one entry per recipe and shape, where shapes are those listed and
/// all combinations of "m" and "nk", in that order. Errors name the field.
Result<ProblemSet> parseProblemSet(const std::string &json);
/// The same from a file; the error names it.
Result<ProblemSet> readProblemSet(const std::string &path);

} // namespace dgemm

#endif // DGEMM_TOOLS_PROBLEMSET_H
