// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-tune --calibrate, --evaluate and --report.

#include "ModelCommands.h"

#include "Commands.h"

#include "dgemm/Support/File.h"
#include "dgemm/Tools/Arguments.h"
#include "dgemm/Tools/ProblemSet.h"
#include "dgemm/Tuner/Calibrate.h"
#include "dgemm/Tuner/Evaluate.h"
#include "dgemm/Tuner/Report.h"
#include "dgemm/TuningDB/RecordFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <regex>

using namespace dgemm;
using namespace dgemm::tune;

namespace dgemm::tune {
static int fail(int code, const std::string &message) {
  return fail(code, message.c_str());
}
} // namespace dgemm::tune

namespace {
/// A command line whose options of some names may stand more than once, and
/// where "-o FILE" is "--output=FILE".
class RepeatedOptions {
public:
  RepeatedOptions(int argc, char **argv, std::vector<const char *> names) {
    for (int i = 0; i < argc; ++i) {
      if (i > 0 && i + 1 < argc && std::strcmp(argv[i], "-o") == 0) {
        output = std::string("--output=") + argv[++i];
        rest.push_back(output.data());
        continue;
      }
      auto name = std::find_if(names.begin(), names.end(), [&](auto name) {
        return i > 0 && isOption(argv[i], name);
      });
      if (name == names.end())
        rest.push_back(argv[i]);
      else
        values.emplace_back(*name, argv[i] + std::strlen(*name) + 3);
    }
  }

  std::vector<std::string> of(const std::string &name) const {
    std::vector<std::string> out;
    for (const auto &[option, value] : values)
      if (option == name)
        out.push_back(value);
    return out;
  }
  /// What is left for Arguments.
  int argc() const { return static_cast<int>(rest.size()); }
  char **argv() { return rest.data(); }

private:
  static bool isOption(const char *argument, const char *name) {
    size_t length = std::strlen(name);
    return std::strncmp(argument, "--", 2) == 0 &&
           std::strncmp(argument + 2, name, length) == 0 &&
           argument[2 + length] == '=';
  }

  std::vector<std::pair<std::string, std::string>> values;
  std::vector<char *> rest;
  std::string output;
};
} // namespace

/// The records of all files, in order; lines that are none are warned about.
static Result<std::vector<TuningRecord>>
readRecords(const std::vector<std::string> &paths) {
  std::vector<TuningRecord> out;
  for (const std::string &path : paths) {
    Result<RecordFile> file = readRecordFile(path);
    if (!file)
      return file.status();
    for (const SkippedRecord &skipped : file->skipped)
      std::fprintf(stderr, "dgemm-tune: warning: %s\n",
                   toString(skipped).c_str());
    for (LocatedRecord &located : file->records)
      out.push_back(std::move(located.record));
  }
  return out;
}

/// A known device by name, else a device file.
static Result<DeviceModel> readModel(const std::string &name) {
  Result<DeviceModel> known = findDevice(name);
  if (known)
    return known;
  Result<std::string> text = readFile(name);
  if (!text)
    return Status::error("--model: neither a known device (" + known.message() +
                         ") nor a file (" + text.message() + ")");
  Result<DeviceModel> parsed = parseDeviceModel(*text);
  if (!parsed)
    return Status::error("--model: " + name + ": " + parsed.message());
  return parsed;
}

/// Which problems --holdout names: those of a problem set, or those whose text
/// a regular expression finds something in.
static Result<std::function<bool(const Problem &)>>
holdout(const std::string &text) {
  using Predicate = std::function<bool(const Problem &)>;
  if (text.empty())
    return Predicate();
  if (text.ends_with(".json")) {
    Result<ProblemSet> set = readProblemSet(text);
    if (!set)
      return Status::error("--holdout: " + set.message());
    return Predicate([entries = set->entries](const Problem &problem) {
      return std::any_of(entries.begin(), entries.end(),
                         [&](const ProblemSetEntry &entry) {
                           return entry.gemm.problem == problem;
                         });
    });
  }
  try {
    std::regex pattern(text);
    return Predicate([pattern](const Problem &problem) {
      return std::regex_search(toString(problem), pattern);
    });
  } catch (const std::regex_error &) {
    return Status::error("--holdout: expected a problem set (*.json) or a "
                         "regular expression, found '" +
                         text + "'");
  }
}

