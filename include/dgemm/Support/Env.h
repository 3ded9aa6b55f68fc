// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Environment variables: which ones dgemm reads and what they mean. Nothing
// else in the code base calls getenv, so the table is complete.

#ifndef DGEMM_SUPPORT_ENV_H
#define DGEMM_SUPPORT_ENV_H

#include <string>
#include <vector>

namespace dgemm {

struct EnvVariable {
  const char *name;
  const char *meaning; ///< one line
};

/// Every variable that dgemm reads, dgemm's own first.
const std::vector<EnvVariable> &environmentVariables();

/// The value of a variable of that table; empty when it is not set, and for a
/// name that the table does not have.
std::string getEnv(const char *name);

} // namespace dgemm

#endif // DGEMM_SUPPORT_ENV_H
