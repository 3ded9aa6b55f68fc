// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Command lines of the tools that run kernels: --name=value options declared
// with a help text, unknown ones refused by name.

#ifndef DGEMM_TOOLS_ARGUMENTS_H
#define DGEMM_TOOLS_ARGUMENTS_H

#include "dgemm/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dgemm {

/// Declares options as references to variables that hold their defaults, then
/// fills them from a command line.
class Arguments {
public:
  /// `usage` is the first line of the help, without the program's name.
  explicit Arguments(std::string usage) : usageLine(std::move(usage)) {}

  void add(const char *name, std::string &value, const char *help);
  void add(const char *name, int64_t &value, const char *help);
  void add(const char *name, double &value, const char *help);
  /// --name or --name=true sets it, --name=false clears it.
  void add(const char *name, bool &value, const char *help);

  /// Reads argv[1...]. "--name value" is not accepted, so that a file name
  /// never hides in it. Errors name the option, what it expects and what was
  /// found, and the nearest option for a misspelt one.
  Status parse(int argc, char **argv);

  /// Arguments that are no options, in order.
  const std::vector<std::string> &positional() const { return others; }
  /// True when --help or -h was given.
  bool wantsHelp() const { return helpAsked; }
  std::string help(const std::string &program) const;

private:
  enum class Kind { Text, Integer, Real, Flag };
  struct Option {
    std::string name;
    Kind kind;
    void *value;
    std::string help;
  };
  const Option *find(const std::string &name) const;
  Status assign(const Option &option, const std::string *value);

  std::string usageLine;
  std::vector<Option> options;
  std::vector<std::string> others;
  bool helpAsked = false;
};

} // namespace dgemm

#endif // DGEMM_TOOLS_ARGUMENTS_H