/// Options that the commands share; journals come by the command's own option.
namespace {
struct ModelOptions {
  std::string model = "H200", holdout, output;
};
} // namespace

/// Parses, and handles --help; a code ends the command.
static std::optional<int> parseCommand(Arguments &arguments,
                                       RepeatedOptions &line) {
  if (Status s = arguments.parse(line.argc(), line.argv()); !s)
    return fail(kBadInput, s.message());
  if (arguments.wantsHelp()) {
    std::fputs(arguments.help("dgemm-tune").c_str(), stdout);
    return kDone;
  }
  if (!arguments.positional().empty())
    return fail(kBadInput,
                "unexpected argument '" + arguments.positional()[0] + "'");
  return std::nullopt;
}

namespace {
/// What the options and the files of journals come to.
struct ModelInputs {
  DeviceModel device;
  std::function<bool(const Problem &)> heldOut; ///< empty without --holdout
  std::vector<TuningRecord> records;
};
} // namespace

static Result<ModelInputs> readInputs(const ModelOptions &options,
                                      const std::vector<std::string> &files) {
  Result<DeviceModel> device = readModel(options.model);
  if (!device)
    return device.status();
  Result<std::function<bool(const Problem &)>> heldOut =
      holdout(options.holdout);
  if (!heldOut)
    return heldOut.status();
  Result<std::vector<TuningRecord>> records = readRecords(files);
  if (!records)
    return records.status();
  return ModelInputs{*device, *heldOut, std::move(*records)};
}

/// Text into a file, or to standard output for "-".
static Status writeOutput(const std::string &path, const std::string &text) {
  if (path != "-")
    return writeFileAtomically(path, text);
  std::fputs(text.c_str(), stdout);
  return Status::success();
}

int dgemm::tune::calibrateMain(int argc, char **argv) {
  RepeatedOptions line(argc, argv, {"calibrate"});
  ModelOptions options;
  Arguments arguments(
      "--calibrate=JOURNAL.jsonl [--calibrate=...] [options]\n"
      "Fits the cost model's coefficients to measured schedules, prints them\n"
      "beside the present ones, and writes a device file.\n"
      "Ends with 0: done, 1: nothing could be fitted, 2: bad input.");
  arguments.add("model", options.model,
                "where to start: a known device or a device file (H200)");
  arguments.add("holdout", options.holdout,
                "leave these problems out: a problem set (*.json) or a regular "
                "expression over the problems' text");
  arguments.add("output", options.output,
                "device file to write (or -o FILE); without it none is");
  if (std::optional<int> code = parseCommand(arguments, line))
    return *code;
  if (line.of("calibrate").empty())
    return fail(kBadInput, "expected --calibrate=JOURNAL.jsonl");
  Result<ModelInputs> in = readInputs(options, line.of("calibrate"));
  if (!in)
    return fail(kBadInput, in.message());
  std::function<bool(const Problem &)> wanted;
  if (in->heldOut)
    wanted = [&](const Problem &problem) { return !in->heldOut(problem); };
  Result<tuner::CalibrationReport> report = tuner::calibrateFromRecords(
      in->device, in->records, currentDate().substr(0, 10), wanted);
  if (!report)
    return fail(kSomeFailed, report.message());
  std::fputs(toText(*report).c_str(), stdout);
  if (!report->fittedAny())
    return fail(kSomeFailed, "nothing could be fitted; no file is written");
  if (!options.output.empty())
    if (Status s = writeOutput(options.output, toText(report->device)); !s)
      return fail(kBadInput, s.message());
  return kDone;
}

