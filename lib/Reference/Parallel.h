// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A loop over jobs on all cores.

#ifndef DGEMM_LIB_REFERENCE_PARALLEL_H
#define DGEMM_LIB_REFERENCE_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace dgemm {

/// Calls body(i) for i in [0, count), on as many threads as there are cores.
/// The calls of one job must not touch what another writes.
template <typename Body> void parallelFor(int64_t count, Body body) {
  int64_t threads = std::min<int64_t>(
      count, std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> pool;
  for (int64_t t = 1; t < threads; ++t)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace dgemm

#endif // DGEMM_LIB_REFERENCE_PARALLEL_H
