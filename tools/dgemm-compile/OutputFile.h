// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading the input and writing the output of dgemm-compile.

#ifndef DGEMM_TOOLS_DGEMM_COMPILE_OUTPUTFILE_H
#define DGEMM_TOOLS_DGEMM_COMPILE_OUTPUTFILE_H

#include "dgemm/Support/Status.h"

#include <string>

namespace dgemm::compile {

/// The whole of a file, or of standard input for "-".
Result<std::string> readInput(const std::string &path);

/// Makes `path` hold exactly `content`, or leaves it as it was: the content is
/// written beside it and renamed. "-" is standard output; what exists and is
/// no regular file (a device, a pipe) is written directly.
Status writeOutput(const std::string &path, const std::string &content);

} // namespace dgemm::compile

#endif // DGEMM_TOOLS_DGEMM_COMPILE_OUTPUTFILE_H