static std::string evaluationJson(const tuner::Evaluation &evaluation,
                                  const DeviceModel &device) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["version"] = 1;
  out["kind"] = "model-evaluation";
  out["device"] = device.name;
  out["date"] = currentDate();
  for (const tuner::Criterion &criterion : evaluation.criteria)
    out["criteria"].push_back(
        {{"name", criterion.name},
         {"value", criterion.value},
         {criterion.atMost ? "at_most" : "at_least", criterion.limit},
         {"met", criterion.met()}});
  for (const tuner::EvaluationGroup &group : evaluation.groups)
    out["groups"].push_back({{"name", group.name},
                             {"problems", group.problems},
                             {"schedules", group.schedules},
                             {"top1", group.top1},
                             {"top1_worst", group.worst1},
                             {"worst_problem", group.worstProblem},
                             {"top8", group.top8},
                             {"top8_worst", group.worst8},
                             {"median_error", group.medianError}});
  for (const tuner::JudgedProblem &problem : evaluation.problems) {
    const tuner::JudgedSchedule &best = problem.schedules[problem.best];
    out["problems"].push_back(
        {{"gemm", toString(problem.problem)},
         {"l2", toString(problem.l2)},
         {"held_out", problem.heldOut},
         {"schedules", problem.schedules.size()},
         {"best_us", best.measuredUs},
         {"best", toString(best.schedule)},
         {"pick_us", problem.schedules[0].measuredUs},
         {"pick", toString(problem.schedules[0].schedule)},
         {"pick_measured", problem.pickMeasured},
         {"top1", problem.top1},
         {"top8", problem.top8},
         {"median_error", problem.medianError}});
  }
  out["skipped"] = evaluation.skipped;
  return out.dump(1) + "\n";
}

int dgemm::tune::evaluateMain(int argc, char **argv) {
  RepeatedOptions line(argc, argv, {"evaluate"});
  ModelOptions options;
  Arguments arguments(
      "--evaluate=JOURNAL.jsonl [--evaluate=...] [options]\n"
      "Judges the cost model by measured schedules: how fast its choice and\n"
      "its best eight are beside the best measured, how far its times are "
      "off.\n"
      "Ends with 0: done, 1: no problem with two schedules, 2: bad input.");
  arguments.add("model", options.model,
                "the model: a known device or a device file (H200)");
  arguments.add("holdout", options.holdout,
                "report these problems apart: a problem set (*.json) or a "
                "regular expression over the problems' text");
  arguments.add("json", options.output,
                "also write JSON to a file (- is "
                "standard output, instead of text)");
  if (std::optional<int> code = parseCommand(arguments, line))
    return *code;
  if (line.of("evaluate").empty())
    return fail(kBadInput, "expected --evaluate=JOURNAL.jsonl");
  Result<ModelInputs> in = readInputs(options, line.of("evaluate"));
  if (!in)
    return fail(kBadInput, in.message());
  tuner::Evaluation evaluation =
      tuner::evaluate(in->records, in->device, in->heldOut);
  if (options.output != "-")
    std::fputs(toText(evaluation).c_str(), stdout);
  if (!options.output.empty())
    if (Status s =
            writeOutput(options.output, evaluationJson(evaluation, in->device));
        !s)
      return fail(kBadInput, s.message());
  if (evaluation.problems.empty())
    return fail(kSomeFailed, "no problem has two right, measured schedules");
  return kDone;
}

int dgemm::tune::reportMain(int argc, char **argv) {
  RepeatedOptions line(argc, argv, {"report", "journal", "db"});
  ModelOptions options;
  Arguments arguments(
      "--report=OUT.html --journal=JOURNAL.jsonl [--journal=...] "
      "[--db=FILE ...]\n"
      "Draws measured schedules: predicted against measured time, roofline,\n"
      "what tuning changed, what failed. One file without external parts.\n"
      "Ends with 0: done, 2: bad input.");
  arguments.add("model", options.model,
                "the model: a known device or a device file (H200)");
  arguments.add("holdout", options.holdout,
                "mark these problems: a problem set (*.json) or a regular "
                "expression over the problems' text");
  if (std::optional<int> code = parseCommand(arguments, line))
    return *code;
  std::vector<std::string> outputs = line.of("report");
  if (outputs.size() != 1)
    return fail(kBadInput, "expected one --report=OUT.html");
  std::vector<std::string> paths = line.of("journal");
  for (const std::string &path : line.of("db"))
    paths.push_back(path);
  if (paths.empty())
    return fail(kBadInput, "expected --journal=JOURNAL.jsonl or --db=FILE");
  Result<ModelInputs> in = readInputs(options, paths);
  if (!in)
    return fail(kBadInput, in.message());
  std::string page =
      tuner::htmlReport(in->records, in->device, currentDate(), in->heldOut);
  if (Status s = writeOutput(outputs[0], page); !s)
    return fail(kBadInput, s.message());
  return kDone;
}
