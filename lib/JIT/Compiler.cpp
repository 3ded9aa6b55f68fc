// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Compilation as a whole: options are checked, caches are asked, the module is
// lowered, PTX is assembled, and what ptxas says is judged.

#include "dgemm/JIT/Compiler.h"

#include "Lowering.h"
#include "ProblemLog.h"

#include "dgemm/JIT/ArtifactCache.h"
#include "dgemm/JIT/ArtifactFormat.h"
#include "dgemm/JIT/Ptxas.h"
#include "dgemm/Support/Env.h"
#include "dgemm/Support/File.h"
#include "dgemm/Support/Version.h"

#include "llvm/Config/llvm-config.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <dlfcn.h>
#include <sys/stat.h>

namespace dgemm::jit {

namespace {
/// The assembler of one compilation, or why there is none.
struct Assembler {
  std::optional<Ptxas> ptxas;
  std::string whyNot;
};
} // namespace

static Result<Assembler> chooseAssembler(const CompileOptions &options) {
  Assembler assembler;
  if (!options.emitCubin && !options.requireCubin) {
    assembler.whyNot = "no cubin was asked for";
    return assembler;
  }
  Result<Ptxas> found = findPtxas(options.ptxasPath);
  if (!found) {
    if (options.requireCubin || !options.ptxasPath.empty())
      return found.status();
    assembler.whyNot = found.message();
    return assembler;
  }
  if (found->newestPTX != 0 && options.ptxVersion > found->newestPTX)
    return Status::error("PTX version " + std::to_string(options.ptxVersion) +
                         " is newer than '" + found->path + "' (release " +
                         found->version + ") takes: expected at most " +
                         std::to_string(found->newestPTX));
  assembler.ptxas = std::move(*found);
  return assembler;
}

/// Tells apart builds of dgemm that share a version number: the file this code
/// was loaded from, its size and time.
static std::string buildIdentity() {
  Dl_info info;
  struct stat file;
  if (!::dladdr(reinterpret_cast<void *>(&buildIdentity), &info) ||
      !info.dli_fname)
    return "unknown";
  // A program started by name alone is known under that name, not by a path.
  if (::stat(info.dli_fname, &file) != 0 &&
      ::stat("/proc/self/exe", &file) != 0)
    return "unknown";
  return std::to_string(file.st_size) + "-" +
         std::to_string(file.st_mtim.tv_sec) + "." +
         std::to_string(file.st_mtim.tv_nsec);
}

/// Everything besides the IR that an artifact depends on.
static std::string describeEnvironment(const CompileOptions &options,
                                       const Assembler &assembler) {
  static const std::string identity = buildIdentity();
  std::string text;
  auto add = [&text](const char *name, const std::string &value) {
    text += std::string(name) + "=" + value + "\n";
  };
  add("dgemm", version());
  add("build", identity);
  add("llvm", LLVM_VERSION_STRING);
  // The reason is kept in the log of the artifact, so it counts as well.
  add("ptxas", assembler.ptxas
                   ? assembler.ptxas->version + " " + assembler.ptxas->path
                   : assembler.whyNot);
  add("chip", options.chip);
  add("ptx", std::to_string(options.ptxVersion));
  add("device", options.device);
  add("schedule", options.schedule);
  add("debug", std::to_string(options.debugDirectives));
  add("slow", std::to_string(options.allowSlow));
  add("l3", std::to_string(options.keepL3));
  return text;
}

/// Assembles and judges. Spills and serialised WGMMAs mean that the schedule
/// does not do what it was chosen for, so they are errors.
static Status addCubin(Artifact &artifact, const Assembler &assembler,
                       const CompileOptions &options) {
  if (!assembler.ptxas) {
    artifact.ptxasLog = "no cubin: " + assembler.whyNot + "\n";
    return Status::success();
  }
  Result<Assembly> assembly =
      assemble(*assembler.ptxas, artifact.ptx, options.chip);
  if (!assembly)
    return assembly.status();
  artifact.cubin = std::move(assembly->cubin);
  artifact.ptxasLog = std::move(assembly->log);
  artifact.resources = std::move(assembly->resources);
  std::string findings;
  for (const KernelResources &kernel : artifact.resources)
    for (const std::string &finding : findSlowness(kernel))
      findings += "\n  kernel '" + kernel.entry + "': " + finding;
  if (!findings.empty() && !options.allowSlow)
    return Status::error(
        "the assembled kernel is slower than its schedule promises:" +
        findings);
  return Status::success();
}

static Status dump(const std::string &folder, const std::string &key,
                   const Artifact &artifact) {
  std::error_code error;
  std::string target = folder + "/" + key.substr(0, 16);
  std::filesystem::create_directories(target, error);
  if (error)
    return Status::error("cannot create dump folder '" + target +
                         "': " + error.message());
  for (const auto &[name, content] : toParts(artifact))
    if (Status status = writeFile(target + "/" + name, content); !status)
      return status;
  return Status::success();
}

static Result<Artifact> compileUncached(Lowering &lowering,
                                        const CompileOptions &options,
                                        const Assembler &assembler,
                                        bool keepEverything) {
  Artifact artifact;
  if (Status status = lowering.lowerTo(Stage::Schedule); !status)
    return status;
  artifact.scheduleReport = lowering.remarks();
  artifact.scheduledIR = lowering.print(/*withLocations=*/false);
  if (Status status = lowering.lowerTo(Stage::Kernel); !status)
    return status;
  artifact.kernelIR = lowering.print(/*withLocations=*/false);
  if (Status status = lowering.lowerTo(Stage::Machine); !status)
    return status;
  Result<LaunchMetadata> metadata = lowering.metadata();
  if (!metadata)
    return metadata.status();
  artifact.metadata = std::move(*metadata);
  if (options.keepL3 || keepEverything)
    artifact.l3IR = lowering.print(/*withLocations=*/true);
  if (Status status = lowering.lowerTo(Stage::NVVM); !status)
    return status;
  if (keepEverything)
    artifact.nvvmIR = lowering.print(/*withLocations=*/false);
  Result<EmittedCode> code = lowering.emit(keepEverything);
  if (!code)
    return code.status();
  artifact.ptx = std::move(code->ptx);
  artifact.llvmIR = std::move(code->llvmIR);
  if (Status status = addCubin(artifact, assembler, options); !status)
    return status;
  return artifact;
}

using SharedArtifact = std::shared_ptr<const Artifact>;
using MakeLowering =
    std::function<Result<std::unique_ptr<Lowering>>(SharedDatabase)>;

namespace {
/// One key of the memory cache: the thread that made it compiles, others wait.
struct Entry {
  bool done = false;
  std::optional<Result<SharedArtifact>> result;
};
} // namespace

struct Compiler::State {
  mutable std::mutex mutex;
  std::condition_variable finished;
  std::map<std::string, std::shared_ptr<Entry>> entries;
  /// Request (problem or text as given, options) to the key of its canonical
  /// IR, so that a known request is answered without parsing it again.
  std::map<std::string, std::string> keys;
  CompilerStatistics statistics;

