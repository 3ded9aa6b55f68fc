// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Option names, help texts and checks.

#include "RunOptions.h"

#include "dgemm/Emulator/Emulator.h"
#include "dgemm/Tools/TuningOption.h"

#include <algorithm>

namespace dgemm::run {

void declareOptions(Arguments &arguments, RunOptions &o) {
  arguments.add("gemm", o.gemm,
                "the GEMM, as \"m=4096,n=7168,k=2048,a=f8E4M3FN,...\"");
  arguments.add("batch", o.batch,
                "file with one --gemm text a line; \"; schedule text\", "
                "\"; dynamic=mnk\", \"; expect=part of the error\" may follow");
  arguments.add("schedule", o.schedule,
                "your schedule, as inside #dgemm.schedule<...>");
  arguments.add("db", o.db, kTuningOptionHelp);
  arguments.add("device", o.device, "auto (default), cuda or emulator");
  arguments.add("m", o.m, "rows of D, where the input leaves them open");
  arguments.add("n", o.n, "columns of D, likewise");
  arguments.add("k", o.k, "depth, likewise");
  arguments.add("dynamic", o.dynamicDims,
                "compile these sizes (letters of mnk) as run-time values");
  arguments.add("seed", o.seed, "seed of the random data (1)");
  arguments.add("data", o.data, "normal (default) or positive");
  arguments.add("repeat", o.repeat,
                "launches, which must all give the same bits (1)");
  arguments.add("verify", o.verify,
                "compare with a float64 reference (the default)");
  arguments.add("time", o.time, "time the kernel on a GPU (the default)");
  arguments.add("json", o.json, "print one JSON object");
  arguments.add("report", o.report,
                "print resources and why the schedule was chosen");
  arguments.add("sm-limit", o.smLimit, "use at most this many SMs (0: all)");
  arguments.add("raster-group", o.rasterGroup,
                "tiles walked along M before N (0: the schedule's)");
  arguments.add("pdl", o.pdl, "programmatic dependent launch");
  arguments.add("timeout", o.timeout,
                "seconds until a kernel counts as hanging (20)");
  arguments.add("chip", o.chip, "sm_90a, the only one");
  arguments.add("ptx", o.ptx, "PTX version times ten (80)");
  arguments.add("ptxas", o.ptxas, "the assembler");
  arguments.add("driver-jit", o.driverJit,
                "let the driver assemble the PTX even where ptxas is there");
  arguments.add("cache-dir", o.cacheDir, "disk cache; \"none\" for none");
  arguments.add("allow-slow", o.allowSlow,
                "accept kernels that spill or serialise their WGMMAs");
  arguments.add("order", o.order,
                "emulator: lazy (default), eager or random effects");
  arguments.add("emulator-seed", o.emulatorSeed, "emulator: seed (1)");
  arguments.add("emulator-sms", o.emulatorSms, "emulator: SMs (4)");
  arguments.add("narrow-fp8", o.narrowFp8,
                "emulator: model the tensor core's narrow FP8 accumulator");
  arguments.add(
      "against-emulator", o.againstEmulator,
      "run on the emulator too and compare the GPU's result with its");
  arguments.add("batch-from", o.batchFrom, "first line of the batch to run");
  arguments.add("batch-pipe", o.batchPipe,
                "file descriptor that gets a byte for each case");
}

static Status oneOf(const char *option, const std::string &value,
                    std::initializer_list<const char *> allowed) {
  std::string list;
  for (const char *word : allowed) {
    if (value == word)
      return Status::success();
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return Status::error(std::string("option --") + option +
                       ": expected one of " + list + ", found '" + value + "'");
}

Status checkOptions(const Arguments &arguments, RunOptions &o) {
  if (arguments.positional().size() > 1)
    return Status::error("expected one input file, found '" +
                         arguments.positional()[1] + "' as well");
  if (!arguments.positional().empty())
    o.input = arguments.positional()[0];
  int inputs = !o.input.empty() + !o.gemm.empty() + !o.batch.empty();
  if (inputs != 1)
    return Status::error(
        "expected exactly one of an input file, --gemm and --batch, found " +
        std::string(inputs ? "several" : "none"));
  if (Status s = oneOf("device", o.device, {"auto", "cuda", "emulator"}); !s)
    return s;
  if (Status s = oneOf("data", o.data, {"normal", "positive"}); !s)
    return s;
  if (Result<AsyncOrder> order = parseAsyncOrder(o.order); !order)
    return Status::error("option --order: " + order.message());
  struct {
    const char *name;
    int64_t value, low, high;
  } ranges[] = {{"repeat", o.repeat, 1, 1'000'000},
                {"sm-limit", o.smLimit, 0, 100'000},
                {"raster-group", o.rasterGroup, 0, 1'000'000},
                {"emulator-sms", o.emulatorSms, 1, 1'000},
                {"batch-from", o.batchFrom, 0, INT32_MAX}};
  for (auto [name, value, low, high] : ranges)
    if (value < low || value > high)
      return Status::error(std::string("option --") + name + ": expected " +
                           std::to_string(low) + " to " + std::to_string(high) +
                           ", found " + std::to_string(value));
  if (!(o.timeout > 0))
    return Status::error("option --timeout: expected more than 0 seconds");
  return Status::success();
}

} // namespace dgemm::run
