#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Does its own set-up, builds everything and runs every test: GoogleTest
# binaries and the lit suite, through ctest. The last line counts test cases;
# the exit code is non-zero when any failed.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh || {
  echo "test.sh: the build failed" >&2
  exit 1
}
results=$PWD/build/test-results
rm -rf "$results"
mkdir -p "$results"
# Both runners write JUnit files: GoogleTest one per binary, lit one for all.
GTEST_OUTPUT="xml:$results/" LIT_OPTS="--xunit-xml-output=$results/lit.xml" \
  ctest --preset dev --parallel "$(nproc)"
status=$?
python3 scripts/count_tests.py "$results" build/Testing/Temporary $status
