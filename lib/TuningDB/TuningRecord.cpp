// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Records as JSON. Every field is checked before it is taken, so the JSON
// library never has a reason to throw.

#include "dgemm/TuningDB/TuningRecord.h"

#include "dgemm/CostModel/DeviceModel.h"
#include "dgemm/Support/Version.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace dgemm {

// Ordered, so that lines read the way they are documented.
using Json = nlohmann::ordered_json;

/// Version of the format; another one may mean other things by the same names.
static constexpr int kFormat = 1;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const char *toString(RecordStatus status) {
  switch (status) {
  case RecordStatus::Ok:
    return "ok";
  case RecordStatus::Wrong:
    return "wrong";
  case RecordStatus::Hang:
    return "hang";
  case RecordStatus::Fault:
    return "fault";
  case RecordStatus::CompileError:
    return "compile-error";
  case RecordStatus::SlowWarning:
    return "slow-warning";
  }
  return "ok";
}

Result<RecordStatus> parseRecordStatus(const std::string &text) {
  for (RecordStatus status :
       {RecordStatus::Ok, RecordStatus::Wrong, RecordStatus::Hang,
        RecordStatus::Fault, RecordStatus::CompileError,
        RecordStatus::SlowWarning})
    if (text == toString(status))
      return status;
  return Status::error("expected ok, wrong, hang, fault, compile-error or "
                       "slow-warning, found '" +
                       text + "'");
}

const char *toString(L2State state) {
  return state == L2State::Clean ? "clean" : "dirty";
}

