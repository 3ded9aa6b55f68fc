// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Spellings of types and layouts, the --gemm text form of a problem, and the
// rules a problem must keep whatever schedule computes it.

#include "dgemm/CostModel/Problem.h"

#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace dgemm {

int64_t sizeOf(DType type) {
  switch (type) {
  case DType::None:
    return 0;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E8M0FNU:
  case DType::I8:
    return 1;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  }
  return 0;
}

const char *toString(DType type) {
  switch (type) {
  case DType::None:
    return "none";
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F32:
    return "f32";
  case DType::F8E4M3FN:
    return "f8E4M3FN";
  case DType::F8E5M2:
    return "f8E5M2";
  case DType::F8E8M0FNU:
    return "f8E8M0FNU";
  case DType::I8:
    return "i8";
  case DType::I32:
    return "i32";
  }
  return "none";
}

Result<DType> parseDType(const std::string &text) {
  for (DType type :
       {DType::None, DType::BF16, DType::F16, DType::F32, DType::F8E4M3FN,
        DType::F8E5M2, DType::F8E8M0FNU, DType::I8, DType::I32})
    if (text == toString(type))
      return type;
  if (text == "e4m3")
    return DType::F8E4M3FN;
  if (text == "e5m2")
    return DType::F8E5M2;
  if (text == "ue8m0")
    return DType::F8E8M0FNU;
  return Status::error("unknown element type '" + text +
                       "'; expected bf16, f16, f32, f8E4M3FN, f8E5M2, "
                       "f8E8M0FNU, i8 or i32");
}

const char *toString(Layout layout) {
  switch (layout) {
  case Layout::NT:
    return "nt";
  case Layout::NN:
    return "nn";
  case Layout::TN:
    return "tn";
  case Layout::TT:
    return "tt";
  }
  return "nt";
}

Result<Layout> parseLayout(const std::string &text) {
  for (Layout layout : {Layout::NT, Layout::NN, Layout::TN, Layout::TT})
    if (text == toString(layout))
      return layout;
  return Status::error("unknown layout '" + text +
                       "'; expected nt, nn, tn or tt");
}

