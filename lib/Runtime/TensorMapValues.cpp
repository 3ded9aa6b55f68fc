// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps worked out for one launch, checked against the rules that
// cuTensorMapEncodeTiled applies without saying which one was broken.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <algorithm>

namespace dgemm {

static Status mapError(const TensorMapRecipe &recipe, const std::string &what,
                       const std::string &expected, int64_t found) {
  return Status::error(std::string("tensor map of ") +
                       toString(recipe.operand) + ": " + what + ": expected " +
                       expected + ", found " + std::to_string(found));
}

static Status checkBox(const TensorMapRecipe &recipe) {
  for (size_t i = 0; i < recipe.box.size(); ++i)
    if (recipe.box[i] < 1 || recipe.box[i] > 256)
      return mapError(recipe, "box[" + std::to_string(i) + "]",
                      "1 to 256 elements", recipe.box[i]);
  int64_t innerBytes = recipe.box[0] * sizeOf(recipe.type);
  if (innerBytes % 16 != 0)
    return mapError(recipe, "box[0]", "a multiple of 16 bytes", innerBytes);
  if (recipe.swizzle > 0 && innerBytes > recipe.swizzle)
    return mapError(recipe, "box[0]",
                    "at most the swizzle span of " +
                        std::to_string(recipe.swizzle) + " bytes",
                    innerBytes);
  return Status::success();
}

static Status checkRecipe(const TensorMapRecipe &recipe) {
  size_t rank = recipe.dims.size();
  if (rank < 1 || rank > 5)
    return mapError(recipe, "rank", "1 to 5", static_cast<int64_t>(rank));
  if (recipe.strides.size() + 1 != rank)
    return mapError(recipe, "strides", std::to_string(rank - 1),
                    static_cast<int64_t>(recipe.strides.size()));
  if (recipe.box.size() != rank)
    return mapError(recipe, "box", std::to_string(rank) + " extents",
                    static_cast<int64_t>(recipe.box.size()));
  if (recipe.type == DType::None)
    return Status::error(std::string("tensor map of ") +
                         toString(recipe.operand) +
                         ": type: expected an element type, found none");
  if (recipe.swizzle != 0 && recipe.swizzle != 32 && recipe.swizzle != 64 &&
      recipe.swizzle != 128)
    return mapError(recipe, "swizzle", "0, 32, 64 or 128 bytes",
                    recipe.swizzle);
  if (recipe.l2Promotion != 0 && recipe.l2Promotion != 64 &&
      recipe.l2Promotion != 128 && recipe.l2Promotion != 256)
    return mapError(recipe, "L2 promotion", "0, 64, 128 or 256 bytes",
                    recipe.l2Promotion);
  if (recipe.lastRows && rank < 2)
    return mapError(recipe, "rank", "2 to 5 for a map of the last rows",
                    static_cast<int64_t>(rank));
  return checkBox(recipe);
}

Result<TensorMapValues> evaluateTensorMap(const TensorMapRecipe &recipe,
                                          const LaunchSizes &sizes,
                                          const LaunchOperands &operands) {
  if (Status status = checkRecipe(recipe); !status)
    return status;
  TensorMapValues values;
  values.operand = recipe.operand;
  values.type = recipe.type;
  values.swizzle = recipe.swizzle;
  values.l2Promotion = recipe.l2Promotion;
  values.box.assign(recipe.box.begin(), recipe.box.end());

  bool empty = false;
  for (size_t i = 0; i < recipe.dims.size(); ++i) {
    int64_t dim = evaluate(recipe.dims[i], sizes);
    empty |= dim == 0;
    if (dim < 0 || dim >= (int64_t(1) << 32))
      return mapError(recipe, "dims[" + std::to_string(i) + "]",
                      "0 to 4294967295 elements", dim);
    values.dims.push_back(std::max<int64_t>(dim, 1));
  }
  if (recipe.lastRows)
    if (uint64_t left = values.dims[1] % values.box[1])
      values.box[1] = static_cast<uint32_t>(left);
  int64_t size = sizeOf(recipe.type);
  for (size_t i = 0; i < recipe.strides.size(); ++i) {
    int64_t elements = evaluate(recipe.strides[i], sizes);
    // Bounded before the product, which could overflow.
    int64_t limit = (int64_t(1) << 40) / size;
    if (elements < 0 || elements >= limit)
      return mapError(recipe, "strides[" + std::to_string(i) + "]",
                      "0 to " + std::to_string(limit - 1) + " elements",
                      elements);
    int64_t bytes = elements * size;
    if (bytes % 16 != 0)
      return mapError(recipe, "strides[" + std::to_string(i) + "]",
                      "a multiple of 16 bytes", bytes);
    // Rows of nothing have no length; the encoder wants one.
    values.stridesBytes.push_back(empty ? std::max<int64_t>(bytes, 16) : bytes);
  }
  values.base = operands.address(recipe.operand);
  // An empty operand may have no address. Its map is encoded all the same,
  // being a kernel argument, but never used: any valid address does.
  if (empty && values.base == 0)
    values.base = operands.d;
  if (values.base == 0)
    return mapError(recipe, "base address", "an address", 0);
  if (values.base % 16 != 0)
    return mapError(recipe, "base address", "a multiple of 16 bytes",
                    static_cast<int64_t>(values.base));
  return values;
}

} // namespace dgemm
