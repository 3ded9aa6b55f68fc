// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt baselines. The library is column-major: D = A x B^T in row-major
// storage is D^T = B x A^T there, so its first operand is our B (transposed),
// its second our A, and its D is N x M.

#include "dgemm/Runtime/CublasLt.h"

#include "CublasLtAbi.h"
#include "dgemm/Runtime/DynamicLibrary.h"

#include <cstring>
#include <map>
#include <mutex>

namespace dgemm::cuda {

// NVIDIA's advice for Hopper is 32 MiB.
static constexpr int64_t kWorkspaceBytes = int64_t(32) << 20;

const char *toString(Baseline baseline) {
  switch (baseline) {
  case Baseline::BF16:
    return "bf16";
  case Baseline::FP8PerTensor:
    return "fp8-tensor";
  case Baseline::FP8PerRow:
    return "fp8-row";
  case Baseline::FP8Block:
    return "fp8-block";
  }
  return "";
}

Result<Baseline> parseBaseline(const std::string &text) {
  for (Baseline baseline : {Baseline::BF16, Baseline::FP8PerTensor,
                            Baseline::FP8PerRow, Baseline::FP8Block})
    if (text == toString(baseline))
      return baseline;
  return Status::error(
      "baseline: expected bf16, fp8-tensor, fp8-row or fp8-block, found '" +
      text + "'");
}

Result<Baseline> baselineFor(const Problem &problem) {
  const ScaleSpec &a = problem.scaleA, &b = problem.scaleB;
  if (!problem.fp8()) {
    if (a.present() || b.present())
      return Status::error("cuBLASLt takes no scales with 16-bit operands");
    return Baseline::BF16;
  }
  auto plainTensor = [](const ScaleSpec &s) {
    return !s.present() || s.perTensor();
  };
  if (plainTensor(a) && plainTensor(b))
    return Baseline::FP8PerTensor;
  if (a.perRow() && b.perRow())
    return Baseline::FP8PerRow;
  if (a.rows == 1 && a.cols == 128 && b.rows == 128 && b.cols == 128)
    return Baseline::FP8Block;
  return Status::error("cuBLASLt has no kernel for these scale blocks on "
                       "Hopper");
}

static Result<const CublasLtLibrary *> loadLibrary() {
  Result<DynamicLibrary> found =
      DynamicLibrary::find({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!found)
    return found.status();
  auto library = std::make_unique<CublasLtLibrary>();
  const char *missing = nullptr;
  auto bind = [&](auto &slot, const char *name) {
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(found->symbol(name));
    if (!slot)
      missing = name;
  };
  bind(library->getVersion, "cublasLtGetVersion");
  bind(library->create, "cublasLtCreate");
  bind(library->descCreate, "cublasLtMatmulDescCreate");
  bind(library->descDestroy, "cublasLtMatmulDescDestroy");
  bind(library->descSet, "cublasLtMatmulDescSetAttribute");
  bind(library->layoutCreate, "cublasLtMatrixLayoutCreate");
  bind(library->layoutDestroy, "cublasLtMatrixLayoutDestroy");
  bind(library->preferenceCreate, "cublasLtMatmulPreferenceCreate");
  bind(library->preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  bind(library->preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
  bind(library->heuristic, "cublasLtMatmulAlgoGetHeuristic");
  bind(library->matmul, "cublasLtMatmul");
  if (missing)
    return Status::error("'" + found->path + "' has no " + missing);
  library->version = library->getVersion();
  return static_cast<const CublasLtLibrary *>(library.release());
}

static Result<const CublasLtLibrary *> getLibrary() {
  static const Result<const CublasLtLibrary *> loaded = loadLibrary();
  return loaded;
}

/// A handle belongs to the context that was current at its creation; one per
/// device for the life of the process.
static Result<void *> handleFor(const CublasLtLibrary &library,
                                const Device &device) {
  static std::mutex lock;
  static std::map<Context, void *> handles;
  std::lock_guard<std::mutex> guard(lock);
  void *&handle = handles[device.context()];
  if (!handle)
    if (int code = library.create(&handle); code != 0)
      return Status::error("cublasLtCreate failed with status " +
                           std::to_string(code));
  return handle;
}

static Result<int> dataType(DType type) {
  switch (type) {
  case DType::BF16:
    return int(kCudaBF16);
  case DType::F16:
    return int(kCudaF16);
  case DType::F32:
    return int(kCudaF32);
  case DType::F8E4M3FN:
    return int(kCudaF8E4M3);
  case DType::F8E5M2:
    return int(kCudaF8E5M2);
  default:
    return Status::error(std::string("cuBLASLt baseline: type ") +
                         toString(type) + " is not supported");
  }
}

std::vector<float> packRowBlockScales(const std::vector<float> &scales,
                                      int64_t rows, int64_t blocks) {
  std::vector<float> packed(size_t(rows * blocks));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t block = 0; block < blocks; ++block)
      packed[block * rows + row] = scales[row * blocks + block];
  return packed;
}

std::vector<float> packSquareBlockScales(const std::vector<float> &scales,
                                         int64_t blockRows, int64_t blocks) {
  int64_t padded = ceilDiv(blocks, 4) * 4;
  std::vector<float> packed(size_t(blockRows * padded), 0.0f);
  for (int64_t row = 0; row < blockRows; ++row)
    for (int64_t block = 0; block < blocks; ++block)
      packed[row * padded + block] = scales[row * blocks + block];
  return packed;
}

namespace {
/// How one operand's scales are handed over.
struct ScalePlan {
  int32_t mode = kScaleScalar;
  std::vector<float> values; ///< empty: no scale is given
};
} // namespace

/// Checks the number of scales and repacks them. `rows` counts along M or N.
static Result<ScalePlan> planScales(Baseline baseline, bool isA,
                                    const std::vector<float> &scales,
                                    int64_t rows, int64_t k) {
  int64_t blocks = ceilDiv(k, 128), blockRows = ceilDiv(rows, 128);
  int64_t expected = 0;
  switch (baseline) {
  case Baseline::BF16:
    return ScalePlan{};
  case Baseline::FP8PerTensor:
    expected = 1;
    break;
  case Baseline::FP8PerRow:
    expected = rows;
    break;
  case Baseline::FP8Block:
    expected = (isA ? rows : blockRows) * blocks;
    break;
  }
  if (int64_t(scales.size()) != expected)
    return Status::error(std::string("cuBLASLt baseline ") +
                         toString(baseline) + ": scales of " +
                         (isA ? "a" : "b") + ": expected " +
                         std::to_string(expected) + " values, found " +
                         std::to_string(scales.size()));
  if (baseline == Baseline::FP8PerTensor)
    return ScalePlan{kScaleScalar, scales};
  if (baseline == Baseline::FP8PerRow)
    return ScalePlan{kScaleOuterVector, scales};
  if (isA)
    return ScalePlan{kScaleVector128, packRowBlockScales(scales, rows, blocks)};
  return ScalePlan{kScaleBlock128x128,
                   packSquareBlockScales(scales, blockRows, blocks)};
}

static Status uploadScales(const std::shared_ptr<Device> &device,
                           const ScalePlan &plan, DeviceBuffer &buffer) {
  if (plan.values.empty())
    return Status::success();
  int64_t bytes = int64_t(plan.values.size() * sizeof(float));
  Result<DeviceBuffer> made = DeviceBuffer::allocate(device, bytes);
  if (!made)
    return made.status();
  buffer = std::move(*made);
  return buffer.upload(plan.values.data(), bytes);
}

Result<std::unique_ptr<CublasLtMatmul>>
CublasLtMatmul::create(std::shared_ptr<Device> device, Baseline baseline,
                       const Problem &problem, const LaunchSizes &sizes,
                       const Operands &operands) {
  std::string label = std::string("cuBLASLt baseline ") + toString(baseline);
  if (problem.layout != Layout::NT)
    return Status::error(label + ": expected layout nt, found " +
                         toString(problem.layout));
  if (problem.accumulate)
    return Status::error(label + ": D = C + A x B is not compared");
  if (sizes.m < 1 || sizes.n < 1 || sizes.k < 1)
    return Status::error(label + ": M, N and K must be at least 1");
  Result<const CublasLtLibrary *> library = getLibrary();
  if (!library)
    return library.status();
  const CublasLtLibrary &lt = **library;
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();
  Result<void *> handle = handleFor(lt, *device);
  if (!handle)
    return handle.status();

  std::unique_ptr<CublasLtMatmul> matmul(new CublasLtMatmul);
  matmul->device = device;
  matmul->library = *library;
  matmul->operands = operands;
  Result<int> typeA = dataType(problem.a), typeB = dataType(problem.b),
              typeD = dataType(problem.d);
  for (const Result<int> *type : {&typeA, &typeB, &typeD})
    if (!type->ok())
      return type->status();
  Result<ScalePlan> planA =
      planScales(baseline, true, operands.scaleA, sizes.m, sizes.k);
  Result<ScalePlan> planB =
      planScales(baseline, false, operands.scaleB, sizes.n, sizes.k);
  for (const Result<ScalePlan> *plan : {&planA, &planB})
    if (!plan->ok())
      return plan->status();
  if (Status s = uploadScales(device, *planA, matmul->scaleA); !s)
    return s;
  if (Status s = uploadScales(device, *planB, matmul->scaleB); !s)
    return s;

  int code = 0;
  auto step = [&](int result) {
    if (code == 0)
      code = result;
  };
  step(lt.descCreate(&matmul->description, kComputeF32, kCudaF32));
  auto set = [&](int attribute, const auto &value) {
    if (code == 0)
      step(lt.descSet(matmul->description, attribute, &value, sizeof(value)));
  };
  set(kDescTransA, kOpTranspose);
  set(kDescTransB, kOpNone);
  if (baseline != Baseline::BF16) {
    // cuBLASLt's first operand is our B.
    uint64_t first = matmul->scaleB.address();
    uint64_t second = matmul->scaleA.address();
    set(kDescScaleModeA, planB->mode);
    set(kDescScaleModeB, planA->mode);
    set(kDescScalePointerA, first);
    set(kDescScalePointerB, second);
    // Its fast kernels are what peers are compared with; the block-scaled
    // recipe promotes on its own.
    int8_t fast = baseline == Baseline::FP8Block ? 0 : 1;
    set(kDescFastAccumulate, fast);
  }
  step(lt.layoutCreate(&matmul->layoutA, *typeB, uint64_t(sizes.k),
                       uint64_t(sizes.n), sizes.ldb));
  step(lt.layoutCreate(&matmul->layoutB, *typeA, uint64_t(sizes.k),
                       uint64_t(sizes.m), sizes.lda));
  step(lt.layoutCreate(&matmul->layoutD, *typeD, uint64_t(sizes.n),
                       uint64_t(sizes.m), sizes.ldd));
  if (code != 0)
    return Status::error(label + ": describing the matmul failed with status " +
                         std::to_string(code));

  void *preference = nullptr;
  step(lt.preferenceCreate(&preference));
  uint64_t limit = kWorkspaceBytes;
  if (code == 0)
    step(lt.preferenceSet(preference, kPreferenceWorkspaceBytes, &limit,
                          sizeof(limit)));
  int found = 0;
  static_assert(sizeof(matmul->heuristic) == kHeuristicBytes);
  if (code == 0)
    step(lt.heuristic(*handle, matmul->description, matmul->layoutA,
                      matmul->layoutB, matmul->layoutD, matmul->layoutD,
                      preference, 1, matmul->heuristic, &found));
  if (preference)
    lt.preferenceDestroy(preference);
  int state = 0;
  std::memcpy(&state, matmul->heuristic + kHeuristicState, sizeof(state));
  if (code != 0 || found == 0 || state != 0)
    return Status::error(label + ": no kernel (status " +
                         std::to_string(code != 0 ? code : state) + ")");
  Result<DeviceBuffer> workspace =
      DeviceBuffer::allocate(device, kWorkspaceBytes);
  if (!workspace)
    return workspace.status();
  matmul->workspace = std::move(*workspace);
  return matmul;
}

CublasLtMatmul::~CublasLtMatmul() {
  if (!library)
    return;
  for (void *layout : {layoutA, layoutB, layoutD})
    if (layout)
      library->layoutDestroy(layout);
  if (description)
    library->descDestroy(description);
}

Status CublasLtMatmul::launch(CUstream stream) {
  ContextScope scope(*device);
  if (!scope.status())
    return scope.status();
  Result<void *> handle = handleFor(*library, *device);
  if (!handle)
    return handle.status();
  auto pointer = [](uint64_t address) {
    return reinterpret_cast<void *>(address);
  };
  const float one = 1, zero = 0;
  int code = library->matmul(*handle, description, &one, pointer(operands.b),
                             layoutA, pointer(operands.a), layoutB, &zero,
                             pointer(operands.d), layoutD, pointer(operands.d),
                             layoutD, heuristic, pointer(workspace.address()),
                             size_t(workspace.size()), stream);
  if (code != 0)
    return Status::error("cublasLtMatmul failed with status " +
                         std::to_string(code));
  return Status::success();
}

std::string CublasLtMatmul::libraryVersion() const {
  size_t v = library->version;
  // Since version 12 the encoding has four digits for major.
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
         std::to_string(v % 100);
}

} // namespace dgemm::cuda
