// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Formatting of measurements.

#include "Record.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace dgemm::bench {

template <typename... Ts>
static std::string format(const char *pattern, Ts... values) {
  char text[1024];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

double tensorPeak(const Problem &problem, const cuda::DeviceInfo &device,
                  double clockMHz) {
  double perClock = sizeOf(problem.a) == 1 ? 8192 : 4096;
  return device.smCount * perClock * clockMHz * 1e6 / 1e12;
}

static double tflops(const ProblemRow &row, double us) {
  return us > 0 ? flops(row.sizes) / us / 1e6 : 0;
}

static double gbps(const ProblemRow &row, double us) {
  return us > 0 ? minimalBytes(row.entry.gemm.problem, row.sizes) / us / 1e3
                : 0;
}

/// Share of the tensor peak at the clock measured, or at the highest clock.
static double tensorShare(const ProblemRow &row, const CandidateRow &candidate,
                          const cuda::DeviceInfo &device) {
  double clock = candidate.time.smClockMHz > 0 ? candidate.time.smClockMHz
                                               : device.maxClockMHz;
  double peak = tensorPeak(row.entry.gemm.problem, device, clock);
  return peak > 0 ? tflops(row, candidate.time.medianUs) / peak : 0;
}

std::string tableHeader(const RecordHeader &header) {
  std::string text =
      format("%s on %s, %d SMs, driver %d.%d; %s", header.set.c_str(),
             header.device.name.c_str(), header.device.smCount,
             header.driverVersion / 1000, header.driverVersion % 1000 / 10,
             header.sustained ? "sustained"
                              : format("L2 %s, pause %.3g ms",
                                       header.l2.c_str(), header.pauseMs)
                                    .c_str());
  text += format("; medians of %d; times by %s", header.repeats,
                 header.method.c_str());
  if (header.method == "events")
    text +=
        format(" (empty kernel of %.2f us taken off)", header.emptyKernelUs);
  if (!header.methodNote.empty())
    text += "\n(no CUPTI: " + header.methodNote + ")";
  return text + "\n" +
         format("%-11s %6s %6s %6s %9s %9s %7s %5s %7s %5s %5s | %9s %6s | "
                "%9s %6s  %s\n",
                "recipe", "m", "n", "k", "us", "min", "TF/s", "%tc", "GB/s",
                "%hbm", "MHz", "cublaslt", "ratio", "deepgemm", "ratio",
                "schedule");
}

static const PeerRow *deepGemm(const ProblemRow &row) {
  for (const PeerRow &peer : row.peers)
    if (peer.peer == "deep_gemm")
      return &peer;
  return nullptr;
}

std::string tableRow(const ProblemRow &row, const RecordHeader &header) {
  std::string text = format("%-11s %6lld %6lld %6lld ",
                            row.entry.recipe.c_str(), (long long)row.sizes.m,
                            (long long)row.sizes.n, (long long)row.sizes.k);
  if (!row.error.empty())
    return text + "FAILED: " + row.error + "\n";
  const CandidateRow *best = row.best();
  if (!best)
    return text + "FAILED: nothing was measured\n";
  double us = best->time.medianUs;
  double hbm = header.device.memoryGBps;
  text +=
      format("%9.2f %9.2f %7.1f %5.1f %7.1f %5.1f %5.0f |", us,
             best->time.minUs, tflops(row, us),
             100 * tensorShare(row, *best, header.device), gbps(row, us),
             hbm > 0 ? 100 * gbps(row, us) / hbm : 0, best->time.smClockMHz);
  if (const CandidateRow *base = row.sameBaseline())
    text +=
        format(" %9.2f %6.3f |", base->time.medianUs, base->time.medianUs / us);
  else
    text += format(" %9s %6s |", "-", "-");
  if (const PeerRow *peer = deepGemm(row))
    text += format(" %9.2f %6.3f", peer->us, peer->us / us);
  else
    text += format(" %9s %6s", "-", "-");
  text += "  " + best->schedule + "\n";
  for (const CandidateRow &other : row.candidates) {
    bool shown = &other == best || (&other == row.sameBaseline() &&
                                    (!other.verified || other.verified->ok));
    if (shown)
      continue;
    text += "    " + other.name + ": ";
    if (!other.error.empty()) {
      text += other.error + "\n";
      continue;
    }
    text += format("%.2f us (min %.2f), ratio %.3f, %.0f MHz%s%s",
                   other.time.medianUs, other.time.minUs,
                   other.time.medianUs / us, other.time.smClockMHz,
                   other.schedule.empty() ? "" : ", ", other.schedule.c_str());
    if (other.verified && !other.verified->ok)
      text += ", its numbers differ: " + other.verified->failure;
    text += "\n";
  }
  return text;
}

namespace {
struct Mean {
  double logs = 0, lowest = INFINITY;
  int count = 0;
  void add(double ratio) {
    logs += std::log(ratio);
    lowest = std::min(lowest, ratio);
    ++count;
  }
  double value() const { return count ? std::exp(logs / count) : 0; }
};
} // namespace

/// The peer that is cuBLAS computing the same, measured elsewhere.
static const PeerRow *cublasPeer(const ProblemRow &row) {
  const char *name =
      row.entry.gemm.problem.fp8() ? "cublaslt_block" : "torch_matmul";
  for (const PeerRow &peer : row.peers)
    if (peer.peer == name)
      return &peer;
  return nullptr;
}

/// Ratios of every baseline and peer to dgemm, by "recipe: name". A peer that
/// was measured elsewhere is also set against cuBLAS measured in both places,
/// which takes the difference of devices and clocks out.
static std::map<std::string, Mean>
geometricMeans(const std::vector<ProblemRow> &rows) {
  std::map<std::string, Mean> means;
  for (const ProblemRow &row : rows) {
    const CandidateRow *best = row.best();
    if (!best)
      continue;
    for (const CandidateRow &other : row.candidates)
      if (!other.own && other.error.empty() && other.time.medianUs > 0)
        means[row.entry.recipe + ": " + other.name].add(other.time.medianUs /
                                                        best->time.medianUs);
    const CandidateRow *here = row.sameBaseline();
    const PeerRow *there = cublasPeer(row);
    for (const PeerRow &peer : row.peers) {
      if (!(peer.us > 0))
        continue;
      std::string name = row.entry.recipe + ": peer " + peer.peer;
      means[name].add(peer.us / best->time.medianUs);
      if (here && there && there->us > 0 && here->time.medianUs > 0)
        means[name + " by cublas"].add(peer.us / best->time.medianUs *
                                       here->time.medianUs / there->us);
    }
  }
  return means;
}

std::string tableFooter(const std::vector<ProblemRow> &rows) {
  std::string text;
  for (const auto &[name, mean] : geometricMeans(rows))
    text += format("%s / dgemm: geomean %.3f over %d, lowest %.3f\n",
                   name.c_str(), mean.value(), mean.count, mean.lowest);
  return text;
}

std::string toJson(const std::vector<ProblemRow> &rows,
                   const RecordHeader &header) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["version"] = 1;
  json["set"] = header.set;
  json["command"] = header.command;
  json["commit"] = header.commit;
  json["device"] = header.device.name;
  json["sms"] = header.device.smCount;
  json["driver"] = header.driverVersion;
  json["l2"] = header.sustained ? "sustained" : header.l2;
  json["pause_ms"] = header.pauseMs;
  json["repeats"] = header.repeats;
  json["method"] = header.method;
  json["empty_kernel_us"] = header.emptyKernelUs;
  json["rows"] = Json::array();
  for (const ProblemRow &row : rows) {
    Json out;
    out["recipe"] = row.entry.recipe;
    out["gemm"] = row.entry.text;
    out["m"] = row.sizes.m;
    out["n"] = row.sizes.n;
    out["k"] = row.sizes.k;
    if (!row.error.empty())
      out["error"] = row.error;
    out["candidates"] = Json::array();
    for (const CandidateRow &candidate : row.candidates) {
      Json one;
      one["name"] = candidate.name;
      if (candidate.own) {
        one["schedule"] = candidate.schedule;
        one["source"] = candidate.source;
      } else {
        one["same_recipe"] = candidate.sameRecipe;
      }
      if (!candidate.error.empty()) {
        one["error"] = candidate.error;
        out["candidates"].push_back(one);
        continue;
      }
      const cuda::Measurement &time = candidate.time;
      one["us"] = time.medianUs;
      one["us_min"] = time.minUs;
      one["us_max"] = time.maxUs;
      one["samples_us"] = time.samplesUs;
      one["sm_clock_mhz"] = time.smClockMHz;
      one["power_w"] = time.powerWatts;
      one["kernels_per_launch"] = time.kernelsPerLaunch;
      one["tflops"] = tflops(row, time.medianUs);
      one["gbps"] = gbps(row, time.medianUs);
      one["tensor_share"] = tensorShare(row, candidate, header.device);
      if (candidate.verified)
        one["verify"] = {{"ok", candidate.verified->ok},
                         {"relative_error", candidate.verified->relativeError},
                         {"checked", candidate.verified->checked},
                         {"total", candidate.verified->total}};
      out["candidates"].push_back(one);
    }
    out["peers"] = Json::array();
    for (const PeerRow &peer : row.peers)
      out["peers"].push_back({{"name", peer.peer}, {"us", peer.us}});
    json["rows"].push_back(out);
  }
  json["geomeans"] = Json::object();
  for (const auto &[name, mean] : geometricMeans(rows))
    json["geomeans"][name] = {{"ratio", mean.value()},
                              {"count", mean.count},
                              {"lowest", mean.lowest}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace dgemm::bench
