// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI activity records. Only the leading fields of a kernel record are read;
// their offsets are the same in every record version since CUDA 10.

#include "dgemm/Runtime/Cupti.h"

#include "dgemm/Runtime/DynamicLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace dgemm::cuda {

namespace {
constexpr int kActivityKernel = 3;
constexpr int kActivityConcurrentKernel = 10;
constexpr size_t kOffsetStart = 16, kOffsetEnd = 24, kOffsetName = 104;
constexpr size_t kBufferBytes = size_t(1) << 20;
constexpr size_t kBufferAlignment = 8;

using NextRecord = int (*)(uint8_t *, size_t, void **);

/// CUPTI's callbacks carry no user pointer, so what they fill is global.
struct Collector {
  std::mutex lock;
  NextRecord nextRecord = nullptr;
  std::vector<KernelRecord> records;
};
} // namespace

static Collector &collector() {
  static Collector instance;
  return instance;
}

static void bufferRequested(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer = static_cast<uint8_t *>(
      std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *records = 0;
}

static void bufferCompleted(void *, uint32_t, uint8_t *buffer, size_t,
                            size_t validBytes) {
  Collector &into = collector();
  std::lock_guard<std::mutex> guard(into.lock);
  void *record = nullptr;
  while (validBytes > 0 && into.nextRecord(buffer, validBytes, &record) == 0) {
    const char *bytes = static_cast<const char *>(record);
    int kind = 0;
    std::memcpy(&kind, bytes, sizeof(kind));
    if (kind != kActivityKernel && kind != kActivityConcurrentKernel)
      continue;
    KernelRecord kernel;
    const char *name = nullptr;
    std::memcpy(&kernel.start, bytes + kOffsetStart, sizeof(uint64_t));
    std::memcpy(&kernel.end, bytes + kOffsetEnd, sizeof(uint64_t));
    std::memcpy(&name, bytes + kOffsetName, sizeof(name));
    kernel.name = name ? name : "";
    into.records.push_back(std::move(kernel));
  }
  std::free(buffer);
}

Result<Cupti *> Cupti::load() {
  Result<DynamicLibrary> library =
      DynamicLibrary::find({"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
  if (!library)
    return library.status();
  auto enable =
      reinterpret_cast<int (*)(int)>(library->symbol("cuptiActivityEnable"));
  auto registerCallbacks = reinterpret_cast<int (*)(
      void (*)(uint8_t **, size_t *, size_t *),
      void (*)(void *, uint32_t, uint8_t *, size_t, size_t))>(
      library->symbol("cuptiActivityRegisterCallbacks"));
  auto next = reinterpret_cast<NextRecord>(
      library->symbol("cuptiActivityGetNextRecord"));
  static Cupti instance;
  instance.flushAll = reinterpret_cast<int (*)(uint32_t)>(
      library->symbol("cuptiActivityFlushAll"));
  if (!enable || !registerCallbacks || !next || !instance.flushAll)
    return Status::error("'" + library->path + "' lacks an activity call");
  collector().nextRecord = next;
  if (int code = registerCallbacks(bufferRequested, bufferCompleted); code != 0)
    return Status::error("cuptiActivityRegisterCallbacks failed with status " +
                         std::to_string(code));
  if (int code = enable(kActivityConcurrentKernel); code != 0)
    return Status::error("CUPTI refused kernel records with status " +
                         std::to_string(code));
  return &instance;
}

Result<Cupti *> Cupti::get() {
  static const Result<Cupti *> loaded = load();
  return loaded;
}

Result<std::vector<KernelRecord>> Cupti::take() {
  if (int code = flushAll(0); code != 0)
    return Status::error("cuptiActivityFlushAll failed with status " +
                         std::to_string(code));
  Collector &from = collector();
  std::lock_guard<std::mutex> guard(from.lock);
  std::vector<KernelRecord> taken = std::move(from.records);
  from.records.clear();
  std::sort(taken.begin(), taken.end(),
            [](const KernelRecord &x, const KernelRecord &y) {
              return x.start < y.start;
            });
  return taken;
}

} // namespace dgemm::cuda
