// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets candidates up, checks their numbers, times them together.

#include "BenchProblem.h"

#include "dgemm/Tools/CudaGemm.h"

#include <atomic>
#include <thread>

namespace dgemm::bench {

const CandidateRow *ProblemRow::best() const {
  const CandidateRow *fastest = nullptr;
  for (const CandidateRow &row : candidates)
    if (row.own && row.error.empty() && row.time.medianUs > 0 &&
        (!fastest || row.time.medianUs < fastest->time.medianUs))
      fastest = &row;
  return fastest;
}

const CandidateRow *ProblemRow::sameBaseline() const {
  for (const CandidateRow &row : candidates)
    if (!row.own && row.sameRecipe && row.error.empty())
      return &row;
  return nullptr;
}

static Result<std::shared_ptr<const jit::Artifact>>
compileOne(const ProblemSetEntry &entry, const std::string &schedule,
           const BenchOptions &options, jit::CompileOptions compile) {
  Result<Problem> problem =
      withDynamicDims(entry.gemm.problem, options.dynamicDims);
  if (!problem)
    return problem.status();
  compile.schedule = schedule;
  return jit::Compiler::instance().compileProblem(*problem, compile);
}

void compileAhead(const std::vector<ProblemSetEntry> &entries,
                  const BenchOptions &options,
                  const jit::CompileOptions &compile) {
  std::vector<std::string> schedules = scheduleTexts(options);
  size_t count = entries.size() * schedules.size();
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      // An error is reported when the problem's turn comes.
      (void)compileOne(entries[i / schedules.size()],
                       schedules[i % schedules.size()], options, compile)
          .ok();
  };
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(cores, count); ++t)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// Scales of an operand as K-major values, or ones where the recipe differs
/// from the problem's.
static std::vector<float> baselineScales(cuda::Baseline baseline, bool isA,
                                         bool sameRecipe,
                                         const HostOperands &host) {
  const HostMatrix &matrix = isA ? host.scaleA : host.scaleB;
  const ScaleSpec &spec = isA ? host.problem.scaleA : host.problem.scaleB;
  int64_t mn = isA ? host.sizes.m : host.sizes.n;
  int64_t blocks = ceilDiv(host.sizes.k, 128);
  int64_t count = 0;
  switch (baseline) {
  case cuda::Baseline::BF16:
    return {};
  case cuda::Baseline::FP8PerTensor:
    count = 1;
    break;
  case cuda::Baseline::FP8PerRow:
    count = mn;
    break;
  case cuda::Baseline::FP8Block:
    count = (isA ? mn : ceilDiv(mn, 128)) * blocks;
    break;
  }
  std::vector<float> scales(size_t(count), 1.0f);
  if (!sameRecipe || !spec.present())
    return scales;
  bool kMajor = spec.major == ScaleMajor::K;
  int64_t rows = kMajor ? matrix.rows() : matrix.cols();
  int64_t cols = kMajor ? matrix.cols() : matrix.rows();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      scales[size_t(r * cols + c)] = kMajor ? matrix.at(r, c) : matrix.at(c, r);
  return scales;
}

namespace {
/// A baseline with the D it writes to.
struct BaselineRun {
  cuda::DeviceBuffer d;
  std::unique_ptr<cuda::CublasLtMatmul> matmul;
};
} // namespace

/// Plans a baseline on the operands of `gemm` and checks its numbers where it
/// computes the same thing.
static Status setUpBaseline(cuda::Baseline baseline, HostOperands &host,
                            const CudaGemm &gemm, bool check, CandidateRow &row,
                            BaselineRun &run) {
  const std::shared_ptr<cuda::Device> &device = gemm.artifact().device();
  Result<cuda::DeviceBuffer> d =
      cuda::DeviceBuffer::allocate(device, host.d.allSize());
  if (!d)
    return d.status();
  run.d = std::move(*d);
  cuda::CublasLtMatmul::Operands operands;
  operands.a = gemm.addresses().a;
  operands.b = gemm.addresses().b;
  operands.d = run.d.address() + HostMatrix::dataOffset();
  operands.scaleA = baselineScales(baseline, true, row.sameRecipe, host);
  operands.scaleB = baselineScales(baseline, false, row.sameRecipe, host);
  auto matmul = cuda::CublasLtMatmul::create(device, baseline, host.problem,
                                             host.sizes, operands);
  if (!matmul)
    return matmul.status();
  run.matmul = std::move(*matmul);
  if (!check || !row.sameRecipe)
    return Status::success();
  host.resetOutput();
  if (Status s = run.d.upload(host.d.allBytes(), host.d.allSize()); !s)
    return s;
  if (Status s = run.matmul->launch(nullptr); !s)
    return s;
  if (Status s = device->synchronize(); !s)
    return s;
  if (Status s = run.d.download(host.d.allBytes(), host.d.allSize()); !s)
    return s;
  // Its fast kernels keep FP8 sums in the tensor core's accumulator.
  Problem loose = host.problem;
  loose.fastAccumulate = loose.fp8();
  row.verified = verify(host, toleranceFor(loose));
  return Status::success();
}

