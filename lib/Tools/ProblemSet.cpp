// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads problem sets. Every field is checked before it is taken, so the JSON
// library never has a reason to throw.

#include "dgemm/Tools/ProblemSet.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace dgemm {

// Ordered, so that recipes come out as they are written.
using Json = nlohmann::ordered_json;

static Result<std::string> readText(const Json &json, const char *key,
                                    bool required) {
  auto field = json.find(key);
  if (field == json.end()) {
    if (required)
      return Status::error(std::string("field '") + key + "' is missing");
    return std::string();
  }
  if (!field->is_string())
    return Status::error(std::string("field '") + key +
                         "': expected a string, found " + field->dump());
  return field->get<std::string>();
}

/// An array of arrays of `width` sizes; width 0: an array of sizes, each
/// returned as a row of one.
static Result<std::vector<std::vector<int64_t>>>
readSizes(const Json &json, const char *key, size_t width) {
  std::vector<std::vector<int64_t>> rows;
  auto field = json.find(key);
  if (field == json.end())
    return rows;
  auto bad = [&](const Json &found) {
    return Status::error(
        std::string("field '") + key + "': expected " +
        (width ? "arrays of " + std::to_string(width) + " sizes of at least 0"
               : "sizes of at least 0") +
        ", found " + found.dump());
  };
  if (!field->is_array())
    return bad(*field);
  for (const Json &item : *field) {
    Json row = width ? item : Json::array({item});
    if (!row.is_array() || row.size() != std::max<size_t>(width, 1))
      return bad(item);
    std::vector<int64_t> sizes;
    for (const Json &size : row) {
      if (!size.is_number_integer() || size.get<int64_t>() < 0)
        return bad(item);
      sizes.push_back(size.get<int64_t>());
    }
    rows.push_back(std::move(sizes));
  }
  return rows;
}

Result<ProblemSet> parseProblemSet(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return Status::error("problem set: expected a JSON object");
  ProblemSet set;
  Result<std::string> name = readText(json, "name", true);
  if (!name)
    return Status::error("problem set: " + name.message());
  set.name = *name;
  Result<std::string> l2 = readText(json, "l2", false);
  if (!l2)
    return Status::error("problem set: " + l2.message());
  set.l2 = *l2;
  auto shapes = readSizes(json, "shapes", 3), ms = readSizes(json, "m", 0),
       nks = readSizes(json, "nk", 2);
  for (const auto *part : {&shapes, &ms, &nks})
    if (!part->ok())
      return Status::error("problem set: " + part->message());
  std::vector<std::vector<int64_t>> all = *shapes;
  for (const std::vector<int64_t> &nk : *nks)
    for (const std::vector<int64_t> &m : *ms)
      all.push_back({m[0], nk[0], nk[1]});
  if (all.empty())
    return Status::error("problem set: no shapes; give 'shapes', or 'm' and "
                         "'nk'");
  auto recipes = json.find("recipes");
  if (recipes == json.end() || !recipes->is_object() || recipes->empty())
    return Status::error("problem set: field 'recipes': expected an object of "
                         "gemm texts");
  for (const auto &[recipe, value] : recipes->items()) {
    if (!value.is_string())
      return Status::error("problem set: recipe '" + recipe +
                           "': expected a string, found " + value.dump());
    for (const std::vector<int64_t> &mnk : all) {
      ProblemSetEntry entry;
      entry.recipe = recipe;
      entry.text =
          "m=" + std::to_string(mnk[0]) + ",n=" + std::to_string(mnk[1]) +
          ",k=" + std::to_string(mnk[2]) + "," + value.get<std::string>();
      Result<GemmText> gemm = parseGemm(entry.text);
      if (!gemm)
        return Status::error("problem set: recipe '" + recipe +
                             "': " + gemm.message());
      entry.gemm = *gemm;
      set.entries.push_back(std::move(entry));
    }
  }
  return set;
}

Result<ProblemSet> readProblemSet(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Status::error("cannot read '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  Result<ProblemSet> set = parseProblemSet(text.str());
  if (!set)
    return Status::error("'" + path + "': " + set.message());
  return set;
}

} // namespace dgemm
