// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-bench: measures dgemm's kernels and cuBLASLt on a GPU, interleaved in
// one process.

#include "Record.h"

#include "dgemm/Tools/CudaGemm.h"
#include "dgemm/Tools/TuningOption.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace dgemm;
using namespace dgemm::bench;

enum ExitCode : int {
  kMeasured = 0,
  kSomeFailed = 1,
  kBadInput = 2,
  kNotExecuted = 3
};

static int fail(int code, const std::string &message) {
  std::fprintf(stderr, "dgemm-bench: %s\n", message.c_str());
  return code;
}

static Result<ProblemSet> readInput(const BenchOptions &options) {
  if (!options.problems.empty())
    return readProblemSet(options.problems);
  ProblemSet set;
  set.name = "gemm";
  ProblemSetEntry entry;
  entry.text = options.gemm;
  Result<GemmText> gemm = parseGemm(options.gemm);
  if (!gemm)
    return Status::error("--gemm: " + gemm.message());
  entry.gemm = *gemm;
  entry.recipe = gemm->problem.fp8() ? "fp8" : toString(gemm->problem.a);
  set.entries.push_back(entry);
  return set;
}

/// FP8 libraries that scale by blocks are no peers of a recipe that does not.
static std::vector<PeerRow> withoutBlockScaled(std::vector<PeerRow> rows) {
  std::erase_if(rows, [](const PeerRow &row) {
    return row.peer == "deep_gemm" ||
           row.peer.find("block") != std::string::npos;
  });
  return rows;
}

/// The state's name in peer tables, which tell paused measurements apart.
static std::vector<PeerRow> findPeers(const PeerTable &peers,
                                      const Problem &problem,
                                      const RecordHeader &header) {
  if (header.sustained)
    return {};
  std::vector<PeerRow> found;
  if (header.pauseMs > 0)
    found = peers.find(problem, header.l2 + "-paused");
  if (found.empty())
    found = peers.find(problem, header.l2);
  bool blockScaled =
      problem.scaleA.blockedAlongK() || problem.scaleB.blockedAlongK();
  return problem.fp8() && !blockScaled ? withoutBlockScaled(std::move(found))
                                       : found;
}

int dgemmBenchMain(int argc, char **argv) {
  BenchOptions options;
  Arguments arguments(
      "(--problems=FILE.json | --gemm=TEXT) [options]\n"
      "Measures kernel times on a GPU, baselines interleaved.\n"
      "Ends with 0: measured, 1: some failed, 2: bad input, 3: no GPU.");
  declareOptions(arguments, options);
  if (Status s = arguments.parse(argc, argv); !s)
    return fail(kBadInput, s.message());
  if (arguments.wantsHelp()) {
    std::fputs(arguments.help("dgemm-bench").c_str(), stdout);
    return kMeasured;
  }
  if (Status s = checkOptions(arguments, options); !s)
    return fail(kBadInput, s.message());
  Result<ProblemSet> set = readInput(options);
  if (!set)
    return fail(kBadInput, set.message());
  Result<cuda::TimingOptions> timing = timingOptions(options, set->l2);
  if (!timing)
    return fail(kBadInput, timing.message());
  PeerTable peers;
  if (!options.peers.empty()) {
    Result<PeerTable> table = PeerTable::read(options.peers);
    if (!table)
      return fail(kBadInput, table.message());
    peers = *table;
  }
  std::vector<ProblemSetEntry> entries;
  for (const ProblemSetEntry &entry : set->entries)
    if ((entry.recipe + " " + entry.text).find(options.filter) !=
        std::string::npos)
      entries.push_back(entry);
  if (entries.empty())
    return fail(kBadInput, "no problem contains '" + options.filter + "'");
  if (Result<std::vector<cuda::Baseline>> known =
          baselines(options, entries.front().gemm.problem);
      !known)
    return fail(kBadInput, known.message());

  if (options.schedules.empty())
    if (Status s = checkTuningOption(options.db); !s)
      return fail(kBadInput, s.message());

  Result<const cuda::DriverApi *> api = cuda::DriverApi::get();
  if (!api)
    return fail(kNotExecuted, "nothing was measured: " + api.message());
  Result<std::shared_ptr<cuda::Device>> device = cuda::Device::open(**api);
  if (!device)
    return fail(kNotExecuted, "nothing was measured: " + device.message());

  jit::CompileOptions compile;
  compile.ptxasPath = options.ptxas;
  compile.cacheDir = options.cacheDir;
  compile.tuningDB = options.db;
  compile.allowSlow = options.allowSlow;
  compile.keepL3 = false;
  compile.device = deviceModel((*device)->info());
  compileAhead(entries, options, compile);
  auto timer = cuda::KernelTimer::create(*device, *timing);
  if (!timer)
    return fail(kSomeFailed, timer.message());

  RecordHeader header;
  header.set = set->name;
  header.l2 = toString(timing->l2);
  header.method = (*timer)->method();
  header.methodNote = (*timer)->methodNote();
  header.emptyKernelUs = (*timer)->emptyKernelUs();
  header.device = (*device)->info();
  header.driverVersion = (*api)->driverVersion;
  header.sustained = timing->sustained;
  header.pauseMs = timing->pauseMs;
  header.repeats = timing->repeats;
  header.commit = options.commit;
  for (int i = 0; i < argc; ++i)
    header.command += (i ? " " : "") + std::string(argv[i]);
  std::fputs(tableHeader(header).c_str(), stdout);

  std::vector<ProblemRow> rows;
  bool failed = false, lost = false;
  for (const ProblemSetEntry &entry : entries) {
    ProblemRow row = benchProblem(entry, options, compile, *device, **timer);
    row.peers = findPeers(peers, entry.gemm.problem, header);
    std::fputs(tableRow(row, header).c_str(), stdout);
    std::fflush(stdout);
    lost = row.deviceLost;
    failed |= !row.best();
    rows.push_back(std::move(row));
    if (lost) {
      std::fprintf(stderr, "dgemm-bench: the device cannot be used any more; "
                           "problems behind this one were not measured\n");
      break;
    }
  }
  std::fputs(tableFooter(rows).c_str(), stdout);
  std::fflush(stdout);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << toJson(rows, header);
    file.close();
    if (!file)
      failed = fail(kSomeFailed, "cannot write '" + options.json + "'") != 0;
  }
  // Leaving in order would wait for a kernel that may never end.
  if (lost)
    std::_Exit(kSomeFailed);
  return failed ? kSomeFailed : kMeasured;
}
