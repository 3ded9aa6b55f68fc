// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch metadata: everything a host needs to launch a compiled kernel, as
// plain data with a versioned JSON form (docs/launch-metadata.md). Written by
// the compiler, read by the CUDA runtime and by the emulator; neither needs
// MLIR to do so.

#ifndef DGEMM_RUNTIME_LAUNCHMETADATA_H
#define DGEMM_RUNTIME_LAUNCHMETADATA_H

#include "dgemm/CostModel/Problem.h"
#include "dgemm/CostModel/Schedule.h"
#include "dgemm/Support/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dgemm {

inline constexpr int kLaunchMetadataVersion = 1;

/// Buffers of a GEMM. The spelling in JSON is the lower-case name with
/// underscores: "a", "b", "c", "d", "scale_a", "scale_b", "workspace".
enum class Operand { A, B, C, D, ScaleA, ScaleB, Workspace };
const char *toString(Operand operand);
Result<Operand> parseOperand(const std::string &text);

/// Run-time quantities a recipe may refer to. Strides are in elements.
/// JSON: "one", "m", "n", "k", "lda", "ldb", "ldc", "ldd", "ld_scale_a",
/// "ld_scale_b".
enum class Symbol { One, M, N, K, LdA, LdB, LdC, LdD, LdScaleA, LdScaleB };
const char *toString(Symbol symbol);
Result<Symbol> parseSymbol(const std::string &text);

/// ceil(symbol / divisor) * factor; a constant is {One, 1, value}.
/// JSON: a number for a constant, a symbol name when divisor = factor = 1,
/// else {"of": "k", "ceil_div": 128, "times": 1}.
struct SizeExpr {
  Symbol of = Symbol::One;
  int64_t ceilDiv = 1;
  int64_t times = 1;
  bool operator==(const SizeExpr &) const = default;
};

/// Values of the symbols for one launch.
struct LaunchSizes {
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0, ldScaleA = 0, ldScaleB = 0;
};
int64_t evaluate(const SizeExpr &expr, const LaunchSizes &sizes);

/// How one CUtensorMap is encoded. dims[0] is the contiguous dimension;
/// strides[i] is the stride of dims[i + 1] in *elements* of `type`.
/// Dimensions evaluating to 0 are clamped to 1 (K = 0: never loaded).
struct TensorMapRecipe {
  Operand operand = Operand::A;
  DType type = DType::BF16; ///< FP8 and E8M0 are encoded as UINT8
  std::vector<SizeExpr> dims;
  std::vector<SizeExpr> strides; ///< dims.size() - 1 entries
  std::vector<int64_t> box;      ///< elements, one per dimension
  /// For the last rows of the operand: box[1] shrinks to what whole boxes leave
  /// of dims[1] (all of it where that is nothing).
  bool lastRows = false;
  int swizzle = 0;       ///< bytes: 0, 32, 64, 128
  int l2Promotion = 128; ///< bytes: 0, 64, 128, 256
  bool operator==(const TensorMapRecipe &) const = default;
};

/// One kernel parameter, in order.
struct KernelArgument {
  enum class Kind {
    TensorMap,   ///< 128-byte struct by value; index into tensorMaps
    Pointer,     ///< 64-bit device address of an operand
    Size32,      ///< 32-bit value of a symbol
    Size64,      ///< 64-bit value of a symbol
    RasterGroup, ///< 32-bit; tiles walked along M before stepping N
    Alpha,
    Beta ///< 32-bit float, default 1
  };
  Kind kind = Kind::Size32;
  int tensorMap = 0;
  Operand operand = Operand::D;
  Symbol symbol = Symbol::M;
  bool operator==(const KernelArgument &) const = default;
};

