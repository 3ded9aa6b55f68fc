// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Support/Env.h"

#include <cstdlib>
#include <cstring>

namespace dgemm {

const std::vector<EnvVariable> &environmentVariables() {
  static const std::vector<EnvVariable> variables = {
      {"DGEMM_CACHE_DIR", "folder of the disk cache of compiled kernels"},
      {"DGEMM_DUMP_DIR", "folder that gets every intermediate level of a "
                         "compilation"},
      {"DGEMM_DB", "tuning database used where no option names one"},
      {"DGEMM_RECORD", "file that gets a line for every problem a process "
                       "compiles or finds compiled, for dgemm-tune --recorded"},
      {"CUDA_HOME", "CUDA toolkit; its bin/ is searched for ptxas"},
      {"CUDA_PATH", "the same, after CUDA_HOME"},
      {"PATH", "searched for ptxas and other programs"},
      {"XDG_CACHE_HOME", "cache folder when DGEMM_CACHE_DIR is not set"},
      {"HOME", "its .cache/dgemm, when neither of the above is set"},
      {"TMPDIR", "where temporary folders are made; /tmp by default"},
  };
  return variables;
}

std::string getEnv(const char *name) {
  for (const EnvVariable &variable : environmentVariables())
    if (std::strcmp(variable.name, name) == 0) {
      const char *value = std::getenv(name);
      return value ? value : "";
    }
  return "";
}

} // namespace dgemm