  Result<SharedArtifact> get(const std::string &request,
                             const CompileOptions &options,
                             const MakeLowering &makeLowering);
  Result<SharedArtifact> produce(const std::string &key, Lowering *lowering,
                                 const MakeLowering &makeLowering,
                                 const SharedDatabase &database,
                                 const CompileOptions &options,
                                 const Assembler &assembler);
};

Result<SharedArtifact> Compiler::State::get(const std::string &request,
                                            const CompileOptions &options,
                                            const MakeLowering &makeLowering) {
  if (Status status = verifyTarget(options.chip, options.ptxVersion); !status)
    return status;
  Result<Assembler> assembler = chooseAssembler(options);
  if (!assembler)
    return assembler.status();
  std::string environment = describeEnvironment(options, *assembler);
  Result<SharedDatabase> database = openDatabase(options);
  if (!database)
    return database.status();
  // The same request may have another answer once the database has changed.
  std::string requestKey = contentHash(
      environment + "tuning=" + std::to_string((*database)->identity()) + "\n" +
      request);

  std::unique_lock<std::mutex> lock(mutex);
  std::string key;
  if (auto it = keys.find(requestKey); it != keys.end())
    key = it->second;
  std::unique_ptr<Lowering> lowering;
  if (key.empty()) {
    lock.unlock();
    auto made = makeLowering(*database);
    if (!made)
      return made.status();
    lowering = std::move(*made);
    if (Status status = lowering->checkOneGemm(); !status)
      return status;
    // Of the database, what it says of this GEMM; nothing else of it matters.
    key = contentHash(environment + lowering->describeTuning() +
                      lowering->print(options.debugDirectives));
    lock.lock();
    keys[requestKey] = key;
  }

  std::shared_ptr<Entry> &slot = entries[key];
  if (slot) {
    std::shared_ptr<Entry> entry = slot;
    ++statistics.memoryHits;
    finished.wait(lock, [&] { return entry->done; });
    return *entry->result;
  }
  auto entry = std::make_shared<Entry>();
  slot = entry;
  lock.unlock();
  Result<SharedArtifact> result = produce(key, lowering.get(), makeLowering,
                                          *database, options, *assembler);
  lock.lock();
  entry->result = result;
  entry->done = true;
  if (result)
    recordProblem((*result)->metadata.problem);
  // What failed may work later (a full disk, a missing toolkit).
  if (!result)
    entries.erase(key);
  finished.notify_all();
  return result;
}

Result<SharedArtifact> Compiler::State::produce(
    const std::string &key, Lowering *lowering,
    const MakeLowering &makeLowering, const SharedDatabase &database,
    const CompileOptions &options, const Assembler &assembler) {
  std::string dumpDir =
      options.dumpDir.empty() ? getEnv("DGEMM_DUMP_DIR") : options.dumpDir;
  ArtifactCache cache(ArtifactCache::resolveFolder(options.cacheDir));
  // Whoever wants the levels dumped wants them made.
  if (dumpDir.empty()) {
    if (std::optional<Artifact> stored = cache.load(key)) {
      std::lock_guard<std::mutex> lock(mutex);
      ++statistics.diskHits;
      return std::make_shared<const Artifact>(std::move(*stored));
    }
  }
  std::unique_ptr<Lowering> own;
  if (!lowering) {
    auto made = makeLowering(database);
    if (!made)
      return made.status();
    own = std::move(*made);
    lowering = own.get();
  }
  Result<Artifact> artifact =
      compileUncached(*lowering, options, assembler, !dumpDir.empty());
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++statistics.compiled;
  }
  if (!artifact)
    return artifact.status();
  if (!dumpDir.empty())
    if (Status status = dump(dumpDir, key, *artifact); !status)
      return status;
  // A cache that cannot be written (read-only home, full disk) costs only time.
  (void)cache.store(key, *artifact);
  return std::make_shared<const Artifact>(std::move(*artifact));
}

