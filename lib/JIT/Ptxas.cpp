// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds and runs ptxas.

#include "dgemm/JIT/Ptxas.h"

#include "dgemm/Support/Env.h"
#include "dgemm/Support/File.h"
#include "dgemm/Support/Subprocess.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

namespace fs = std::filesystem;

namespace dgemm::jit {

/// Large kernels take ptxas a second or two; one that takes minutes hangs.
static constexpr int kTimeoutSeconds = 300;

static constexpr const char *toolkitVariables[] = {"CUDA_HOME", "CUDA_PATH"};

static std::string firstLines(const std::string &text, int count) {
  std::istringstream stream(text);
  std::string result;
  for (std::string line; count > 0 && std::getline(stream, line); --count)
    result += (result.empty() ? "" : "\n") + line;
  return result;
}

/// Candidates in order, each a full path.
static std::vector<std::string> searchPath() {
  std::vector<std::string> folders;
  std::istringstream path(getEnv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty())
      folders.push_back(folder);
  for (const char *variable : toolkitVariables)
    if (std::string root = getEnv(variable); !root.empty())
      folders.push_back(root + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  for (std::string &folder : folders)
    folder += "/ptxas";
  return folders;
}

static Result<Ptxas> queryVersion(const std::string &path) {
  Result<ProcessResult> run = runProcess({path, "--version"}, 20);
  if (!run)
    return Status::error("ptxas '" + path +
                         "' cannot be run: " + run.message());
  Ptxas ptxas = parsePtxasVersion(run->output);
  if (run->timedOut)
    return Status::error("'" + path + "' does not answer --version");
  if (run->exitCode != 0 || ptxas.version.empty()) {
    std::string said = firstLines(run->output, 2);
    return Status::error("'" + path + "' is not a working ptxas: exit code " +
                         std::to_string(run->exitCode) + " for --version" +
                         (said.empty() ? ", no output" : ", output: " + said));
  }
  ptxas.path = path;
  return ptxas;
}

/// Answers are kept for as long as the file stays the same, since every
/// compilation asks.
static Result<Ptxas> queryVersionOnce(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, Ptxas> known;
  std::error_code error;
  auto time = fs::last_write_time(path, error).time_since_epoch().count();
  auto size = fs::file_size(path, error);
  std::string key =
      path + "|" + std::to_string(time) + "|" + std::to_string(size);
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Result<Ptxas> ptxas = queryVersion(path);
  if (ptxas)
    known[key] = *ptxas;
  return ptxas;
}

Result<Ptxas> findPtxas(const std::string &path) {
  std::error_code error;
  if (!path.empty()) {
    if (!fs::exists(path, error))
      return Status::error("ptxas '" + path + "' does not exist");
    return queryVersionOnce(path);
  }
  // A variable that somebody set says which toolkit is meant; quietly taking
  // another one would hide the mistake.
  for (const char *variable : toolkitVariables)
    if (std::string root = getEnv(variable);
        !root.empty() && !fs::is_regular_file(root + "/bin/ptxas", error))
      return Status::error(std::string(variable) + " is '" + root +
                           "', which holds no bin/ptxas");
  for (const std::string &candidate : searchPath())
    if (fs::is_regular_file(candidate, error))
      return queryVersionOnce(candidate);
  return Status::error("no ptxas found in PATH, CUDA_HOME, CUDA_PATH or "
                       "/usr/local/cuda");
}

Result<Assembly> assemble(const Ptxas &ptxas, const std::string &ptx,
                          const std::string &chip) {
  Result<TempDir> folder = TempDir::create();
  if (!folder)
    return folder.status();
  std::string input = folder->path() + "/kernel.ptx";
  std::string output = folder->path() + "/kernel.cubin";
  if (Status status = writeFile(input, ptx); !status)
    return status;

  Result<ProcessResult> run =
      runProcess({ptxas.path, "-arch=" + chip, "-O3", "-v", "--warn-on-spills",
                  "--warn-on-local-memory-usage", "-o", output, input},
                 kTimeoutSeconds);
  if (!run)
    return Status::error("ptxas '" + ptxas.path +
                         "' cannot be run: " + run.message());
  if (run->timedOut)
    return Status::error("ptxas '" + ptxas.path + "' was stopped after " +
                         std::to_string(kTimeoutSeconds) + " s");
  if (run->exitCode != 0)
    return Status::error("ptxas '" + ptxas.path + "' (" + ptxas.version +
                         ") failed with exit code " +
                         std::to_string(run->exitCode) + ": " +
                         firstLines(run->output, 8));
  Result<std::string> cubin = readFile(output);
  if (!cubin)
    return Status::error("ptxas '" + ptxas.path +
                         "' wrote no cubin: " + cubin.message());
  // Any program can end with code 0; a cubin is an ELF file.
  if (cubin->compare(0, 4, "\177ELF") != 0)
    return Status::error("ptxas '" + ptxas.path +
                         "' wrote something that is not a cubin");
  Assembly assembly;
  assembly.cubin.assign(cubin->begin(), cubin->end());
  assembly.log = run->output;
  assembly.resources = parsePtxasLog(run->output);
  return assembly;
}

} // namespace dgemm::jit
