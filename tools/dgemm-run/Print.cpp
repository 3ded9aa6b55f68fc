// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Formatting of results.

#include "Print.h"

#include "dgemm/CostModel/CostModel.h"
#include "dgemm/Tools/CudaGemm.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace dgemm::run {

template <typename... Ts>
static std::string format(const char *pattern, Ts... values) {
  char text[512];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

static const KernelMetadata *kernelOf(const Outcome &outcome) {
  if (!outcome.artifact || outcome.kernel < 0)
    return nullptr;
  return &outcome.artifact->metadata.kernels[size_t(outcome.kernel)];
}

static const jit::KernelResources *resourcesOf(const Outcome &outcome) {
  const KernelMetadata *kernel = kernelOf(outcome);
  if (!kernel)
    return nullptr;
  for (const jit::KernelResources &resources : outcome.artifact->resources)
    if (resources.entry == kernel->entry)
      return &resources;
  return nullptr;
}

static const char *verdict(ExitCode code) {
  switch (code) {
  case kRight:
    return "right";
  case kWrong:
    return "wrong";
  case kBadInput:
    return "bad input";
  case kNotExecuted:
    return "not executed";
  }
  return "";
}

static double teraflops(const Outcome &outcome) {
  return outcome.timeUs > 0 ? flops(outcome.sizes) / outcome.timeUs / 1e6 : 0;
}

/// Resources, prediction and the reasons for the schedule.
static std::string describeReport(const Outcome &outcome,
                                  const Target &target) {
  std::string text;
  if (const KernelMetadata *kernel = kernelOf(outcome)) {
    text +=
        format("kernel:    %s, %d threads, %lld bytes of dynamic shared "
               "memory, %d stages, cluster %dx%dx%d\n",
               kernel->entry.c_str(), kernel->threads,
               (long long)kernel->dynamicSharedMemory, kernel->schedule.stages,
               kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
    int64_t tiles = ceilDiv(outcome.sizes.m, kernel->tileM) *
                    ceilDiv(outcome.sizes.n, kernel->tileN);
    text += format("tiles:     %lld of %lldx%lld\n", (long long)tiles,
                   (long long)kernel->tileM, (long long)kernel->tileN);
    std::string model =
        target.device ? deviceModel(target.device->info()) : "H200";
    if (Result<DeviceModel> device = findDevice(model)) {
      CostBreakdown cost = predict(outcome.problem, kernel->schedule, *device);
      text += format("waves:     %lld on %s\n", (long long)cost.waves,
                     model.c_str());
      text += "predicted: " + toString(cost) + "\n";
    }
  }
  if (const jit::KernelResources *r = resourcesOf(outcome)) {
    text += format("ptxas:     %d registers, %d + %d bytes of spill stores and "
                   "loads, %d bytes of stack\n",
                   r->registers, r->spillStores, r->spillLoads, r->stackFrame);
    for (const std::string &warning : r->warnings)
      text += "warning:   " + warning + "\n";
  }
  if (outcome.artifact)
    text += outcome.artifact->scheduleReport;
  if (!text.empty() && text.back() != '\n')
    text += "\n";
  return text;
}

std::string describe(const Outcome &outcome, const Target &target,
                     bool withReport) {
  std::string text = "device:    " + target.name;
  if (target.emulator && !target.reason.empty())
    text += " (" + target.reason + ")";
  text += "\nproblem:   " + toString(outcome.problem) + "\n";
  if (const KernelMetadata *kernel = kernelOf(outcome))
    text += "schedule:  " + toString(kernel->schedule) + " (" +
            kernel->scheduleSource + ")\n";
  if (withReport)
    text += describeReport(outcome, target);
  if (outcome.verified) {
    const VerifyResult &v = *outcome.verified;
    text += format("error:     max %.4g, relative %.3e, over %lld of %lld "
                   "elements of d against float64\n",
                   v.maxAbsError, v.relativeError, (long long)v.checked,
                   (long long)v.total);
    text += format("poison:    %lld NaN left, %lld bytes outside d changed\n",
                   (long long)v.nanCount, (long long)v.guardViolations);
  }
  if (outcome.difference)
    text +=
        format("emulator:  differs by %.3e (relative)\n", *outcome.difference);
  if (outcome.timeMethod == "wall")
    text += format("time:      %.1f ms on the host (emulated, not a GPU's "
                   "time)\n",
                   outcome.timeUs / 1e3);
  else if (!outcome.timeMethod.empty())
    text +=
        format("time:      %.2f us (%s), %.1f TFLOP/s, L2 dirty\n",
               outcome.timeUs, outcome.timeMethod.c_str(), teraflops(outcome));
  text += std::string("result:    ") + verdict(outcome.code);
  if (!outcome.error.empty())
    text += ": " + outcome.error;
  return text + "\n";
}

std::string describeLine(const Case &which, const Outcome &outcome) {
  std::string text = outcome.code == kRight         ? "PASS "
                     : outcome.code == kNotExecuted ? "SKIP "
                                                    : "FAIL ";
  text += which.label;
  if (outcome.code == kRight && outcome.verified)
    text += format(" | rel %.2e max %.3g", outcome.verified->relativeError,
                   outcome.verified->maxAbsError);
  if (outcome.difference)
    text += format(" | emulator differs by %.2e", *outcome.difference);
  if (outcome.code == kRight && !outcome.verified &&
      !which.expectedError.empty())
    text += " | refused as expected";
  if (const KernelMetadata *kernel = kernelOf(outcome);
      kernel && outcome.code != kRight)
    text += " | " + toString(kernel->schedule);
  if (!outcome.error.empty())
    text += " | " + outcome.error;
  return text;
}

std::string toJson(const Outcome &outcome, const Target &target) {
  nlohmann::ordered_json json;
  json["result"] = verdict(outcome.code);
  if (!outcome.error.empty())
    json["error"] = outcome.error;
  json["device"] = target.name;
  if (!target.reason.empty())
    json["no_gpu"] = target.reason;
  json["problem"] = toString(outcome.problem);
  const LaunchSizes &s = outcome.sizes;
  json["sizes"] = {{"m", s.m},     {"n", s.n},     {"k", s.k},
                   {"lda", s.lda}, {"ldb", s.ldb}, {"ldc", s.ldc},
                   {"ldd", s.ldd}};
  if (const KernelMetadata *kernel = kernelOf(outcome)) {
    json["kernel"] = kernel->entry;
    json["schedule"] = toString(kernel->schedule);
    json["schedule_source"] = kernel->scheduleSource;
    json["shared_memory_bytes"] = kernel->dynamicSharedMemory;
    json["threads"] = kernel->threads;
  }
  if (const jit::KernelResources *r = resourcesOf(outcome))
    json["resources"] = {{"registers", r->registers},
                         {"spill_store_bytes", r->spillStores},
                         {"spill_load_bytes", r->spillLoads},
                         {"stack_bytes", r->stackFrame},
                         {"warnings", r->warnings}};
  if (outcome.difference)
    json["difference_to_emulator"] = *outcome.difference;
  if (outcome.verified) {
    const VerifyResult &v = *outcome.verified;
    json["verify"] = {{"ok", v.ok},
                      {"max_abs_error", v.maxAbsError},
                      {"relative_error", v.relativeError},
                      {"checked", v.checked},
                      {"total", v.total},
                      {"mismatches", v.mismatches},
                      {"nan", v.nanCount},
                      {"guard_violations", v.guardViolations}};
  }
  if (!outcome.timeMethod.empty()) {
    json["time_us"] = outcome.timeUs;
    json["time_method"] = outcome.timeMethod;
    if (outcome.timeMethod != "wall")
      json["tflops"] = teraflops(outcome);
  }
  if (!outcome.emulatorReport.empty())
    json["emulator_report"] = outcome.emulatorReport;
  // Error texts may hold bytes of a broken input file.
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace dgemm::run
