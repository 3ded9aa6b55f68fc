// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What dgemm-tune does besides measuring: one row for each command, picked by
// the first argument.

#ifndef DGEMM_TOOLS_TUNE_COMMANDS_H
#define DGEMM_TOOLS_TUNE_COMMANDS_H

#include "DatabaseCommands.h"
#include "ModelCommands.h"

namespace dgemm::tune {

enum ExitCode : int {
  kDone = 0,
  kSomeFailed = 1,
  kBadInput = 2,
  kNotExecuted = 3,
  kUnfinished = 4
};

/// Prints "dgemm-tune: message" on standard error and returns the code.
int fail(int code, const char *message);

/// One way to use the tool.
struct Command {
  /// The first argument that asks for it: "--name" or "--name=value".
  const char *option;
  /// One line for the tool's help.
  const char *help;
  /// Gets the whole command line, that argument included.
  int (*run)(int argc, char **argv);
};

/// Every command; the last row has no option and ends the table.
inline constexpr Command kCommands[] = {
    {"--calibrate", "fit the cost model to journals", calibrateMain},
    {"--evaluate", "judge the cost model by journals", evaluateMain},
    {"--report", "draw journals as an HTML page", reportMain},
    {"--explain", "which record a problem gets, and why", explainChoice},
    {"--merge", "join databases, the best record of each", mergeDatabases},
    {"--import", "take a journal's or a table's records over", importRecords},
    {"--export", "write a database as a table", exportDatabase},
    {nullptr, nullptr, nullptr},
};

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_COMMANDS_H
