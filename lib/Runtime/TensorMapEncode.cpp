// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls cuTensorMapEncodeTiled.

#include "dgemm/Runtime/TensorMapEncode.h"

#include <array>

namespace dgemm::cuda {

Result<int> tensorMapType(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E8M0FNU:
  case DType::I8:
    return int(kTensorMapUint8);
  case DType::BF16:
    return int(kTensorMapBFloat16);
  case DType::F16:
    return int(kTensorMapFloat16);
  case DType::F32:
    return int(kTensorMapFloat32);
  case DType::I32:
    return int(kTensorMapInt32);
  case DType::None:
    break;
  }
  return Status::error("a tensor map needs an element type");
}

static Result<int> swizzleMode(int bytes) {
  switch (bytes) {
  case 0:
    return 0;
  case 32:
    return 1;
  case 64:
    return 2;
  case 128:
    return 3;
  default:
    return Status::error("swizzle must be 0, 32, 64 or 128 bytes, found " +
                         std::to_string(bytes));
  }
}

static Result<int> promotionMode(int bytes) {
  switch (bytes) {
  case 0:
    return 0;
  case 64:
    return 1;
  case 128:
    return 2;
  case 256:
    return 3;
  default:
    return Status::error(
        "L2 promotion must be 0, 64, 128 or 256 bytes, found " +
        std::to_string(bytes));
  }
}

/// "tensor map of a: dims 128x64, box 64x64": what an error is about.
static std::string describe(const TensorMapValues &values) {
  std::string text =
      std::string("tensor map of ") + toString(values.operand) + ": dims ";
  for (size_t i = 0; i < values.dims.size(); ++i)
    text += (i ? "x" : "") + std::to_string(values.dims[i]);
  text += ", strides";
  for (uint64_t stride : values.stridesBytes)
    text += " " + std::to_string(stride);
  text += " bytes, box ";
  for (size_t i = 0; i < values.box.size(); ++i)
    text += (i ? "x" : "") + std::to_string(values.box[i]);
  return text + ", swizzle " + std::to_string(values.swizzle);
}

Status encodeTensorMap(const DriverApi &api, const TensorMapValues &values,
                       TensorMap &out) {
  size_t rank = values.dims.size();
  if (rank < 1 || rank > 5 || values.box.size() != rank ||
      values.stridesBytes.size() + 1 != rank)
    return Status::error(describe(values) +
                         ": expected 1 to 5 dims, one stride fewer and as "
                         "many box sizes");
  Result<int> type = tensorMapType(values.type);
  Result<int> swizzle = swizzleMode(values.swizzle);
  Result<int> promotion = promotionMode(values.l2Promotion);
  for (const Result<int> *part : {&type, &swizzle, &promotion})
    if (!part->ok())
      return Status::error(describe(values) + ": " + part->message());
  constexpr std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1};
  constexpr int kInterleaveNone = 0, kFillZero = 0;
  return api.check(api.cuTensorMapEncodeTiled(
                       &out, *type, uint32_t(rank),
                       reinterpret_cast<void *>(values.base),
                       values.dims.data(), values.stridesBytes.data(),
                       values.box.data(), elementStrides.data(),
                       kInterleaveNone, *swizzle, *promotion, kFillZero),
                   describe(values));
}

} // namespace dgemm::cuda
