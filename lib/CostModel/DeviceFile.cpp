// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/CostModel/DeviceFile.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

namespace dgemm {

const std::vector<DeviceField> &deviceFields() {
  using Fit = DeviceField::Fit;
  static const std::vector<DeviceField> fields = {
      {"max_clock", "GHz", "highest SM clock",
       [](DeviceModel &d) -> double & { return d.maxClock; }, Fit::None},
      {"hbm_bandwidth", "TB/s", "DRAM bandwidth",
       [](DeviceModel &d) -> double & { return d.hbmBandwidth; }, Fit::None},
      {"hbm_gigabytes", "GB", "DRAM capacity",
       [](DeviceModel &d) -> double & { return d.hbmGigabytes; }, Fit::None},
      {"l2_megabytes", "MB", "L2 capacity",
       [](DeviceModel &d) -> double & { return d.l2Megabytes; }, Fit::None},
      {"power_watts", "W", "power limit",
       [](DeviceModel &d) -> double & { return d.powerWatts; }, Fit::None},
      {"tensor_teraflops_16", "TFLOP/s", "dense BF16 rate",
       [](DeviceModel &d) -> double & { return d.tensorTeraflops16; },
       Fit::None},
      {"tensor_cycle_factor", "",
       "tensor cycles over those of a full Hopper SM",
       [](DeviceModel &d) -> double & { return d.tensorCycleFactor; },
       Fit::None},
      {"cluster_ctas_4", "CTAs", "resident at once in clusters of 4",
       [](DeviceModel &d) -> double & { return d.clusterCtas4; }, Fit::None},
      {"cluster_ctas_8", "CTAs", "resident at once in clusters of 8",
       [](DeviceModel &d) -> double & { return d.clusterCtas8; }, Fit::None},
      {"large.fixed", "us", "launch, first fill of the ring and last store",
       [](DeviceModel &d) -> double & { return d.large.fixed; }, Fit::Large},
      {"large.clock_16", "GHz",
       "clock at full tensor utilisation, 16-bit operands",
       [](DeviceModel &d) -> double & { return d.large.clock16; }, Fit::Large},
      {"large.clock_8", "GHz",
       "clock at full tensor utilisation, 8-bit operands",
       [](DeviceModel &d) -> double & { return d.large.clock8; }, Fit::Large},
      {"large.power_exponent", "", "clock against tensor utilisation",
       [](DeviceModel &d) -> double & { return d.large.powerExponent; },
       Fit::Large},
      {"large.promotion", "cyc", "promotion of 128 FP8 partial sums",
       [](DeviceModel &d) -> double & { return d.large.promotion; },
       Fit::Large},
      {"large.chain_sync", "cyc",
       "end of one WGMMA chain and start of the next",
       [](DeviceModel &d) -> double & { return d.large.chainSync; },
       Fit::Large},
      {"large.extra_block", "cyc",
       "per K block and n-block beyond two, overlapped",
       [](DeviceModel &d) -> double & { return d.large.extraBlock; },
       Fit::Large},
      {"large.fall_in_step", "cyc",
       "per K block, warpgroups that have come to promote at once",
       [](DeviceModel &d) -> double & { return d.large.fallInStep; },
       Fit::Large},
      {"large.promotion_contention", "cyc",
       "per 128 elements, promotion not overlapped",
       [](DeviceModel &d) -> double & { return d.large.promotionContention; },
       Fit::Large},
      {"large.scale_group", "cyc", "per K block and further B scale of a tile",
       [](DeviceModel &d) -> double & { return d.large.scaleGroup; },
       Fit::Large},
      {"large.scale_load", "cyc",
       "per K block and m64 block, A's scales from memory",
       [](DeviceModel &d) -> double & { return d.large.scaleLoad; },
       Fit::Large},
      {"large.latency_row", "cyc", "of it, per row of 128 bytes of a stage",
       [](DeviceModel &d) -> double & { return d.large.latencyRow; },
       Fit::Large},
      {"large.latency_row_apart", "cyc",
       "in addition per row that neighbours do not share",
       [](DeviceModel &d) -> double & { return d.large.latencyRowApart; },
       Fit::Large},
      {"large.miss_latency", "cyc", "of it, when rows come out of DRAM",
       [](DeviceModel &d) -> double & { return d.large.missLatency; },
       Fit::Large},
      {"large.miss_share", "",
       "share of rows out of DRAM at which half of that shows",
       [](DeviceModel &d) -> double & { return d.large.missShare; },
       Fit::Large},
      {"large.load_step", "cyc", "ring step while all SMs load",
       [](DeviceModel &d) -> double & { return d.large.loadStep; }, Fit::Large},
      {"large.l2_row", "cyc", "row of 128 bytes out of L2 while all SMs load",
       [](DeviceModel &d) -> double & { return d.large.l2Row; }, Fit::Large},
      {"large.l2_sharers", "SMs", "neighbours whose loads of a row are one",
       [](DeviceModel &d) -> double & { return d.large.l2Sharers; },
       Fit::Large},
      {"large.l2_far", "cyc",
       "in addition, rows out of the other half of a full L2",
       [](DeviceModel &d) -> double & { return d.large.l2Far; }, Fit::Large},
      {"large.drift", "",
       "share that CTAs read again, per ring slot and tile between them",
       [](DeviceModel &d) -> double & { return d.large.drift; }, Fit::Large},
      {"large.load_latency", "cyc", "TMA round trip that the ring covers",
       [](DeviceModel &d) -> double & { return d.large.loadLatency; },
       Fit::Large},
      {"large.held_promoted", "slots", "of the ring not given back, promotion",
       [](DeviceModel &d) -> double & { return d.large.heldPromoted; },
       Fit::Large},
      {"large.held_queued", "slots", "of the ring not given back, no promotion",
       [](DeviceModel &d) -> double & { return d.large.heldQueued; },
       Fit::Large},
      {"large.slot_use_promoted", "",
       "share of a K block's multiplication that keeps its slot, promotion",
       [](DeviceModel &d) -> double & { return d.large.slotUsePromoted; },
       Fit::Large},
      {"large.slot_use_queued", "",
       "share of a K block's multiplication that keeps its slot, no promotion",
       [](DeviceModel &d) -> double & { return d.large.slotUseQueued; },
       Fit::Large},
      {"large.hbm_read", "TB/s", "reads of operands",
       [](DeviceModel &d) -> double & { return d.large.hbmRead; }, Fit::Large},
      {"large.hbm_write", "TB/s", "writes of D",
       [](DeviceModel &d) -> double & { return d.large.hbmWrite; }, Fit::Large},
      {"large.tma_row", "cyc", "row of at most 128 bytes of a TMA request",
       [](DeviceModel &d) -> double & { return d.large.tmaRow; }, Fit::Large},
      {"large.epilogue_base", "cyc", "epilogue of a tile",
       [](DeviceModel &d) -> double & { return d.large.epilogueBase; },
       Fit::Large},
      {"large.epilogue_column", "cyc", "epilogue per column and m64 block",
       [](DeviceModel &d) -> double & { return d.large.epilogueColumn; },
       Fit::Large},
      {"large.epilogue_round", "cyc", "store staging round after the first",
       [](DeviceModel &d) -> double & { return d.large.epilogueRound; },
       Fit::Large},
      {"large.store_row", "cyc", "epilogue's wait per row of a store box",
       [](DeviceModel &d) -> double & { return d.large.storeRow; }, Fit::Large},
      {"large.store_fragment", "cyc",
       "eight elements of D stored from registers",
       [](DeviceModel &d) -> double & { return d.large.storeFragment; },
       Fit::Large},
      {"large.wave", "us", "wave of CTAs after the first, not persistent",
       [](DeviceModel &d) -> double & { return d.large.wave; }, Fit::Large},
      {"large.cluster", "cyc", "cluster, per K block",
       [](DeviceModel &d) -> double & { return d.large.cluster; }, Fit::Large},
      {"large.cluster_8", "cyc", "cluster with FP8, per K block, in addition",
       [](DeviceModel &d) -> double & { return d.large.cluster8; }, Fit::Large},
      {"large.partial_bandwidth", "GB/s",
       "partial sums of a CTA where K steps are dealt out",
       [](DeviceModel &d) -> double & { return d.large.partialBandwidth; },
       Fit::None},
      {"large.l2_panels", "bytes", "cache that operand panels compete for",
       [](DeviceModel &d) -> double & { return d.large.l2Panels; }, Fit::None},
      {"large.soft_kblock", "", "exponent: parts of a K block",
       [](DeviceModel &d) -> double & { return d.large.softKBlock; },
       Fit::None},
      {"large.soft_chain", "", "exponent: K block against a consumer",
       [](DeviceModel &d) -> double & { return d.large.softChain; }, Fit::None},
      {"large.soft_tma", "", "exponent: a tile against its TMA requests",
       [](DeviceModel &d) -> double & { return d.large.softTma; }, Fit::None},
      {"large.soft_body", "", "exponent: compute against memory",
       [](DeviceModel &d) -> double & { return d.large.softBody; }, Fit::None},
      {"decode.launch", "us", "launch",
       [](DeviceModel &d) -> double & { return d.decode.launch; }, Fit::Decode},
      {"decode.skew", "us", "until all SMs stream",
       [](DeviceModel &d) -> double & { return d.decode.skew; }, Fit::Decode},
      {"decode.dirty", "us", "first write-backs of a dirty L2",
       [](DeviceModel &d) -> double & { return d.decode.dirty; }, Fit::Decode},
      {"decode.hbm", "TB/s", "reads of the weights",
       [](DeviceModel &d) -> double & { return d.decode.hbm; }, Fit::Decode},
      {"decode.write_back_hinted", "",
       "bytes written back per byte read, evict-first weights",
       [](DeviceModel &d) -> double & { return d.decode.writeBackHinted; },
       Fit::Decode},
      {"decode.write_back_unhinted", "", "the same without the hint",
       [](DeviceModel &d) -> double & { return d.decode.writeBackUnhinted; },
       Fit::Decode},
      {"decode.reread", "",
       "weights beyond the cache read again per further row of tiles",
       [](DeviceModel &d) -> double & { return d.decode.reread; }, Fit::Decode},
      {"decode.held_promoted", "slots", "of the ring not given back, promotion",
       [](DeviceModel &d) -> double & { return d.decode.heldPromoted; },
       Fit::Decode},
      {"decode.held_queued", "slots",
       "of the ring not given back, no promotion",
       [](DeviceModel &d) -> double & { return d.decode.heldQueued; },
       Fit::Decode},
      {"decode.latency_rows", "us", "load latency per further row of tiles",
       [](DeviceModel &d) -> double & { return d.decode.latencyRows; },
       Fit::Decode},
      {"decode.latency_clean", "us", "load latency, clean L2",
       [](DeviceModel &d) -> double & { return d.decode.latencyClean; },
       Fit::Decode},
      {"decode.latency_dirty", "us", "load latency, dirty L2",
       [](DeviceModel &d) -> double & { return d.decode.latencyDirty; },
       Fit::Decode},
      {"decode.step", "cyc", "wait, barrier and issue of a ring step",
       [](DeviceModel &d) -> double & { return d.decode.step; }, Fit::Decode},
      {"decode.promotion_swap", "cyc",
       "promotion instruction in a chain, swap-AB",
       [](DeviceModel &d) -> double & { return d.decode.promotionSwap; },
       Fit::Decode},
      {"decode.promotion_plain", "cyc",
       "promotion instruction in a chain, plain",
       [](DeviceModel &d) -> double & { return d.decode.promotionPlain; },
       Fit::Decode},
      {"decode.promotion_overlapped", "",
       "share of the chain's promotion that is left when overlapped",
       [](DeviceModel &d) -> double & { return d.decode.promotionOverlapped; },
       Fit::Decode},
      {"decode.promotion_sm_swap", "cyc",
       "promotion instruction of an SM, swap-AB",
       [](DeviceModel &d) -> double & { return d.decode.promotionSMSwap; },
       Fit::Decode},
      {"decode.promotion_sm_plain", "cyc",
       "promotion instruction of an SM, plain",
       [](DeviceModel &d) -> double & { return d.decode.promotionSMPlain; },
       Fit::Decode},
      {"decode.reduce_cluster", "us", "split-K reduction in a cluster",
       [](DeviceModel &d) -> double & { return d.decode.reduceCluster; },
       Fit::Decode},
      {"decode.epilogue_swap", "cyc",
       "swap-AB epilogue per element of a thread",
       [](DeviceModel &d) -> double & { return d.decode.epilogueSwap; },
       Fit::Decode},
      {"decode.store_swap", "TB/s", "stores of D, swap-AB",
       [](DeviceModel &d) -> double & { return d.decode.storeSwap; },
       Fit::Decode},
      {"decode.store_plain", "TB/s", "stores of D, plain",
       [](DeviceModel &d) -> double & { return d.decode.storePlain; },
       Fit::Decode},
      {"decode.store_tma", "TB/s", "stores of D by TMA",
       [](DeviceModel &d) -> double & { return d.decode.storeTma; },
       Fit::Decode},
      {"decode.latency_register", "us", "load latency, register form",
       [](DeviceModel &d) -> double & { return d.decode.latencyRegister; },
       Fit::Decode},
      {"decode.sm_bandwidth", "GB/s", "loads of one SM",
       [](DeviceModel &d) -> double & { return d.decode.smBandwidth; },
       Fit::Decode},
      {"decode.sm_bandwidth_register", "GB/s", "loads of one SM, register form",
       [](DeviceModel &d) -> double & { return d.decode.smBandwidthRegister; },
       Fit::Decode},
      {"decode.tma_issue", "cyc", "TMA issued by the producer",
       [](DeviceModel &d) -> double & { return d.decode.tmaIssue; },
       Fit::Decode},
      {"decode.reduce_cluster_register", "us",
       "split-K reduction in a cluster, register form",
       [](DeviceModel &d) -> double & {
         return d.decode.reduceClusterRegister;
       },
       Fit::Decode},
      {"decode.reduce_workspace", "us",
       "split-K reduction through the workspace",
       [](DeviceModel &d) -> double & { return d.decode.reduceWorkspace; },
       Fit::Decode},
      {"decode.cluster_bandwidth_swap", "GB/s",
       "partial sums of a CTA in a cluster, swap-AB",
       [](DeviceModel &d) -> double & { return d.decode.clusterBandwidthSwap; },
       Fit::Decode},
      {"decode.cluster_bandwidth_plain", "GB/s",
       "partial sums of a CTA in a cluster, plain",
       [](DeviceModel &d) -> double & {
         return d.decode.clusterBandwidthPlain;
       },
       Fit::Decode},
      {"decode.workspace_bandwidth", "GB/s",
       "partial sums of a CTA through the workspace",
       [](DeviceModel &d) -> double & { return d.decode.workspaceBandwidth; },
       Fit::Decode},
      {"decode.wave", "us", "wave of CTAs after the first",
       [](DeviceModel &d) -> double & { return d.decode.wave; }, Fit::Decode},
      {"decode.register_form", "us", "constant of the register form",
       [](DeviceModel &d) -> double & { return d.decode.registerForm; },
       Fit::Decode},
      {"decode.clock", "GHz", "clock of memory-bound kernels",
       [](DeviceModel &d) -> double & { return d.decode.clock; }, Fit::None},
      {"decode.soft_body", "", "exponent of the soft maximum",
       [](DeviceModel &d) -> double & { return d.decode.softBody; }, Fit::None},
  };
  return fields;
}

/// The shortest decimal text that reads back as the same number.
static std::string shortest(double value) {
  char buffer[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value)
      break;
  }
  return buffer;
}

