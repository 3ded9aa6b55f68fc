// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads benchmarks/data/measured-variants-h200.csv into inputs of the cost
// model. Kernels with a feature that no schedule can express (operand A in
// registers, carried temporaries, K split inside a CTA, release arrives,
// spills) are left out.

#ifndef DGEMM_TEST_UNIT_COSTMODEL_MEASUREDVARIANTS_H
#define DGEMM_TEST_UNIT_COSTMODEL_MEASUREDVARIANTS_H

#include "dgemm/CostModel/CostModel.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace dgemm {

struct MeasuredVariant {
  CostInputs inputs;
  bool large = false;
  double us = 0;
  /// Shape, type and regime: what compares with what.
  std::string group;
};

/// Fields of one line; quoted fields may hold commas.
inline std::vector<std::string> splitCsv(const std::string &line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

/// Every row the model can be asked about; empty when there is no file.
inline std::vector<MeasuredVariant> readMeasuredVariants() {
  std::ifstream file("benchmarks/data/measured-variants-h200.csv");
  std::string line;
  std::vector<MeasuredVariant> out;
  if (!std::getline(file, line))
    return out;
  std::vector<std::string> names = splitCsv(line);
  while (std::getline(file, line)) {
    std::vector<std::string> fields = splitCsv(line);
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < names.size() && i < fields.size(); ++i)
      row[names[i]] = fields[i];
    auto number = [&](const char *name) {
      return std::atoi(row[name].c_str());
    };
    auto has = [&](const char *name, const char *part) {
      return row[name].find(part) != std::string::npos;
    };
    MeasuredVariant variant;
    variant.large = row["regime"] == "unthrottled";
    if (!variant.large && !has("regime", "decode"))
      continue;
    if ((row["form"] != "plain" && row["form"] != "swap_ab") ||
        has("promotion_overlap", "carried") ||
        has("promotion_overlap", "k_pair") ||
        has("promotion_overlap", "k_group") || has("other", "arrive_rel") ||
        has("other", "spill") || has("other", "rev2") ||
        number("k_split_in_cta") > 1)
      continue;
    CostInputs &in = variant.inputs;
    in.m = number("m");
    in.n = number("n");
    in.k = number("k");
    in.fp8 = in.promoted = row["dtype"] == "fp8";
    in.operandBytes = in.fp8 ? 1 : 2;
    in.form = row["form"] == "plain" ? Form::Plain : Form::SwapAB;
    in.tileM = number("tile_m");
    in.tileN = number("tile_n");
    in.consumers = number("consumer_warpgroups");
    in.mBlocks = number("m64_per_warpgroup");
    in.pingPong = row["schedule"] == "pingpong";
    in.nBlocks = std::max(number("n_blocks"), 1);
    in.blockColumns = number("wgmma_n");
    in.overlapPromotion = has("promotion_overlap", "n_block");
    in.stages = number("stages");
    in.kBlocksPerStage = number("tile_k_per_stage");
    in.clusterM = number("cluster_m");
    in.clusterN = number("cluster_n");
    in.splitK = number("split_k");
    in.splitKind = row["split_kind"] == "cluster"      ? SplitKind::Cluster
                   : row["split_kind"] == "global_red" ? SplitKind::Workspace
                                                       : SplitKind::None;
    in.storeBoxColumns = number("store_box_cols");
    in.storeChunks = std::max(number("epilogue_chunks"), 1);
    in.persistent = number("persistent");
    in.ctasPerSM = number("ctas_per_sm");
    in.rasterGroup = std::max(number("raster_group"), 1);
    in.rasterOrder =
        row["multicast"] == "A" ? RasterOrder::AlongN : RasterOrder::AlongM;
    in.evictFirst = has("l2_hint", "w_first");
    in.l2 = row["regime"] == "decode-dirty" ? L2State::Dirty : L2State::Clean;
    variant.us = std::atof(row["us"].c_str());
    variant.group = row["regime"] + " " + row["dtype"] + " " + row["m"] + "x" +
                    row["n"] + "x" + row["k"];
    out.push_back(std::move(variant));
  }
  return out;
}

} // namespace dgemm

#endif // DGEMM_TEST_UNIT_COSTMODEL_MEASUREDVARIANTS_H
