#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Plants every fault the mutation pass knows into the kernels of the suite and
# writes how many the emulator found, by kind (the table of docs/emulator.md).
# Usage: scripts/emulator-mutants.sh [BUILD_DIR [TABLE_FILE [KERNEL]]]
# KERNEL: text in the names of the kernels to take.

set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
table=${2:-$build/emulator-mutants.md}
program=$build/test/Unit/EmulatedKernelTests
if [[ ! -x $program ]]; then
  echo "error: $program is not built (ninja -C $build EmulatedKernelTests)" >&2
  exit 2
fi
if [[ -n ${3-} ]]; then
  export DGEMM_MUTANT_KERNEL=$3
fi
status=0
DGEMM_MUTANT_STRIDE=${DGEMM_MUTANT_STRIDE:-1} DGEMM_MUTANT_TABLE=$table \
  "$program" --gtest_filter='Mutants.*' || status=$?
echo "table: $table"
exit $status
