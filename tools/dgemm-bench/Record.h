// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The table on the terminal and the JSON record of a run.

#ifndef DGEMM_TOOLS_DGEMM_BENCH_RECORD_H
#define DGEMM_TOOLS_DGEMM_BENCH_RECORD_H

#include "BenchProblem.h"

namespace dgemm::bench {

/// What was measured how, and on what.
struct RecordHeader {
  std::string set, l2, method, methodNote, command;
  std::string commit; ///< of the build, as the user gave it
  cuda::DeviceInfo device;
  int driverVersion = 0;
  bool sustained = false;
  double pauseMs = 0, emptyKernelUs = 0;
  int repeats = 0;
};

/// Dense tensor-core peak at a clock, in TFLOP/s: 4096 operations per SM and
/// clock for 16-bit operands, 8192 for 8-bit ones.
double tensorPeak(const Problem &problem, const cuda::DeviceInfo &device,
                  double clockMHz);

std::string tableHeader(const RecordHeader &header);
/// One line for dgemm's best candidate, indented ones for all others.
std::string tableRow(const ProblemRow &row, const RecordHeader &header);
/// Geometric means of baseline time over dgemm's, by recipe and baseline.
std::string tableFooter(const std::vector<ProblemRow> &rows);
std::string toJson(const std::vector<ProblemRow> &rows,
                   const RecordHeader &header);

} // namespace dgemm::bench

#endif // DGEMM_TOOLS_DGEMM_BENCH_RECORD_H
