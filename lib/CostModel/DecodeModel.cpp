// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of problems with M <= 128, where the weights stream through every SM
// once: DRAM, the busiest SM, the ring's bytes in flight against load latency,
// a consumer's serial work, promotion, reduction and stores.

#include "dgemm/CostModel/CostModel.h"

#include "SoftMax.h"

#include <algorithm>
#include <cmath>

namespace dgemm {

namespace {
/// How the work of a decode kernel is dealt out.
struct DecodeShape {
  double grid = 1;          ///< CTAs that have work
  double resident = 1;      ///< of them on the busiest SM at a time
  double waves = 1;         ///< launches of CTAs one after the other
  double tilesPerCta = 1;   ///< of a persistent CTA
  double ctasOnBusiest = 1; ///< CTAs, or tiles, that the busiest SM works off
  double kBlocks = 1;       ///< per tile and split
  double steps = 1;         ///< ring steps of one SM slot
};
} // namespace

static DecodeShape decodeShape(const CostInputs &in,
                               const DeviceModel &device) {
  DecodeShape shape;
  double work =
      double(ceilDiv(in.m, in.tileM)) * ceilDiv(in.n, in.tileN) * in.splitK;
  double slots = residentCtas(device, in.clusterSize(), in.ctasPerSM);
  shape.grid = in.persistent ? std::min(work, slots) : work;
  shape.waves = in.persistent ? 1 : std::ceil(work / slots);
  shape.tilesPerCta = std::ceil(work / shape.grid);
  shape.resident =
      std::clamp(std::ceil(work / device.smCount), 1.0, double(in.ctasPerSM));
  shape.ctasOnBusiest = std::ceil(work / device.smCount);
  double kBlocks = std::ceil(double(in.k) * in.operandBytes / in.tileKBytes);
  shape.kBlocks = std::ceil(kBlocks / in.splitK);
  shape.steps = std::ceil(std::ceil(kBlocks / in.kBlocksPerStage) / in.splitK) *
                shape.tilesPerCta * shape.waves;
  return shape;
}

CostBreakdown decodeCost(const CostInputs &in, const DeviceModel &device) {
  const DecodeCoefficients &c = device.decode;
  DecodeShape shape = decodeShape(in, device);
  bool swap = in.form == Form::SwapAB, dirty = in.l2 == L2State::Dirty;
  bool registers = in.form == Form::Register;
  auto us = [&](double cyc) { return cyc / c.clock / 1000; };

  double tokens = std::min<double>(in.m, in.tileM);
  double weightBytes = double(in.n) * in.k * in.operandBytes;
  double writeBack = !dirty          ? 0
                     : in.evictFirst ? c.writeBackHinted
                                     : c.writeBackUnhinted;
  // Neighbouring CTAs of two rows of tiles share what the cache holds; those
  // of a split K have each other between them.
  double beyondCache = in.splitK > 1 ? 1 : device.large.beyondL2(weightBytes);
  double furtherRows = double(ceilDiv(in.m, in.tileM) - 1);
  double reread = c.reread * beyondCache * furtherRows;
  double hbm = (weightBytes * (1 + writeBack + reread) +
                double(in.m) * in.k * in.operandBytes) /
               (c.hbm * 1e6);

  double kBlockBytes = (in.tileN + tokens) * in.tileKBytes;
  double smBandwidth =
      (registers ? c.smBandwidthRegister : c.smBandwidth) * 1e3; // bytes/us
  double sm = shape.ctasOnBusiest * shape.kBlocks * kBlockBytes / smBandwidth;

  // Columns of WGMMA's result and rows per warpgroup, seen from the form.
  double columns = swap ? in.tileM : in.tileN;
  double rows = swap ? in.tileN : in.tileM;
  double narrow = std::max(columns / 2 * device.tensorCycleFactor,
                           16.0 * in.nBlocks + columns / 4);
  double depth = 4 * in.tileKBytes / 128.0;
  double promotions =
      !in.promoted ? 0 : in.mBlocks * columns / 2 + (swap ? columns / 2 : 6.0);
  double exposed =
      promotions * (in.overlapPromotion ? c.promotionOverlapped : 1);
  double step =
      registers ? 0
                : us(c.step + in.kBlocksPerStage *
                                  (depth * in.mBlocks * narrow +
                                   (swap ? c.promotionSwap : c.promotionPlain) *
                                       exposed));
  double chain = shape.steps * step;
  double latency = c.latencyRows * furtherRows + (registers ? c.latencyRegister
                                                  : dirty   ? c.latencyDirty
                                                            : c.latencyClean);
  double stages =
      registers
          ? 1
          : std::min(in.freeSlots(c.heldPromoted, c.heldQueued), shape.steps);
  double ring =
      shape.steps / stages *
      (latency + step +
       shape.resident * in.kBlocksPerStage * kBlockBytes / smBandwidth);
  double issue =
      registers ? 0
                : us(shape.steps * shape.resident * (2 + in.fp8) * c.tmaIssue);
  double tensor =
      us(shape.ctasOnBusiest * shape.kBlocks * depth * (rows / 64) * narrow);
  double promotion =
      us((swap ? c.promotionSMSwap : c.promotionSMPlain) * shape.ctasOnBusiest *
         shape.kBlocks * in.consumers * promotions);

  double body =
      softMax(c.softBody, {hbm, sm, chain, ring, issue, tensor, promotion});

  CostBreakdown out;
  double tileBytes = double(in.tileM) * in.tileN * 4;
  if (in.splitK > 1 && in.splitKind == SplitKind::Cluster)
    out.reduction =
        (registers ? c.reduceClusterRegister : c.reduceCluster) +
        tileBytes * (in.splitK - 1) / in.splitK /
            ((swap ? c.clusterBandwidthSwap : c.clusterBandwidthPlain) * 1e3);
  else if (in.splitK > 1)
    out.reduction =
        c.reduceWorkspace + tileBytes / (c.workspaceBandwidth * 1e3);
  out.epilogue = double(in.m) * in.n * in.resultBytes /
                 ((in.storeBoxColumns > 0 ? c.storeTma
                   : swap                 ? c.storeSwap
                                          : c.storePlain) *
                  1e6);
  if (swap)
    out.epilogue += us(c.epilogueSwap * double(in.tileM) * in.tileN /
                       (128.0 * in.consumers) * shape.waves);
  out.fixed = c.launch + (c.skew + (dirty ? c.dirty : 0)) * hbm / (hbm + 1) +
              (shape.waves - 1) * c.wave + (registers ? c.registerForm : 0);
  out.microseconds = out.fixed + body + out.reduction + out.epilogue;

  out.memory = hbm;
  out.tensor = tensor;
  out.chain = chain;
  out.latency = ring;
  out.promotion = promotion;
  out.tma = issue;
  out.sharedMemory = sm;
  out.clock = c.clock;
  out.waves = static_cast<int64_t>(shape.waves * shape.tilesPerCta);
  out.utilisation = std::min(1.0, tensor / out.microseconds);
  double ideal = double(ceilDiv(in.m, in.tileM)) * ceilDiv(in.n, in.tileN) *
                 in.splitK / device.smCount;
  out.quantisation = body * (1 - ideal / std::ceil(ideal));
  const std::pair<const char *, double> candidates[] = {
      {"memory", hbm},         {"SM bandwidth", sm}, {"chain", chain},
      {"load latency", ring},  {"tma", issue},       {"tensor", tensor},
      {"promotion", promotion}};
  out.bound = std::max_element(std::begin(candidates), std::end(candidates),
                               [](const auto &a, const auto &b) {
                                 return a.second < b.second;
                               })
                  ->first;
  return out;
}

} // namespace dgemm
