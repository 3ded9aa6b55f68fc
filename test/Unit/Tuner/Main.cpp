// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests' main(): the binary is its own worker.

#include "dgemm/Tuner/Worker.h"

#include <cstring>
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--worker") == 0)
    return dgemm::tuner::workerMain();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
