// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and searching peer tables.

#include "dgemm/Tools/PeerTable.h"

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

namespace dgemm {

/// Fields of one CSV line; quotes are taken off.
static std::vector<std::string> splitLine(const std::string &line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

template <typename T> static bool readNumber(const std::string &s, T &value) {
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size();
}

Result<PeerTable> PeerTable::parse(const std::string &csv) {
  std::istringstream text(csv);
  std::string line;
  if (!std::getline(text, line))
    return Status::error("peer table: empty");
  std::map<std::string, size_t> columns;
  std::vector<std::string> names = splitLine(line);
  for (size_t i = 0; i < names.size(); ++i)
    columns[names[i]] = i;
  for (const char *name :
       {"peer", "dtype", "m", "n", "k", "note", "l2_mode", "us"})
    if (!columns.count(name))
      return Status::error(std::string("peer table: no column '") + name + "'");
  PeerTable table;
  while (std::getline(text, line)) {
    std::vector<std::string> fields = splitLine(line);
    if (fields.size() < names.size())
      fields.resize(names.size());
    auto field = [&](const char *name) { return fields[columns[name]]; };
    if (columns.count("groups") && field("groups") != "1")
      continue;
    PeerRow row;
    row.peer = field("peer");
    row.dtype = field("dtype");
    row.note = field("note");
    row.l2 = field("l2_mode");
    if (readNumber(field("m"), row.m) && readNumber(field("n"), row.n) &&
        readNumber(field("k"), row.k) && readNumber(field("us"), row.us))
      table.rows.push_back(row);
  }
  return table;
}

Result<PeerTable> PeerTable::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Status::error("cannot read '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  Result<PeerTable> table = parse(text.str());
  if (!table)
    return Status::error("'" + path + "': " + table.message());
  return table;
}

std::vector<PeerRow> PeerTable::find(const Problem &problem,
                                     const std::string &l2) const {
  std::string dtype = problem.fp8() ? "fp8" : toString(problem.a);
  std::vector<PeerRow> found;
  for (const PeerRow &row : rows) {
    bool wide = row.note.find("fp32") != std::string::npos;
    bool accumulates = row.note.find("+=") != std::string::npos;
    bool otherLayout = row.note == "NN" || row.note == "TN" || row.note == "TT";
    if (row.dtype == dtype && row.m == problem.m && row.n == problem.n &&
        row.k == problem.k && row.l2 == l2 && !otherLayout &&
        wide == (problem.d == DType::F32) && accumulates == problem.accumulate)
      found.push_back(row);
  }
  return found;
}

} // namespace dgemm
