// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Option parsing.

#include "dgemm/Tools/Arguments.h"

#include <algorithm>
#include <charconv>

namespace dgemm {

void Arguments::add(const char *name, std::string &value, const char *help) {
  options.push_back({name, Kind::Text, &value, help});
}
void Arguments::add(const char *name, int64_t &value, const char *help) {
  options.push_back({name, Kind::Integer, &value, help});
}
void Arguments::add(const char *name, double &value, const char *help) {
  options.push_back({name, Kind::Real, &value, help});
}
void Arguments::add(const char *name, bool &value, const char *help) {
  options.push_back({name, Kind::Flag, &value, help});
}

const Arguments::Option *Arguments::find(const std::string &name) const {
  for (const Option &option : options)
    if (option.name == name)
      return &option;
  return nullptr;
}

template <typename T>
static bool readNumber(const std::string &text, T &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Status Arguments::assign(const Option &option, const std::string *value) {
  auto bad = [&](const char *expected) {
    return Status::error("option --" + option.name + ": expected " + expected +
                         ", found " + (value ? "'" + *value + "'" : "none"));
  };
  switch (option.kind) {
  case Kind::Text:
    if (!value)
      return bad("=text");
    *static_cast<std::string *>(option.value) = *value;
    break;
  case Kind::Integer:
    if (!value || !readNumber(*value, *static_cast<int64_t *>(option.value)))
      return bad("=a whole number");
    break;
  case Kind::Real:
    if (!value || !readNumber(*value, *static_cast<double *>(option.value)))
      return bad("=a number");
    break;
  case Kind::Flag:
    if (value && *value != "true" && *value != "false")
      return bad("true, false or no value");
    *static_cast<bool *>(option.value) = !value || *value == "true";
    break;
  }
  return Status::success();
}

/// Edit distance, to name what a misspelt option may have meant.
static size_t distance(const std::string &x, const std::string &y) {
  std::vector<size_t> row(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= x.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min(
          {row[j] + 1, row[j - 1] + 1, diagonal + (x[i - 1] != y[j - 1])});
      diagonal = above;
    }
  }
  return row[y.size()];
}

Status Arguments::parse(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      helpAsked = true;
      continue;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      others.push_back(argument);
      continue;
    }
    argument.erase(0, argument[1] == '-' ? 2 : 1);
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    const Option *option = find(name);
    if (!option) {
      std::string nearest;
      size_t best = 3;
      for (const Option &known : options)
        if (size_t d = distance(name, known.name); d < best) {
          best = d;
          nearest = known.name;
        }
      return Status::error(
          "unknown option --" + name +
          (nearest.empty() ? "" : "; did you mean --" + nearest + "?"));
    }
    std::string value =
        equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (Status s =
            assign(*option, equals == std::string::npos ? nullptr : &value);
        !s)
      return s;
  }
  return Status::success();
}

std::string Arguments::help(const std::string &program) const {
  std::string text = "usage: " + program + " " + usageLine + "\n";
  for (const Option &option : options) {
    std::string left = "  --" + option.name +
                       (option.kind == Kind::Flag      ? ""
                        : option.kind == Kind::Integer ? "=N"
                        : option.kind == Kind::Real    ? "=X"
                                                       : "=TEXT");
    left.resize(std::max<size_t>(left.size() + 2, 28), ' ');
    text += left + option.help + "\n";
  }
  return text;
}

} // namespace dgemm
