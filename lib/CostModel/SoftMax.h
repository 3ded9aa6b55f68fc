// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A soft maximum: two limits that are nearly equal cost more than either.

#ifndef DGEMM_LIB_COSTMODEL_SOFTMAX_H
#define DGEMM_LIB_COSTMODEL_SOFTMAX_H

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace dgemm {

/// (sum of x^p)^(1/p) for values of at least 0, scaled by the largest so that
/// no power overflows.
inline double softMax(double p, std::initializer_list<double> values) {
  double largest = std::max(values);
  if (largest <= 0)
    return 0;
  double sum = 0;
  for (double value : values)
    sum += std::pow(value / largest, p);
  return largest * std::pow(sum, 1 / p);
}

} // namespace dgemm

#endif // DGEMM_LIB_COSTMODEL_SOFTMAX_H
