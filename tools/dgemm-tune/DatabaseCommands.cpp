// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging, importing, exporting and explaining.

#include "DatabaseCommands.h"

#include "Commands.h"

#include "dgemm/Support/Env.h"
#include "dgemm/Support/File.h"
#include "dgemm/Tools/Arguments.h"
#include "dgemm/Tools/TuningOption.h"
#include "dgemm/TuningDB/TunedChoice.h"

#include <algorithm>
#include <cstdio>

namespace dgemm::tune {

static int bad(const std::string &message) {
  return fail(kBadInput, message.c_str());
}

/// Reads the command line; true when there is nothing more to do, with the code
/// to end with.
static bool finished(Arguments &arguments, int argc, char **argv, int &code) {
  code = kDone;
  // First, for a command's own option need not have a value then.
  if (std::any_of(argv + 1, argv + argc, [](const std::string &word) {
        return word == "--help" || word == "-h";
      })) {
    std::fputs(arguments.help("dgemm-tune").c_str(), stdout);
    return true;
  }
  Status parsed = arguments.parse(argc, argv);
  if (!parsed)
    code = bad(parsed.message());
  return !parsed;
}

static void warn(const std::vector<SkippedRecord> &skipped) {
  for (const SkippedRecord &one : skipped)
    std::fprintf(stderr, "warning: %s\n", toString(one).c_str());
}

/// Merges files into one and says what became of them.
static int mergeInto(const std::string &target,
                     const std::vector<std::string> &paths) {
  std::vector<RecordFile> files;
  size_t failures = 0;
  for (const std::string &path : paths) {
    Result<RecordFile> file = readRecordFile(path);
    if (!file)
      return bad(file.message());
    // A journal is full of them, and they are no reason to worry.
    failures += std::erase_if(file->records, [](const LocatedRecord &located) {
      return located.record.status != RecordStatus::Ok;
    });
    TuningDatabase probe;
    probe.add(*file);
    warn(probe.skipped());
    files.push_back(std::move(*file));
  }
  std::vector<SkippedRecord> dropped;
  if (Status s = mergeIntoFile(target, files, dropped); !s)
    return bad(s.message());
  warn(dropped);
  Result<RecordFile> result = readRecordFile(target);
  if (!result)
    return bad(result.message());
  if (failures > 0)
    std::printf("%zu records of failed measurements left out\n", failures);
  std::printf("'%s' holds %zu records\n", target.c_str(),
              result->records.size());
  return kDone;
}

int mergeDatabases(int argc, char **argv) {
  std::string target;
  Arguments arguments(
      "--merge=OUT FILE...\n"
      "Makes OUT hold the best of its own records and those of the files; "
      "records that are no use to this build are dropped.");
  arguments.add("merge", target, "the database that is written");
  int code;
  if (finished(arguments, argc, argv, code))
    return code;
  if (target.empty() || arguments.positional().empty())
    return bad("expected --merge=OUT and at least one file");
  return mergeInto(target, arguments.positional());
}

int importRecords(int argc, char **argv) {
  std::string source, target;
  Arguments arguments("--import=FILE [--db=DB]\n"
                      "Takes the records of a journal or a table that are of "
                      "use into a database.");
  arguments.add("import", source, "where they come from");
  arguments.add("db", target, "the database; default: $DGEMM_DB");
  int code;
  if (finished(arguments, argc, argv, code))
    return code;
  if (!arguments.positional().empty())
    return bad("unexpected argument '" + arguments.positional()[0] + "'");
  if (target.empty())
    target = getEnv("DGEMM_DB");
  if (source.empty() || target.empty() || target == "shipped" ||
      target == "none")
    return bad("expected --import=FILE and the file of a database, as --db or "
               "$DGEMM_DB");
  return mergeInto(target, {source});
}

int exportDatabase(int argc, char **argv) {
  std::string target, which, device;
  Arguments arguments("--export=OUT [--db=DB] [--device=NAME]\n"
                      "Writes the best record of every problem, the shipped "
                      "table's included, by problem and M.");
  arguments.add("export", target, "the file, - for standard output");
  arguments.add("db", which, kTuningOptionHelp);
  arguments.add("device", device, "only records of this device");
  int code;
  if (finished(arguments, argc, argv, code))
    return code;
  if (target.empty() || !arguments.positional().empty())
    return bad("expected --export=OUT and no other argument");
  if (!device.empty()) {
    Result<DeviceModel> known = findDevice(device);
    if (!known)
      return bad("option --device: " + known.message());
    device = known->name;
  }
  auto database = openTuningDatabase(tuningDatabaseName(which));
  if (!database)
    return bad(database.message());
  std::string text;
  std::vector<LocatedRecord> records = (*database)->best();
  // Afterwards, when all records have been read.
  if (Status s = checkTuningOption(which); !s)
    return bad(s.message());
  for (const LocatedRecord &located : records)
    if (device.empty() || located.record.device == device)
      text += toLine(located.record) + "\n";
  if (target == "-")
    std::fputs(text.c_str(), stdout);
  else if (Status s = writeFileAtomically(target, text); !s)
    return bad(s.message());
  return kDone;
}

int explainChoice(int argc, char **argv) {
  std::string gemm, which, device = "H200";
  Arguments arguments("--explain=GEMM [--db=DB] [--device=NAME]\n"
                      "Says which schedule a problem gets, from which record, "
                      "or why from none, and what the model would choose.");
  arguments.add("explain", gemm, "the problem, as --gemm; m may be ?");
  arguments.add("db", which, kTuningOptionHelp);
  arguments.add("device", device, "H200 (default), H100, H800 or H20");
  int code;
  if (finished(arguments, argc, argv, code))
    return code;
  if (!arguments.positional().empty())
    return bad("unexpected argument '" + arguments.positional()[0] + "'");
  Result<GemmText> problem = parseGemm(gemm);
  if (!problem)
    return bad("--explain: " + problem.message());
  Result<DeviceModel> model = findDevice(device);
  if (!model)
    return bad("option --device: " + model.message());
  if (Status s = checkTuningOption(which); !s)
    return bad(s.message());
  auto database = openTuningDatabase(tuningDatabaseName(which));
  if (!database)
    return bad(database.message());
  Result<std::string> text =
      explainTuning(**database, problem->problem, *model);
  if (!text)
    return bad(text.message());
  std::fputs(text->c_str(), stdout);
  return kDone;
}

} // namespace dgemm::tune
