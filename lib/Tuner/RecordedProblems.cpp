// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/RecordedProblems.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dgemm::tuner {

Result<std::vector<std::string>> parseRecorded(const std::string &text) {
  std::vector<std::string> problems;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos)
      break;
    ++number;
    nlohmann::json line =
        nlohmann::json::parse(text.substr(begin, end - begin), nullptr,
                              /*allow_exceptions=*/false);
    begin = end + 1;
    auto gemm = line.find("gemm");
    if (!line.is_object() || gemm == line.end() || !gemm->is_string())
      return Status::error("line " + std::to_string(number) +
                           ": expected {\"gemm\": \"m=..,n=..,k=..\"}");
    std::string problem = gemm->get<std::string>();
    if (std::find(problems.begin(), problems.end(), problem) == problems.end())
      problems.push_back(problem);
  }
  if (problems.empty())
    return Status::error("no problems");
  return problems;
}

} // namespace dgemm::tuner
