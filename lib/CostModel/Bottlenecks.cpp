// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds a schedule back: the prediction repeated on devices that lack one
// limit each.

#include "dgemm/CostModel/CostModel.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace dgemm {

/// Gains below this are not worth a line.
static constexpr double kLeastGain = 0.005;
/// A bandwidth that never binds.
static constexpr double kUnlimited = 1e9;

std::vector<Bottleneck> bottlenecks(const Problem &problem,
                                    const Schedule &schedule,
                                    const DeviceModel &device) {
  CostInputs inputs = costInputs(problem, schedule, device);
  bool decode = inputs.m <= kDecodeMaxM;
  auto time = [&](const DeviceModel &without) {
    return (decode ? decodeCost(inputs, without) : largeCost(inputs, without))
        .microseconds;
  };
  double now = time(device);
  std::vector<Bottleneck> out;
  auto add = [&](const char *limit, const char *remedy, double then) {
    double gain = 1 - then / now;
    if (gain >= kLeastGain)
      out.push_back({limit, remedy, gain});
  };
  auto lift = [&](const char *limit, const char *remedy, auto change) {
    DeviceModel without = device;
    change(without);
    add(limit, remedy, time(without));
  };

  if (decode) {
    lift("DRAM", "fewer bytes: narrower weights",
         [](DeviceModel &d) { d.decode.hbm = kUnlimited; });
    lift("weights read again", "one tile that covers all of M",
         [](DeviceModel &d) { d.decode.reread = 0; });
    lift("load latency", "more stages or K blocks per stage in flight",
         [](DeviceModel &d) {
           d.decode.latencyClean = d.decode.latencyDirty =
               d.decode.latencyRegister = 0;
         });
    lift("ring steps", "several K blocks per stage",
         [](DeviceModel &d) { d.decode.step = 0; });
    lift("promotion", "narrower tiles, or more CTAs that share the work",
         [](DeviceModel &d) {
           d.decode.promotionPlain = d.decode.promotionSwap = 0;
           d.decode.promotionSMPlain = d.decode.promotionSMSwap = 0;
         });
    lift("reduction", "no split of K", [](DeviceModel &d) {
      d.decode.reduceCluster = d.decode.reduceWorkspace = 0;
      d.decode.clusterBandwidthPlain = d.decode.clusterBandwidthSwap =
          d.decode.workspaceBandwidth = kUnlimited;
    });
    lift("stores", "wider stores of D", [](DeviceModel &d) {
      d.decode.storePlain = d.decode.storeSwap = d.decode.storeTma = kUnlimited;
    });
  } else {
    lift("DRAM", "a raster group that reuses more of what is in L2",
         [](DeviceModel &d) {
           d.large.hbmRead = d.large.hbmWrite = kUnlimited;
         });
    lift("load latency", "more stages in flight", [](DeviceModel &d) {
      d.large.loadLatency = d.large.latencyRow = 0;
      d.large.latencyRowApart = d.large.missLatency = 0;
      d.large.slotUsePromoted = d.large.slotUseQueued = 0;
    });
    lift("L2", "larger tiles, or neighbours that share the larger panel",
         [](DeviceModel &d) {
           d.large.loadStep = d.large.l2Row = d.large.l2Far = 0;
         });
    lift("promotion", "n-blocks whose promotion overlaps the next block",
         [](DeviceModel &d) {
           d.large.promotion = d.large.chainSync = d.large.extraBlock =
               d.large.promotionContention = d.large.fallInStep = 0;
         });
    lift("scales", "scales of A with M contiguous, tiles that end with blocks",
         [](DeviceModel &d) { d.large.scaleGroup = d.large.scaleLoad = 0; });
    lift("TMA requests", "wider store boxes, larger tiles",
         [](DeviceModel &d) { d.large.tmaRow = 0; });
    lift("epilogue", "ping-pong, or fewer rounds of store staging",
         [](DeviceModel &d) {
           d.large.epilogueBase = d.large.epilogueColumn =
               d.large.epilogueRound = 0;
           d.large.storeRow = d.large.storeFragment = 0;
         });
    lift("power", "fewer operand bytes moved per multiplication",
         [](DeviceModel &d) {
           d.large.clock16 = d.large.clock8 = d.maxClock;
           d.large.powerExponent = 0;
         });
  }
  double work = double(ceilDiv(inputs.m, inputs.tileM)) *
                ceilDiv(inputs.n, inputs.tileN) * inputs.splitK /
                (double(device.smCount) * inputs.ctasPerSM);
  double fixed = decode ? device.decode.launch : device.large.fixed;
  add("last wave", "a tile that fills the SMs evenly",
      fixed + (now - fixed) * work / std::ceil(work));
  std::sort(out.begin(), out.end(),
            [](const Bottleneck &a, const Bottleneck &b) {
              return std::tie(b.gain, a.limit) < std::tie(a.gain, b.limit);
            });
  return out;
}

} // namespace dgemm
