// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Option names, help texts and what they mean.

#include "TuneOptions.h"

#include "dgemm/Support/File.h"
#include "dgemm/Tuner/RecordedProblems.h"

#include <charconv>
#include <set>

namespace dgemm::tune {

void declareOptions(Arguments &arguments, CommandLine &o) {
  tuner::TuneOptions &t = o.tuning;
  arguments.add("problems", o.problems, "JSON file with a problem set");
  arguments.add("gemm", o.gemm, "one problem instead of a set");
  arguments.add("recorded", o.recorded,
                "file that a program wrote with DGEMM_RECORD, instead");
  arguments.add("m", o.m, "values for an m left open: 16,64,4096");
  arguments.add("filter", o.filter,
                "only problems whose \"recipe m=..,n=..,...\" contains this");
  arguments.add("missing", o.missing,
                "only problems of which neither --db nor the shipped table "
                "has a record");
  arguments.add("device", o.device,
                "auto (default: the GPU), cuda, or model:H200 (H100, H800, "
                "H20): times of the cost model with noise");
  arguments.add("l2", o.l2,
                "L2 before each launch: dirty or clean (the "
                "set's, else dirty)");
  arguments.add("db", t.database, "add winners to this database");
  arguments.add("journal", t.journal,
                "file of every outcome; one that is there is resumed");
  arguments.add("resume", o.resume,
                "go on with a journal; an error when it is not there");
  arguments.add("budget", t.budgetSeconds,
                "seconds of the whole run, shared out (none)");
  arguments.add("top", t.top, "schedules taken from the cost model (16)");
  arguments.add("exhaustive", t.exhaustive,
                "no search: the model's top, this many random schedules, the "
                "neighbourhood of the best");
  arguments.add("candidates", t.candidates,
                "schedules of one problem, at most (200 without a budget)");
  arguments.add("patience", t.patience,
                "end a search after this many that were no faster (64)");
  arguments.add("threads", t.threads, "compile on so many (all but one)");
  arguments.add("seed", t.seed, "seed of data and random schedules (1)");
  arguments.add("timeout", o.timeout,
                "seconds until a kernel counts as hanging (5)");
  arguments.add("ptxas", o.ptxas, "the assembler");
  arguments.add("list", o.list, "only print the schedules predicted fastest");
  arguments.add("online", o.online,
                "tune as a running program does, in its idle time, and show "
                "what its calls get; --budget ends the program");
  arguments.add("idle", o.idle,
                "with --online: seconds without a call before a measurement "
                "(0.05)");
  arguments.add("quiet", o.quiet, "no progress, no warnings");
  arguments.add("plant", o.plant,
                "for tests: slow@N,wrong@N,hang@N,fault@N,compile-error@N,"
                "slow-warning@N, a fault in the N-th candidate");
}

Status checkOptions(const Arguments &arguments, CommandLine &o) {
  const tuner::TuneOptions &t = o.tuning;
  if (!arguments.positional().empty())
    return Status::error("unexpected argument '" + arguments.positional()[0] +
                         "'; problems are given by --problems or --gemm");
  if (!o.problems.empty() + !o.gemm.empty() + !o.recorded.empty() != 1)
    return Status::error(
        "expected exactly one of --problems, --gemm and --recorded");
  struct {
    const char *name;
    int64_t value, least;
  } counts[] = {{"top", t.top, 1},
                {"exhaustive", t.exhaustive, 0},
                {"candidates", t.candidates, 0},
                {"patience", t.patience, 1},
                {"threads", t.threads, 0}};
  for (auto [name, value, least] : counts)
    if (value < least)
      return Status::error(std::string("option --") + name +
                           ": expected at least " + std::to_string(least) +
                           ", found " + std::to_string(value));
  if (!(t.budgetSeconds >= 0) || !(o.timeout > 0))
    return Status::error(
        "options --budget and --timeout: expected positive times");
  if (!(o.idle >= 0))
    return Status::error("option --idle: expected a time of at least 0");
  if (o.missing && o.online)
    return Status::error("option --missing: expected none with --online, which "
                         "leaves alone what has a record");
  if (o.resume && (t.journal.empty() || !fileExists(t.journal)))
    return Status::error("option --resume: expected --journal with a file that "
                         "is there, found '" +
                         t.journal + "'");
  Result<std::map<int, tuner::Plant>> plants = tuner::parsePlants(o.plant);
  if (!plants)
    return Status::error("option --plant: " + plants.message());
  o.tuning.plants = *plants;
  return Status::success();
}

static Result<std::vector<int64_t>> parseSizes(const std::string &text) {
  std::vector<int64_t> sizes;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    int64_t value = 0;
    auto [stop, error] =
        std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end || value < 1)
      return Status::error("option --m: expected sizes separated by commas, "
                           "found '" +
                           text + "'");
    sizes.push_back(value);
    begin = end + 1;
  }
  return sizes;
}

/// Adds a problem given as text, once for every value of an open m.
static Status addText(const std::string &text, const std::vector<int64_t> &ms,
                      ProblemSet &set) {
  Result<GemmText> gemm = parseGemm(text);
  if (!gemm)
    return gemm.status();
  std::string recipe = gemm->problem.fp8() ? "fp8" : toString(gemm->problem.a);
  if (gemm->problem.m != kDynamic) {
    set.entries.push_back({recipe, text, *gemm});
    return Status::success();
  }
  if (ms.empty())
    return Status::error("size m is left open by '" + text +
                         "'; give --m=, one size or several");
  for (int64_t m : ms) {
    GemmText fixed = *gemm;
    fixed.problem.m = m;
    set.entries.push_back({recipe, toString(fixed.problem), fixed});
  }
  return Status::success();
}

static Result<ProblemSet> readAll(const CommandLine &o) {
  if (!o.problems.empty())
    return readProblemSet(o.problems);
  Result<std::vector<int64_t>> ms = parseSizes(o.m);
  if (!ms)
    return ms.status();
  ProblemSet set;
  if (!o.gemm.empty()) {
    set.name = "gemm";
    if (Status s = addText(o.gemm, *ms, set); !s)
      return Status::error("--gemm: " + s.message());
    return set;
  }
  set.name = "recorded";
  Result<std::string> text = readFile(o.recorded);
  if (!text)
    return text.status();
  Result<std::vector<std::string>> gemms = tuner::parseRecorded(*text);
  if (!gemms)
    return Status::error("'" + o.recorded + "': " + gemms.message());
  for (const std::string &gemm : *gemms)
    if (Status s = addText(gemm, *ms, set); !s)
      return Status::error("'" + o.recorded + "': " + s.message());
  return set;
}

Result<ProblemSet> readProblems(const CommandLine &o) {
  Result<ProblemSet> set = readAll(o);
  if (!set)
    return set;
  std::erase_if(set->entries, [&](const ProblemSetEntry &entry) {
    return (entry.recipe + " " + entry.text).find(o.filter) ==
           std::string::npos;
  });
  if (set->entries.empty())
    return Status::error("no problem contains '" + o.filter + "'");
  return set;
}

} // namespace dgemm::tune
