// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From the values of a tensor-map recipe to the driver's CUtensorMap.

#ifndef DGEMM_RUNTIME_TENSORMAPENCODE_H
#define DGEMM_RUNTIME_TENSORMAPENCODE_H

#include "dgemm/Runtime/DriverApi.h"
#include "dgemm/Runtime/LaunchMetadata.h"

namespace dgemm::cuda {

/// CUtensorMapDataType of an element type: FP8, E8M0 and I8 travel as UINT8.
Result<int> tensorMapType(DType type);

/// Encodes into `out`. The error names the operand and the shape that the
/// driver refused.
Status encodeTensorMap(const DriverApi &api, const TensorMapValues &values,
                       TensorMap &out);

} // namespace dgemm::cuda

#endif // DGEMM_RUNTIME_TENSORMAPENCODE_H