/// One kernel of an artifact.
struct KernelMetadata {
  std::string entry; ///< symbol in the PTX / cubin
  Schedule schedule;
  std::string scheduleSource = "model";
  int threads = 384;
  int cluster[3] = {1, 1, 1};
  int64_t dynamicSharedMemory = 0; ///< bytes
  /// Tiles of D. With work = (tiles padded to the schedule's cluster along M
  /// and N) * splitK, rounded up to the cluster: grid = persistent ?
  /// min(SMs * ctasPerSM rounded down to the cluster, work) : work.
  int64_t tileM = 128, tileN = 128;
  bool persistent = true;
  int ctasPerSM = 1;
  int splitK = 1;
  std::vector<TensorMapRecipe> tensorMaps;
  std::vector<KernelArgument> arguments;
  /// Bytes of workspace = workspacePerTile * tiles + workspacePerCta * grid +
  /// workspaceFixed; the fixed part must be zero before the first launch and is
  /// left zero.
  int64_t workspacePerTile = 0, workspacePerCta = 0, workspaceFixed = 0;
};

/// One row of the dispatch table: the first row with m <= maxM is taken; the
/// last row has maxM = -1 (any M).
struct DispatchEntry {
  int64_t maxM = -1;
  int kernel = 0;
};

/// The whole document.
struct LaunchMetadata {
  int version = kLaunchMetadataVersion;
  std::string chip = "sm_90a";
  Problem problem; ///< as compiled; kDynamic where a size is an argument
  std::vector<KernelMetadata> kernels;
  std::vector<DispatchEntry> dispatch;

  /// Index into kernels for this M, or an error when the table has no row.
  Result<int> selectKernel(int64_t m) const;
};

std::string toJson(const LaunchMetadata &metadata);
/// Refuses unknown versions and malformed documents by naming the field.
Result<LaunchMetadata> parseLaunchMetadata(const std::string &json);

/// Host addresses or device addresses of the operands of one launch.
struct LaunchOperands {
  uint64_t a = 0, b = 0, c = 0, d = 0, scaleA = 0, scaleB = 0, workspace = 0;
  uint64_t address(Operand operand) const;
};

/// Options of one launch that need no recompilation.
struct LaunchOptions {
  int smLimit = 0;     ///< use at most this many SMs; 0: all
  int rasterGroup = 0; ///< 0: the schedule's default
  float alpha = 1, beta = 1;
  bool programmaticDependentLaunch = false;
};

/// A launch worked out on the host, short of encoding tensor maps: shared by
/// the CUDA runtime and the emulator so that both launch the same thing.
struct LaunchPlan {
  const KernelMetadata *kernel = nullptr;
  int64_t grid = 0; ///< CTAs; 0: nothing is launched (M or N is 0)
  LaunchSizes sizes;
  int rasterGroup = 1;
  int64_t workspaceBytes = 0;
};

/// Picks the kernel, checks sizes against those compiled in, strides and base
/// addresses against what TMA takes (16-byte rows and bases), and works out
/// the grid. Every error names the operand, what was expected and found.
Result<LaunchPlan> planLaunch(const LaunchMetadata &metadata,
                              const LaunchSizes &sizes,
                              const LaunchOperands &operands,
                              const LaunchOptions &options, int smCount);

/// A tensor map worked out for one launch, ready for encoding or emulation.
struct TensorMapValues {
  Operand operand = Operand::A;
  DType type = DType::BF16;
  uint64_t base = 0;
  std::vector<uint64_t> dims;         ///< elements
  std::vector<uint64_t> stridesBytes; ///< dims.size() - 1 entries
  std::vector<uint32_t> box;
  int swizzle = 0, l2Promotion = 128;
};
/// Evaluates a recipe and checks the rules of cuTensorMapEncodeTiled (box
/// between 1 and 256, inner box bytes a multiple of 16 and within the swizzle
/// span, strides multiples of 16 below 2^40, dims below 2^32).
Result<TensorMapValues> evaluateTensorMap(const TensorMapRecipe &recipe,
                                          const LaunchSizes &sizes,
                                          const LaunchOperands &operands);

/// Strides a caller gets when it names none: rows packed to the smallest
/// multiple of 16 bytes (K-contiguous A, B; N-contiguous C, D). Scales: packed
/// for K major; for MN major rows padded to 16 bytes (4 scales of type f32).
LaunchSizes defaultSizes(const Problem &problem, int64_t m, int64_t n,
                         int64_t k);

} // namespace dgemm

#endif // DGEMM_RUNTIME_LAUNCHMETADATA_H
