// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Compilation.h"

#include "dgemm/JIT/Compiler.h"
#include "dgemm/JIT/Ptxas.h"
#include "dgemm/Support/File.h"

namespace dgemm::tuner {

/// Assembles a kernel again after a fault was planted into it.
static Status assembleAgain(jit::Artifact &artifact, const std::string &path,
                            const std::string &chip) {
  if (artifact.cubin.empty())
    return Status::success();
  Result<jit::Ptxas> ptxas = jit::findPtxas(path);
  if (!ptxas)
    return ptxas.status();
  Result<jit::Assembly> assembly = jit::assemble(*ptxas, artifact.ptx, chip);
  if (!assembly)
    return assembly.status();
  artifact.cubin = std::move(assembly->cubin);
  return Status::success();
}

/// The faults that need no device.
static bool plantedHere(Plant plant, CompiledKernel &made) {
  if (plant != Plant::CompileError && plant != Plant::Spill)
    return false;
  made.status = plant == Plant::Spill ? RecordStatus::SlowWarning
                                      : RecordStatus::CompileError;
  made.note = "planted";
  return true;
}

CompileFunction makeCompiler(const std::string &model,
                             const std::string &ptxas) {
  return [model, ptxas](const Problem &problem, const Schedule &schedule,
                        Plant plant, const std::string &base) {
    CompiledKernel made;
    if (plantedHere(plant, made))
      return made;
    auto failed = [&](const std::string &why) {
      made.status = RecordStatus::CompileError;
      made.note = why;
      return made;
    };
    jit::CompileOptions options;
    options.device = model;
    options.schedule = toString(schedule);
    options.ptxasPath = ptxas;
    options.cacheDir = "none";
    options.debugDirectives = false;
    options.keepL3 = false;
    // What is slow is told apart from what does not compile below.
    options.allowSlow = true;
    // A compiler of its own, since the process-wide one remembers everything.
    jit::Compiler compiler;
    auto compiled = compiler.compileProblem(problem, options);
    if (!compiled)
      return failed(compiled.message());
    for (const jit::KernelResources &kernel : (*compiled)->resources)
      if (std::vector<std::string> slow = jit::findSlowness(kernel);
          !slow.empty()) {
        made.status = RecordStatus::SlowWarning;
        made.note = slow.front();
        return made;
      }
    jit::Artifact artifact = **compiled;
    if (plant != Plant::None) {
      plantInto(plant, artifact.ptx, artifact.metadata);
      if (Status s = assembleAgain(artifact, ptxas, options.chip); !s)
        return failed(s.message());
    }
    made.files = {base + (artifact.cubin.empty() ? ".ptx" : ".cubin"),
                  base + ".json"};
    std::string image =
        artifact.cubin.empty()
            ? artifact.ptx
            : std::string(artifact.cubin.begin(), artifact.cubin.end());
    if (Status s = writeFile(made.files.image, image); !s)
      return failed(s.message());
    if (Status s = writeFile(made.files.metadata, toJson(artifact.metadata));
        !s)
      return failed(s.message());
    return made;
  };
}

CompileFunction makeNoCompiler() {
  return
      [](const Problem &, const Schedule &, Plant plant, const std::string &) {
        CompiledKernel made;
        plantedHere(plant, made);
        return made;
      };
}

JobPool::JobPool(int count) {
  for (int i = 0; i < std::max(count, 1); ++i)
    threads.emplace_back([this] { work(); });
}

JobPool::~JobPool() {
  {
    std::lock_guard<std::mutex> guard(lock);
    ending = true;
    now.clear();
    ahead.clear();
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void JobPool::submit(Rank rank, std::function<void()> job) {
  {
    std::lock_guard<std::mutex> guard(lock);
    (rank == Rank::Now ? now : ahead).push_back(std::move(job));
  }
  wake.notify_one();
}

void JobPool::promote() {
  std::lock_guard<std::mutex> guard(lock);
  for (std::function<void()> &job : ahead)
    now.push_back(std::move(job));
  ahead.clear();
}

void JobPool::work() {
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    wake.wait(guard, [&] { return ending || !now.empty() || !ahead.empty(); });
    if (ending)
      return;
    std::deque<std::function<void()>> &from = now.empty() ? ahead : now;
    std::function<void()> job = std::move(from.front());
    from.pop_front();
    guard.unlock();
    job();
    guard.lock();
  }
}

} // namespace dgemm::tuner