Compiler::Compiler() : state(std::make_unique<State>()) {}
Compiler::~Compiler() = default;

Result<SharedArtifact> Compiler::compileProblem(const Problem &problem,
                                                const CompileOptions &options) {
  if (Status status = verifyProblem(problem); !status)
    return status;
  return state->get("problem " + toString(problem), options,
                    [&](SharedDatabase database) {
                      return Lowering::build(problem, options, database);
                    });
}

Result<SharedArtifact> Compiler::compileModule(const std::string &mlirText,
                                               const CompileOptions &options) {
  return state->get("module " + options.inputName + "\n" + mlirText, options,
                    [&](SharedDatabase database) {
                      return Lowering::parse(mlirText, options, database);
                    });
}

CompilerStatistics Compiler::statistics() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->statistics;
}

Compiler &Compiler::instance() {
  // Never destroyed: threads of the embedding program may still compile while
  // static objects go away.
  static Compiler *compiler = new Compiler();
  return *compiler;
}

static Result<Artifact> copy(Result<SharedArtifact> artifact) {
  if (!artifact)
    return artifact.status();
  return **artifact;
}

Result<Artifact> compileProblem(const Problem &problem,
                                const CompileOptions &options) {
  return copy(Compiler::instance().compileProblem(problem, options));
}

Result<Artifact> compileModule(const std::string &mlirText,
                               const CompileOptions &options) {
  return copy(Compiler::instance().compileModule(mlirText, options));
}

Result<std::string> problemToModule(const Problem &problem) {
  if (Status status = verifyProblem(problem); !status)
    return status;
  auto lowering = Lowering::build(problem, CompileOptions(), nullptr);
  if (!lowering)
    return lowering.status();
  return (*lowering)->print(/*withLocations=*/false);
}

Result<std::string> lowerModule(const std::string &mlirText, Stage stage,
                                const CompileOptions &options) {
  if (Status status = verifyTarget(options.chip, options.ptxVersion); !status)
    return status;
  Result<SharedDatabase> database = openDatabase(options);
  if (!database)
    return database.status();
  auto lowering = Lowering::parse(mlirText, options, *database);
  if (!lowering)
    return lowering.status();
  if (Status status = (*lowering)->checkOneGemm(); !status)
    return status;
  if (Status status = (*lowering)->lowerTo(std::min(stage, Stage::NVVM));
      !status)
    return status;
  if (stage <= Stage::NVVM)
    return (*lowering)->print(/*withLocations=*/false);
  Result<EmittedCode> code = (*lowering)->emit(stage == Stage::LLVM);
  if (!code)
    return code.status();
  return stage == Stage::LLVM ? code->llvmIR : code->ptx;
}

} // namespace dgemm::jit
