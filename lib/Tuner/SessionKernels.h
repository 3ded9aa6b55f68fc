// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of one session: which are being compiled, who waits for them.

#ifndef DGEMM_LIB_TUNER_SESSIONKERNELS_H
#define DGEMM_LIB_TUNER_SESSIONKERNELS_H

#include "Session.h"

#include <deque>

namespace dgemm::tuner {

/// Shared between a session and its compile jobs, which may outlive it.
struct Session::Kernels {
  std::string folder;
  std::atomic<bool> cancelled = false;

  /// True when another candidate asked for this kernel before; else the caller
  /// has to compile it and call finish.
  bool request(const std::string &key, int id) {
    std::lock_guard<std::mutex> guard(lock);
    auto [entry, added] = entries.try_emplace(key);
    if (entry->second.done)
      ready.emplace_back(id, entry->second.kernel);
    else
      entry->second.waiting.push_back(id);
    return !added;
  }

  void finish(const std::string &key, const CompiledKernel &kernel) {
    {
      std::lock_guard<std::mutex> guard(lock);
      Entry &entry = entries[key];
      entry.done = true;
      entry.kernel = kernel;
      for (int id : entry.waiting)
        ready.emplace_back(id, kernel);
      entry.waiting.clear();
    }
    arrived.notify_all();
  }

  /// Up to `count` candidates with their kernels; with `wait` at least one,
  /// unless `ended` says that nobody needs one any more.
  std::vector<std::pair<int, CompiledKernel>>
  take(size_t count, bool wait, const std::function<bool()> &ended) {
    std::unique_lock<std::mutex> guard(lock);
    while (wait && ready.empty() && !ended())
      arrived.wait_for(guard, std::chrono::milliseconds(100));
    std::vector<std::pair<int, CompiledKernel>> taken;
    while (!ready.empty() && taken.size() < count) {
      taken.push_back(std::move(ready.front()));
      ready.pop_front();
    }
    return taken;
  }

private:
  struct Entry {
    bool done = false;
    CompiledKernel kernel;
    std::vector<int> waiting;
  };
  std::mutex lock;
  std::condition_variable arrived;
  std::map<std::string, Entry> entries;
  std::deque<std::pair<int, CompiledKernel>> ready;
};

} // namespace dgemm::tuner

#endif // DGEMM_LIB_TUNER_SESSIONKERNELS_H
