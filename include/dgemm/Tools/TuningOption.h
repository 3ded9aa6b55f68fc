// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The option --db of the tools that compile.

#ifndef DGEMM_TOOLS_TUNINGOPTION_H
#define DGEMM_TOOLS_TUNINGOPTION_H

#include "dgemm/Support/Status.h"

#include <string>

namespace dgemm {

/// What --help says of the option.
inline constexpr const char *kTuningOptionHelp =
    "measured schedules: a file of tuning records (before the shipped table), "
    "shipped, or none; default: $DGEMM_DB, else shipped";

/// Opens the database that the option's value (may be empty) stands for, and
/// warns on standard error of records it cannot use, each with file, line and
/// reason; a long list is cut. The error names the option, or the variable that
/// named the file.
Status checkTuningOption(const std::string &value);

} // namespace dgemm

#endif // DGEMM_TOOLS_TUNINGOPTION_H