ProblemRow benchProblem(const ProblemSetEntry &entry,
                        const BenchOptions &options,
                        const jit::CompileOptions &compile,
                        std::shared_ptr<cuda::Device> device,
                        cuda::KernelTimer &timer) {
  ProblemRow result;
  result.entry = entry;
  auto fail = [&](const std::string &why) {
    result.error = why;
    return result;
  };
  Result<LaunchSizes> sizes = launchSizes(entry.gemm);
  if (!sizes)
    return fail(sizes.message());
  result.sizes = *sizes;
  Result<HostOperands> host =
      makeOperands(entry.gemm.problem, *sizes, uint64_t(options.seed));
  if (!host)
    return fail(host.message());
  LaunchOptions launch;
  launch.smLimit = int(options.smLimit);
  launch.programmaticDependentLaunch = options.pdl;

  std::vector<std::string> schedules = scheduleTexts(options);
  std::vector<std::unique_ptr<CudaGemm>> gemms;
  std::vector<BaselineRun> runs;
  std::vector<cuda::TimingCandidate> timed;
  std::vector<size_t> timedRows;
  // Candidates refer to elements of these by address.
  gemms.reserve(schedules.size());
  for (size_t i = 0; i < schedules.size(); ++i) {
    CandidateRow &row = result.candidates.emplace_back();
    row.own = true;
    row.name =
        schedules.size() == 1 ? "dgemm" : "dgemm:" + std::to_string(i + 1);
    row.schedule = schedules[i];
    auto artifact = compileOne(entry, schedules[i], options, compile);
    if (!artifact) {
      row.error = artifact.message();
      continue;
    }
    const jit::Artifact &code = **artifact;
    if (Result<int> kernel = code.metadata.selectKernel(sizes->m)) {
      const KernelMetadata &chosen = code.metadata.kernels[size_t(*kernel)];
      row.schedule = toString(chosen.schedule);
      row.source = chosen.scheduleSource;
    }
    auto gemm = CudaGemm::create(
        device, code.metadata,
        code.cubin.empty()
            ? std::string_view(code.ptx)
            : std::string_view(code.cubin.data(), code.cubin.size()),
        *host);
    if (!gemm) {
      row.error = gemm.message();
      continue;
    }
    if (options.verify) {
      if (Status s = (*gemm)->runOnce(launch, options.timeout); !s) {
        row.error = s.message();
        if ((*gemm)->deviceLost()) {
          // Freeing memory would wait for a kernel that may never end.
          for (std::unique_ptr<CudaGemm> &held : gemms)
            held.release();
          gemm->release();
          result.deviceLost = true;
          return fail(row.name + ": " + s.message());
        }
        continue;
      }
      row.verified = verify(*host, toleranceFor(host->problem));
      if (!row.verified->ok) {
        row.error = "wrong numbers: " + row.verified->failure;
        continue;
      }
    }
    const CudaGemm *held = gemms.emplace_back(std::move(*gemm)).get();
    timedRows.push_back(result.candidates.size() - 1);
    timed.push_back({row.name, [held, launch](CUstream stream) {
                       return held->launch(launch, stream);
                     }});
  }
  if (gemms.empty())
    return fail(result.candidates.front().error);

  Result<std::vector<cuda::Baseline>> wanted =
      baselines(options, entry.gemm.problem);
  if (!wanted)
    return fail(wanted.message());
  Result<cuda::Baseline> same = cuda::baselineFor(entry.gemm.problem);
  runs.reserve(wanted->size());
  for (cuda::Baseline baseline : *wanted) {
    CandidateRow &row = result.candidates.emplace_back();
    row.name = std::string("cublaslt-") + toString(baseline);
    row.sameRecipe = same.ok() && *same == baseline;
    BaselineRun &run = runs.emplace_back();
    if (Status s = setUpBaseline(baseline, *host, *gemms.front(),
                                 options.verify, row, run);
        !s) {
      row.error = s.message();
      continue;
    }
    timedRows.push_back(result.candidates.size() - 1);
    timed.push_back({row.name, [matmul = run.matmul.get()](CUstream stream) {
                       return matmul->launch(stream);
                     }});
  }
  auto measured = timer.measure(timed);
  if (!measured)
    return fail(measured.message());
  for (size_t i = 0; i < timedRows.size(); ++i)
    result.candidates[timedRows[i]].time = (*measured)[i];
  return result;
}

} // namespace dgemm::bench
