// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads what ptxas prints: its version, and with -v the resources and warnings
// of each kernel.

#include "dgemm/JIT/Ptxas.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>

namespace dgemm::jit {

/// The number that starts right before `unit` ("12 bytes spill stores"), or 0.
static int numberBefore(const std::string &line, const std::string &unit) {
  size_t at = line.find(unit);
  if (at == std::string::npos)
    return 0;
  size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  return static_cast<int>(std::strtol(line.c_str() + begin, nullptr, 10));
}

/// The text between the first pair of single quotes after `start`.
static std::string quotedAfter(const std::string &line,
                               const std::string &start) {
  size_t at = line.find(start);
  if (at == std::string::npos)
    return {};
  size_t open = line.find('\'', at + start.size());
  if (open == std::string::npos)
    return {};
  size_t close = line.find('\'', open + 1);
  if (close == std::string::npos)
    return {};
  return line.substr(open + 1, close - open - 1);
}

/// The number of "(C7508)", or 0.
static int warningCode(const std::string &line) {
  size_t at = line.find("(C");
  if (at == std::string::npos || at + 2 >= line.size() ||
      !std::isdigit(static_cast<unsigned char>(line[at + 2])))
    return 0;
  return std::atoi(line.c_str() + at + 2);
}

static bool isSlowCode(int code) {
  return (code >= 7504 && code <= 7519) || code == 7602;
}

static std::string withoutPrefix(const std::string &line) {
  size_t colon = line.find(" : ");
  return colon == std::string::npos ? line : line.substr(colon + 3);
}

Ptxas parsePtxasVersion(const std::string &text) {
  // CUDA release to the PTX version that came with it.
  struct Release {
    int major, minor, ptx;
  };
  static constexpr Release releases[] = {
      {11, 8, 78}, {12, 0, 80}, {12, 1, 81}, {12, 2, 82}, {12, 3, 83},
      {12, 4, 84}, {12, 5, 85}, {12, 6, 85}, {12, 7, 86}, {12, 8, 87},
      {12, 9, 88}, {13, 0, 90}, {13, 1, 91}};

  Ptxas ptxas;
  size_t release = text.find("release ");
  if (text.find("Ptx optimizing assembler") == std::string::npos ||
      release == std::string::npos)
    return ptxas;
  int major = 0, minor = 0;
  if (std::sscanf(text.c_str() + release, "release %d.%d", &major, &minor) != 2)
    return ptxas;
  ptxas.version = std::to_string(major) + "." + std::to_string(minor);
  // ", V13.0.88": the build tells apart assemblers of one release.
  size_t build = text.find(", V", release);
  if (build != std::string::npos) {
    size_t end = text.find_first_not_of("0123456789.", build + 3);
    std::string full = text.substr(
        build + 3, end == std::string::npos ? end : end - build - 3);
    if (full.compare(0, ptxas.version.size(), ptxas.version) == 0)
      ptxas.version = full;
  }
  for (const Release &known : releases)
    if (known.major == major && known.minor == minor)
      ptxas.newestPTX = known.ptx;
  const Release &last = std::end(releases)[-1];
  if (std::pair(major, minor) > std::pair(last.major, last.minor))
    ptxas.newestPTX = last.ptx;
  return ptxas;
}

std::vector<KernelResources> parsePtxasLog(const std::string &log) {
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings;
  auto find = [&](const std::string &entry) -> KernelResources & {
    for (KernelResources &kernel : kernels)
      if (kernel.entry == entry)
        return kernel;
    kernels.push_back({});
    kernels.back().entry = entry;
    return kernels.back();
  };

  std::string current;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    bool warning = line.find("ptxas warning") != std::string::npos;
    if (isSlowCode(warningCode(line)) || warning) {
      warnings.push_back(withoutPrefix(line));
      continue;
    }
    if (std::string entry = quotedAfter(line, "Compiling entry function");
        !entry.empty()) {
      current = entry;
      find(current);
      continue;
    }
    if (current.empty())
      continue;
    // Device functions that were not inlined have properties of their own; what
    // they spill, their kernel spills.
    KernelResources &kernel = find(current);
    if (line.find("bytes stack frame") != std::string::npos) {
      kernel.stackFrame =
          std::max(kernel.stackFrame, numberBefore(line, " bytes stack frame"));
      kernel.spillStores += numberBefore(line, " bytes spill stores");
      kernel.spillLoads += numberBefore(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string::npos) {
      kernel.registers = numberBefore(line, " registers");
      kernel.sharedMemory = numberBefore(line, " bytes smem");
    }
  }

  for (const std::string &warning : warnings) {
    bool named = false;
    for (KernelResources &kernel : kernels) {
      if (warning.find("'" + kernel.entry + "'") == std::string::npos)
        continue;
      kernel.warnings.push_back(warning);
      named = true;
    }
    if (!named)
      for (KernelResources &kernel : kernels)
        kernel.warnings.push_back(warning);
  }
  return kernels;
}

std::vector<std::string> findSlowness(const KernelResources &resources) {
  std::vector<std::string> findings;
  if (resources.spillStores != 0 || resources.spillLoads != 0)
    findings.push_back(
        "registers spill: " + std::to_string(resources.spillStores) +
        " bytes stored, " + std::to_string(resources.spillLoads) +
        " bytes loaded");
  for (const std::string &warning : resources.warnings)
    if (isSlowCode(warningCode(warning)))
      findings.push_back("ptxas: " + warning);
  return findings;
}

} // namespace dgemm::jit