int64_t ceilDiv(int64_t a, int64_t b) {
  if (a == kDynamic)
    return kDynamic;
  return a / b + (a % b > 0 ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// Text form
//===----------------------------------------------------------------------===//

static std::string dimText(int64_t dim) {
  return dim == kDynamic ? "?" : std::to_string(dim);
}

static std::string scaleText(const char *name, const ScaleSpec &scale) {
  if (!scale.present())
    return "";
  std::string out = std::string(",") + name + "=";
  if (scale.perTensor())
    out += "tensor";
  else if (scale.perRow())
    out += "row";
  else
    out += std::to_string(scale.rows) + "x" + std::to_string(scale.cols);
  if (scale.type != DType::F32)
    out += std::string(",") + name + "_type=" + toString(scale.type);
  if (scale.major == ScaleMajor::MN)
    out += std::string(",") + name + "_major=mn";
  return out;
}

std::string toString(const Problem &problem) {
  std::string out = "m=" + dimText(problem.m) + ",n=" + dimText(problem.n) +
                    ",k=" + dimText(problem.k) + ",a=" + toString(problem.a) +
                    ",b=" + toString(problem.b) + ",d=" + toString(problem.d);
  out += scaleText("scale_a", problem.scaleA);
  out += scaleText("scale_b", problem.scaleB);
  out += std::string(",layout=") + toString(problem.layout);
  if (problem.accumulate)
    out += ",accumulate=true";
  if (problem.fastAccumulate)
    out += ",fast_accumulate=true";
  return out;
}

static std::optional<int64_t> readInt(std::string_view text) {
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static Status badValue(const std::string &key, const std::string &value,
                       const std::string &expected) {
  return Status::error("gemm field '" + key + "': expected " + expected +
                       ", found '" + value + "'");
}

static Status readDim(const std::string &key, const std::string &value,
                      int64_t &dim) {
  if (value == "?") {
    dim = kDynamic;
    return Status::success();
  }
  std::optional<int64_t> number = readInt(value);
  if (!number || *number < 0)
    return badValue(key, value, "a size of at least 0 or '?'");
  dim = *number;
  return Status::success();
}

static Status readStride(const std::string &key, const std::string &value,
                         int64_t &stride) {
  std::optional<int64_t> number = readInt(value);
  if (!number || *number < 1)
    return badValue(key, value, "a row length in elements of at least 1");
  stride = *number;
  return Status::success();
}

static Status readFlag(const std::string &key, const std::string &value,
                       bool &flag) {
  if (value == "true" || value == "1" || value.empty())
    flag = true;
  else if (value == "false" || value == "0")
    flag = false;
  else
    return badValue(key, value, "true or false");
  return Status::success();
}

static Status readType(const std::string &key, const std::string &value,
                       DType &type) {
  Result<DType> parsed = parseDType(value);
  if (!parsed)
    return Status::error("gemm field '" + key + "': " + parsed.message());
  type = *parsed;
  return Status::success();
}

static Status readScaleBlock(const std::string &key, const std::string &value,
                             ScaleSpec &scale) {
  if (scale.type == DType::None)
    scale.type = DType::F32;
  if (value == "tensor" || value == "row") {
    scale.rows = value == "row" ? 1 : 0;
    scale.cols = 0;
    return Status::success();
  }
  size_t cross = value.find('x');
  std::optional<int64_t> rows, cols;
  if (cross != std::string::npos) {
    rows = readInt(std::string_view(value).substr(0, cross));
    cols = readInt(std::string_view(value).substr(cross + 1));
  }
  if (!rows || !cols || *rows < 0 || *cols < 0)
    return badValue(key, value, "a block such as 1x128, or tensor, or row");
  scale.rows = *rows;
  scale.cols = *cols;
  return Status::success();
}

static Status readScaleMajor(const std::string &key, const std::string &value,
                             ScaleSpec &scale) {
  if (value == "k")
    scale.major = ScaleMajor::K;
  else if (value == "mn" || value == "m" || value == "n")
    scale.major = ScaleMajor::MN;
  else
    return badValue(key, value, "k or mn");
  return Status::success();
}

/// Takes one key=value pair; the empty optional means that no such key exists.
static std::optional<Status>
readField(const std::string &key, const std::string &value, GemmText &gemm) {
  Problem &problem = gemm.problem;
  if (key == "m")
    return readDim(key, value, problem.m);
  if (key == "n")
    return readDim(key, value, problem.n);
  if (key == "k")
    return readDim(key, value, problem.k);
  if (key == "a")
    return readType(key, value, problem.a);
  if (key == "b")
    return readType(key, value, problem.b);
  if (key == "d")
    return readType(key, value, problem.d);
  if (key == "layout") {
    Result<Layout> layout = parseLayout(value);
    if (!layout)
      return Status::error("gemm field 'layout': " + layout.message());
    problem.layout = *layout;
    return Status::success();
  }
  if (key == "scale_a")
    return readScaleBlock(key, value, problem.scaleA);
  if (key == "scale_b")
    return readScaleBlock(key, value, problem.scaleB);
  if (key == "scale_a_type")
    return readType(key, value, problem.scaleA.type);
  if (key == "scale_b_type")
    return readType(key, value, problem.scaleB.type);
  if (key == "scale_a_major")
    return readScaleMajor(key, value, problem.scaleA);
  if (key == "scale_b_major")
    return readScaleMajor(key, value, problem.scaleB);
  if (key == "accumulate")
    return readFlag(key, value, problem.accumulate);
  if (key == "fast_accumulate")
    return readFlag(key, value, problem.fastAccumulate);
  if (key == "packed")
    return readFlag(key, value, gemm.packed);
  if (key == "lda")
    return readStride(key, value, gemm.lda);
  if (key == "ldb")
    return readStride(key, value, gemm.ldb);
  if (key == "ldc")
    return readStride(key, value, gemm.ldc);
  if (key == "ldd")
    return readStride(key, value, gemm.ldd);
  return std::nullopt;
}

Result<GemmText> parseGemm(const std::string &text) {
  GemmText gemm;
  std::set<std::string> seen;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    size_t first = item.find_first_not_of(" \t");
    if (first == std::string::npos)
      return Status::error("gemm text: empty field; expected key=value pairs "
                           "separated by commas");
    item = item.substr(first, item.find_last_not_of(" \t") - first + 1);
    size_t equals = item.find('=');
    std::string key = item.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : item.substr(equals + 1);
    if (equals == std::string::npos && key != "packed" && key != "accumulate" &&
        key != "fast_accumulate")
      return Status::error("gemm text: expected key=value, found '" + item +
                           "'");
    if (!seen.insert(key).second)
      return Status::error("gemm field '" + key + "' is given twice");
    std::optional<Status> status = readField(key, value, gemm);
    if (!status)
      return Status::error(
          "unknown gemm field '" + key +
          "'; expected m, n, k, a, b, d, layout, scale_a, scale_b, "
          "scale_a_type, scale_b_type, scale_a_major, scale_b_major, "
          "accumulate, fast_accumulate, lda, ldb, ldc, ldd or packed");
    if (!*status)
      return *status;
  }
  for (const char *operand : {"scale_a", "scale_b"})
    for (const char *suffix : {"_type", "_major"})
      if (seen.count(std::string(operand) + suffix) && !seen.count(operand))
        return Status::error("gemm field '" + std::string(operand) + suffix +
                             "' needs '" + operand + "'");
  if (Status status = verifyProblem(gemm.problem); !status)
    return status;
  return gemm;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Status verifyScale(const char *name, const ScaleSpec &scale) {
  if (!scale.present())
    return Status::success();
  if (scale.type != DType::F32 && scale.type != DType::F8E8M0FNU)
    return Status::error(std::string(name) +
                         ": expected scales of type f32 or f8E8M0FNU, found " +
                         toString(scale.type));
  if (scale.rows < 0 || scale.cols < 0)
    return Status::error(
        std::string(name) + ": expected block sizes of at least 0, found " +
        std::to_string(scale.rows) + "x" + std::to_string(scale.cols));
  return Status::success();
}

Status verifyProblem(const Problem &problem) {
  auto isFp8 = [](DType type) {
    return type == DType::F8E4M3FN || type == DType::F8E5M2;
  };
  struct {
    const char *name;
    int64_t value;
  } dims[] = {{"m", problem.m}, {"n", problem.n}, {"k", problem.k}};
  for (auto [name, value] : dims) {
    if (value < 0 && value != kDynamic)
      return Status::error(
          std::string(name) +
          ": expected a size of at least 0 or dynamic, found " +
          std::to_string(value));
    // Coordinates of tensor maps and tile counters are 32-bit.
    if (value > INT32_MAX)
      return Status::error(std::string(name) + ": expected a size of at most " +
                           std::to_string(INT32_MAX) + ", found " +
                           std::to_string(value));
  }
  bool pairKnown = (isFp8(problem.a) && isFp8(problem.b)) ||
                   (problem.a == problem.b &&
                    (problem.a == DType::BF16 || problem.a == DType::F16 ||
                     problem.a == DType::I8));
  if (!pairKnown)
    return Status::error(std::string("operands a and b: expected bf16 x bf16, "
                                     "f16 x f16, i8 x i8 or f8 x f8, found ") +
                         toString(problem.a) + " x " + toString(problem.b));
  bool integer = problem.a == DType::I8;
  bool resultKnown = integer ? problem.d == DType::I32
                             : problem.d == DType::BF16 ||
                                   problem.d == DType::F16 ||
                                   problem.d == DType::F32;
  if (!resultKnown)
    return Status::error(std::string("operand d: expected ") +
                         (integer ? "i32" : "bf16, f16 or f32") + ", found " +
                         toString(problem.d));
  // WGMMA reads 8-bit operands only with K contiguous.
  if (sizeOf(problem.a) == 1 && problem.layout != Layout::NT)
    return Status::error(
        std::string("layout: expected nt for 8-bit operands, found ") +
        toString(problem.layout));
  if (Status status = verifyScale("scale_a", problem.scaleA); !status)
    return status;
  if (Status status = verifyScale("scale_b", problem.scaleB); !status)
    return status;
  if ((problem.scaleA.present() || problem.scaleB.present()) && !problem.fp8())
    return Status::error(
        std::string("scale_a, scale_b: expected no scales for operands of "
                    "type ") +
        toString(problem.a));
  return Status::success();
}

} // namespace dgemm
