// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Option names, help texts and what they mean.

#include "TuneOptions.h"

namespace dgemm::tune {

void declareOptions(Arguments &arguments, TuneOptions &o) {
  arguments.add("problems", o.problems, "JSON file with a problem set");
  arguments.add("gemm", o.gemm, "one problem instead of a set");
  arguments.add("filter", o.filter,
                "only problems whose \"recipe m=..,n=..,...\" contains this");
  arguments.add("device", o.device, "H200 (default), H100, H800 or H20");
  arguments.add("top", o.top, "schedules taken from the cost model (16)");
}

Status checkOptions(const Arguments &arguments, const TuneOptions &o) {
  if (!arguments.positional().empty())
    return Status::error("unexpected argument '" + arguments.positional()[0] +
                         "'; problems are given by --problems or --gemm");
  if (o.problems.empty() == o.gemm.empty())
    return Status::error("expected exactly one of --problems and --gemm");
  if (o.top < 1)
    return Status::error("option --top: expected at least 1, found " +
                         std::to_string(o.top));
  return Status::success();
}

static Result<ProblemSet> readAll(const TuneOptions &options) {
  if (!options.problems.empty())
    return readProblemSet(options.problems);
  ProblemSet set;
  set.name = "gemm";
  Result<GemmText> gemm = parseGemm(options.gemm);
  if (!gemm)
    return Status::error("--gemm: " + gemm.message());
  set.entries.push_back(
      {gemm->problem.fp8() ? "fp8" : toString(gemm->problem.a), options.gemm,
       *gemm});
  return set;
}

Result<ProblemSet> readProblems(const TuneOptions &options) {
  Result<ProblemSet> set = readAll(options);
  if (!set)
    return set;
  std::erase_if(set->entries, [&](const ProblemSetEntry &entry) {
    return (entry.recipe + " " + entry.text).find(options.filter) ==
           std::string::npos;
  });
  if (set->entries.empty())
    return Status::error("no problem contains '" + options.filter + "'");
  return set;
}

} // namespace dgemm::tune
