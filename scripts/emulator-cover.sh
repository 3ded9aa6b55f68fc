#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# The larger cover: many ragged (schedule, shape, seed) runs of unmutated
# kernels, none of which may give a finding or a wrong number.
# Usage: scripts/emulator-cover.sh [BUILD_DIR [RUNS]]

set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
program=$build/test/Unit/EmulatedKernelTests
if [[ ! -x $program ]]; then
  echo "error: $program is not built (ninja -C $build EmulatedKernelTests)" >&2
  exit 2
fi
DGEMM_EMULATOR_RUNS=${2:-2000} "$program" --gtest_filter='Compiled.*'