std::string toText(const DeviceModel &device) {
  std::string out = "# Device model of dgemm. Coefficients are ";
  out += device.measured ? "fitted on measurements of this device.\n"
                         : "not measured on this device.\n";
  out += "name = " + device.name + "\n";
  out +=
      std::string("measured = ") + (device.measured ? "true" : "false") + "\n";
  auto line = [&](const std::string &name, const std::string &value,
                  const std::string &comment) {
    out += name + " = " + value + "  # " + comment;
    auto source = device.sources.find(name);
    if (source != device.sources.end())
      out += " [" + source->second + "]";
    out += "\n";
  };
  line("sm_count", std::to_string(device.smCount), "streaming multiprocessors");
  DeviceModel copy = device;
  for (const DeviceField &field : deviceFields())
    line(field.name, shortest(field.access(copy)),
         (*field.unit ? std::string(field.unit) + ": " : "") + field.meaning);
  return out;
}

static std::string trimmed(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The number in a text; false when it is something else.
static bool readNumber(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(number);
}

/// Sets one numeric field, or scales it; false when no field has this name.
/// `problem` gets what was expected when the value is no good.
static bool setNumber(DeviceModel &device, const std::string &name,
                      const std::string &value, bool scales,
                      std::string &problem) {
  double number = 0;
  bool isNumber = readNumber(value, number);
  if (name == "sm_count") {
    double count = scales ? device.smCount * number : number;
    if (!isNumber || count < 1 || count > 10000 || count != std::floor(count))
      problem = "a whole number from 1 to 10000";
    else
      device.smCount = static_cast<int>(count);
    return true;
  }
  for (const DeviceField &field : deviceFields()) {
    if (name != field.name)
      continue;
    if (!isNumber || number < 0)
      problem = "a number of at least 0";
    else
      field.access(device) = scales ? field.access(device) * number : number;
    return true;
  }
  return false;
}

/// Sets one field of any kind, like setNumber.
static bool setField(DeviceModel &device, const std::string &name,
                     const std::string &value, bool scales,
                     std::string &problem) {
  if (name == "name" && !scales) {
    device.name = value;
    if (value.empty())
      problem = "a name";
    return true;
  }
  if (name == "measured" && !scales) {
    device.measured = value == "true";
    if (value != "true" && value != "false")
      problem = "true or false";
    return true;
  }
  return setNumber(device, name, value, scales, problem);
}

/// What a comment says about the source of a number: the part in brackets, or
/// all of it when it has none.
static std::string sourceOf(const std::string &comment) {
  size_t open = comment.rfind('['), close = comment.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return comment;
  return comment.substr(open + 1, close - open - 1);
}

Result<DeviceModel> parseDeviceModel(const std::string &text) {
  DeviceModel device;
  std::set<std::string> seen;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string where = "device file, line " + std::to_string(number) + ": ";
    size_t hash = line.find('#');
    std::string content = trimmed(line.substr(0, hash));
    if (content.empty())
      continue;
    size_t equals = content.find('=');
    if (equals == std::string::npos)
      return Status::error(where + "expected name = value, found '" + content +
                           "'");
    bool scales = equals > 0 && content[equals - 1] == '*';
    std::string name = trimmed(content.substr(0, equals - scales));
    std::string value = trimmed(content.substr(equals + 1));
    if (name == "base" && !scales) {
      if (!seen.empty())
        return Status::error(where + "field 'base' must come first");
      Result<DeviceModel> base = findDevice(value);
      if (!base)
        return Status::error(where + "field 'base': " + base.message());
      device = *base;
      for (auto &[field, source] : device.sources)
        source = base->name + ": " + source;
    }
    if (!seen.insert(name).second)
      return Status::error(where + "field '" + name + "' is given twice");
    if (name == "base")
      continue;
    std::string expected;
    if (!setField(device, name, value, scales, expected))
      return Status::error(where + "unknown field '" + name + "'");
    if (!expected.empty())
      return Status::error(where + "field '" + name + "': expected " +
                           expected + ", found '" + value + "'");
    std::string source = hash == std::string::npos
                             ? ""
                             : sourceOf(trimmed(line.substr(hash + 1)));
    if (source.empty())
      device.sources.erase(name);
    else
      device.sources[name] = source;
  }
  return device;
}

} // namespace dgemm
