// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The large formula in two steps, for callers that evaluate one kernel with
// many coefficients: the walk over tiles takes most of the time and depends on
// none of the fitted ones.

#ifndef DGEMM_LIB_COSTMODEL_LARGEMODEL_H
#define DGEMM_LIB_COSTMODEL_LARGEMODEL_H

#include "RasterWalk.h"

#include "dgemm/CostModel/CostModel.h"

#include <vector>

namespace dgemm {

/// How a kernel walks the tiles of D.
RasterWalk rasterWalk(const CostInputs &inputs, const DeviceModel &device);
/// DRAM reads of the waves of a walk; waves that read as much are one entry.
std::vector<WaveMisses> tileWaves(const RasterWalk &walk);
/// largeCost, given these.
CostBreakdown largeCostOfWaves(const CostInputs &inputs,
                               const DeviceModel &device,
                               const std::vector<WaveMisses> &waves);

} // namespace dgemm

#endif // DGEMM_LIB_COSTMODEL_LARGEMODEL_H
