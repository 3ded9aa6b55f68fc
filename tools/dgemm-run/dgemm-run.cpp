// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-run: compiles a GEMM, runs it on random data and says whether the
// numbers are right.

#include "Batch.h"
#include "Print.h"

#include "dgemm/Tools/TuningOption.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace dgemm;
using namespace dgemm::run;

static int fail(const std::string &message) {
  std::fprintf(stderr, "dgemm-run: %s\n", message.c_str());
  return kBadInput;
}

/// The one case of the command line.
static Result<Case> commandLineCase(const RunOptions &options) {
  if (!options.gemm.empty()) {
    Result<Case> which = parseCase(options.gemm, options);
    if (!which)
      return Status::error("--gemm: " + which.message());
    return which;
  }
  Case which;
  which.label = options.input;
  which.schedule = options.schedule;
  std::stringstream text;
  if (options.input == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream file(options.input);
    if (!file)
      return Status::error("cannot read '" + options.input + "'");
    text << file.rdbuf();
  }
  which.module = text.str();
  if (which.module.empty())
    return Status::error("'" + options.input + "' is empty");
  return which;
}

int dgemmRunMain(int argc, char **argv) {
  RunOptions options;
  Arguments arguments(
      "(IN.mlir | --gemm=TEXT | --batch=FILE) [options]\n"
      "Runs one GEMM on random data and compares with a float64 reference.\n"
      "Ends with 0: right, 1: wrong, 2: bad input, 3: nothing executed.");
  declareOptions(arguments, options);
  if (Status s = arguments.parse(argc, argv); !s)
    return fail(s.message());
  if (arguments.wantsHelp()) {
    std::fputs(arguments.help("dgemm-run").c_str(), stdout);
    return kRight;
  }
  if (Status s = checkOptions(arguments, options); !s)
    return fail(s.message());
  // A worker's parent has said it already.
  if (options.schedule.empty() && options.batchPipe < 0)
    if (Status s = checkTuningOption(options.db); !s)
      return fail(s.message());
  if (!options.batch.empty())
    return options.batchPipe >= 0 ? runBatchWorker(options)
                                  : runBatch(argc, argv, options);

  Result<Case> which = commandLineCase(options);
  if (!which)
    return fail(which.message());
  Result<Target> target = findTarget(options);
  if (!target)
    return fail(target.message());
  Outcome outcome = runCase(*which, options, *target);
  std::string text = options.json ? run::toJson(outcome, *target)
                                  : describe(outcome, *target, options.report);
  bool toError = !options.json && outcome.code == kBadInput;
  if (toError)
    return fail(outcome.error);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  // Leaving in order would wait for a kernel that may never end.
  if (outcome.deviceLost)
    std::_Exit(outcome.code);
  return outcome.code;
}