Result<L2State> parseL2State(const std::string &text) {
  for (L2State state : {L2State::Clean, L2State::Dirty})
    if (text == toString(state))
      return state;
  return Status::error("expected clean or dirty, found '" + text + "'");
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

TuningVersions currentVersions(const std::string &ptxas) {
  return {version(), llvmVersion(), ptxas, kKernelGeneration};
}

std::string whyOutdated(const TuningVersions &versions) {
  TuningVersions now = currentVersions();
  auto differs = [](const char *what, const std::string &found,
                    const std::string &expected) {
    return std::string("measured with ") + what + " " + found +
           ", this build has " + expected;
  };
  if (versions.generation != now.generation)
    return differs("kernels of generation", std::to_string(versions.generation),
                   std::to_string(now.generation));
  if (versions.llvm != now.llvm)
    return differs("LLVM", versions.llvm, now.llvm);
  return "";
}

std::string currentDate() {
  std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string toLine(const TuningRecord &record) {
  Json json;
  json["format"] = kFormat;
  json["problem"] = toString(record.problem);
  json["schedule"] = toString(record.schedule);
  json["device"] = record.device;
  json["l2"] = toString(record.l2);
  json["status"] = toString(record.status);
  json["median_us"] = record.medianUs;
  json["min_us"] = record.minUs;
  json["spread"] = record.spread;
  json["samples"] = record.samples;
  json["predicted_us"] = record.predictedUs;
  json["model_pick_us"] = record.modelPickUs;
  json["date"] = record.date;
  json["dgemm"] = record.versions.dgemm;
  json["llvm"] = record.versions.llvm;
  json["ptxas"] = record.versions.ptxas;
  json["generation"] = record.versions.generation;
  if (!record.note.empty())
    json["note"] = record.note;
  // Text that is not UTF-8, as an assembler may print it, is made so.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Takes fields out of an object; the first error is kept.
class Fields {
public:
  explicit Fields(const Json &json) : json(json) {}

  std::string text(const char *key, bool required = true) {
    const Json *field = find(key, required);
    if (!field)
      return "";
    if (!field->is_string()) {
      bad(key, "expected a string, found " + field->dump());
      return "";
    }
    return field->get<std::string>();
  }

  /// Finite and not negative.
  double number(const char *key) {
    const Json *field = find(key, true);
    if (!field)
      return 0;
    double value = field->is_number() ? field->get<double>() : -1;
    if (!std::isfinite(value) || value < 0) {
      bad(key,
          "expected a finite number of at least 0, found " + field->dump());
      return 0;
    }
    return value;
  }

  int64_t integer(const char *key) {
    const Json *field = find(key, true);
    if (!field)
      return 0;
    int64_t value =
        field->is_number_integer() ? field->get<int64_t>() : int64_t(-1);
    if (value < 0 || value > INT32_MAX) {
      bad(key, "expected an integer of at least 0, found " + field->dump());
      return 0;
    }
    return value;
  }

  void bad(const std::string &key, const std::string &why) {
    if (!failure)
      failure = "field '" + key + "': " + why;
  }

  /// The first error; else that a field was never asked for.
  Status finish() {
    for (const auto &[key, value] : json.items())
      if (!known.count(key))
        bad(key, "unknown to this version of dgemm");
    return failure ? Status::error(*failure) : Status::success();
  }

private:
  const Json *find(const char *key, bool required) {
    known.insert(key);
    auto field = json.find(key);
    if (field != json.end())
      return &*field;
    if (required)
      bad(key, "missing");
    return nullptr;
  }

  const Json &json;
  std::set<std::string> known;
  std::optional<std::string> failure;
};
} // namespace

static Result<Problem> readProblem(const std::string &text) {
  Result<GemmText> gemm = parseGemm(text);
  if (!gemm)
    return gemm.status();
  const Problem &problem = gemm->problem;
  if (problem.m == kDynamic || problem.n == kDynamic || problem.k == kDynamic)
    return Status::error("expected known sizes, found '" + text + "'");
  if (gemm->lda || gemm->ldb || gemm->ldc || gemm->ldd || gemm->packed)
    return Status::error("expected no row lengths, found '" + text + "'");
  return problem;
}

static Status verify(const TuningRecord &record) {
  TargetLimits limits;
  if (Result<DeviceModel> device = findDevice(record.device))
    limits = device->limits;
  std::vector<ScheduleViolation> violations =
      verifySchedule(record.problem, record.schedule, limits);
  if (!violations.empty())
    return Status::error(violations.front().message);
  return Status::success();
}

Result<TuningRecord> parseRecord(const std::string &line) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return Status::error("expected a JSON object");
  Fields fields(json);
  // First of all, for nothing else is known about another format.
  if (int64_t format = fields.integer("format"); format != kFormat) {
    fields.bad("format", "expected " + std::to_string(kFormat) + ", found " +
                             std::to_string(format));
    return fields.finish();
  }
  TuningRecord record;
  std::string problem = fields.text("problem");
  std::string schedule = fields.text("schedule");
  record.device = fields.text("device");
  std::string l2 = fields.text("l2");
  std::string status = fields.text("status");
  record.medianUs = fields.number("median_us");
  record.minUs = fields.number("min_us");
  record.spread = fields.number("spread");
  record.samples = fields.integer("samples");
  record.predictedUs = fields.number("predicted_us");
  record.modelPickUs = fields.number("model_pick_us");
  record.date = fields.text("date");
  record.versions.dgemm = fields.text("dgemm");
  record.versions.llvm = fields.text("llvm");
  record.versions.ptxas = fields.text("ptxas");
  record.versions.generation = static_cast<int>(fields.integer("generation"));
  record.note = fields.text("note", /*required=*/false);
  if (Status complete = fields.finish(); !complete)
    return complete;

  auto take = [&fields](const char *key, auto parsed, auto &into) {
    if (parsed)
      into = *parsed;
    else
      fields.bad(key, parsed.message());
  };
  take("problem", readProblem(problem), record.problem);
  take("schedule", parseSchedule(schedule), record.schedule);
  take("l2", parseL2State(l2), record.l2);
  take("status", parseRecordStatus(status), record.status);
  if (record.device.empty())
    fields.bad("device", "expected a name, found ''");
  if (record.status == RecordStatus::Ok && record.medianUs <= 0)
    fields.bad("median_us", "expected a time above 0 for status ok, found " +
                                json["median_us"].dump());
  if (Status sound = fields.finish(); !sound)
    return sound;
  if (Status legal = verify(record); !legal)
    return Status::error("field 'schedule': cannot be used: " +
                         legal.message());
  return record;
}

} // namespace dgemm
