// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Option names, help texts and what they mean.

#include "BenchOptions.h"

#include "dgemm/Tools/TuningOption.h"

#include <algorithm>

namespace dgemm::bench {

void declareOptions(Arguments &arguments, BenchOptions &o) {
  arguments.add("problems", o.problems, "JSON file with a problem set");
  arguments.add("gemm", o.gemm, "one problem instead of a set");
  arguments.add("filter", o.filter,
                "only problems whose \"recipe m=..,n=..,...\" contains this");
  arguments.add("schedules", o.schedules,
                "schedules to measure against each other, separated by ';'");
  arguments.add("db", o.db, kTuningOptionHelp);
  arguments.add("dynamic", o.dynamicDims,
                "compile these sizes (letters of mnk) as run-time values");
  arguments.add("l2", o.l2,
                "L2 before each launch: dirty, clean or warm (the set's)");
  arguments.add("sustained", o.sustained,
                "back to back, at the clock the power limit leaves");
  arguments.add("sustained-ms", o.sustainedMs, "length of one turn (200)");
  arguments.add("baseline", o.baseline,
                "auto (default), all, none, or bf16,fp8-tensor,fp8-row,"
                "fp8-block");
  arguments.add("peers", o.peers, "CSV with times of other libraries");
  arguments.add("json", o.json, "write a record to this file");
  arguments.add("commit", o.commit, "commit of this build, for the record");
  arguments.add("repeats", o.repeats, "counted launches (21)");
  arguments.add("warmups", o.warmups, "launches that are not counted (2)");
  arguments.add("pause-ms", o.pauseMs, "idle time before a launch (3)");
  arguments.add("flush-mib", o.flushMiB, "bytes of the L2 flush (768)");
  arguments.add("events", o.events, "time with events even where CUPTI is");
  arguments.add("verify", o.verify, "check the numbers first (the default)");
  arguments.add("seed", o.seed, "seed of the random data (1)");
  arguments.add("sm-limit", o.smLimit, "use at most this many SMs (0: all)");
  arguments.add("pdl", o.pdl, "programmatic dependent launch");
  arguments.add("timeout", o.timeout,
                "seconds until a kernel counts as hanging (20)");
  arguments.add("ptxas", o.ptxas, "the assembler");
  arguments.add("cache-dir", o.cacheDir, "disk cache; \"none\" for none");
  arguments.add("allow-slow", o.allowSlow,
                "accept kernels that spill or serialise their WGMMAs");
}

Status checkOptions(const Arguments &arguments, const BenchOptions &o) {
  if (!arguments.positional().empty())
    return Status::error("unexpected argument '" + arguments.positional()[0] +
                         "'; problems are given by --problems or --gemm");
  if (o.problems.empty() == o.gemm.empty())
    return Status::error("expected exactly one of --problems and --gemm");
  if (o.repeats < 1 || o.warmups < 0)
    return Status::error("option --repeats: expected at least 1, and --warmups "
                         "at least 0");
  if (!(o.pauseMs >= 0) || !(o.sustainedMs > 0) || !(o.timeout > 0))
    return Status::error("options --pause-ms, --sustained-ms and --timeout: "
                         "expected positive times");
  if (o.flushMiB < 1 || o.flushMiB > 65536)
    return Status::error("option --flush-mib: expected 1 to 65536, found " +
                         std::to_string(o.flushMiB));
  return Status::success();
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(separator, begin), text.size());
    std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    size_t first = part.find_first_not_of(" \t\n");
    if (first != std::string::npos)
      parts.push_back(
          part.substr(first, part.find_last_not_of(" \t\n") - first + 1));
  }
  return parts;
}

std::vector<std::string> scheduleTexts(const BenchOptions &options) {
  std::vector<std::string> texts = split(options.schedules, ';');
  if (texts.empty())
    texts.emplace_back();
  return texts;
}

Result<std::vector<cuda::Baseline>> baselines(const BenchOptions &options,
                                              const Problem &problem) {
  using cuda::Baseline;
  std::vector<Baseline> wanted;
  if (options.baseline == "none")
    return wanted;
  if (options.baseline == "all") {
    if (!problem.fp8())
      return std::vector{Baseline::BF16};
    return std::vector{Baseline::FP8Block, Baseline::FP8PerRow,
                       Baseline::FP8PerTensor};
  }
  if (options.baseline == "auto") {
    // A problem cuBLASLt cannot compute is measured without it.
    if (Result<Baseline> same = cuda::baselineFor(problem))
      wanted.push_back(*same);
    return wanted;
  }
  for (const std::string &name : split(options.baseline, ',')) {
    Result<Baseline> one = cuda::parseBaseline(name);
    if (!one)
      return Status::error("option --baseline: " + one.message());
    if ((*one == Baseline::BF16) != problem.fp8())
      wanted.push_back(*one);
  }
  return wanted;
}

Result<cuda::TimingOptions> timingOptions(const BenchOptions &options,
                                          const std::string &setL2) {
  cuda::TimingOptions timing;
  std::string l2 = !options.l2.empty() ? options.l2
                   : !setL2.empty()    ? setL2
                                       : "dirty";
  Result<cuda::L2State> state = cuda::parseL2State(l2);
  if (!state)
    return state.status();
  timing.l2 = *state;
  timing.warmups = int(options.warmups);
  timing.repeats = int(options.repeats);
  timing.pauseMs = options.pauseMs;
  timing.sustained = options.sustained;
  timing.sustainedMs = options.sustainedMs;
  timing.flushBytes = options.flushMiB << 20;
  timing.eventsOnly = options.events;
  return timing;
}

} // namespace dgemm::bench
