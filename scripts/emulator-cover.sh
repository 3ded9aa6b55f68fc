#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# The larger cover: what test/Emulator/cover.test runs, for more (shape,
# schedule) pairs and another seed.
# Usage: scripts/emulator-cover.sh [BUILD_DIR [PAIRS [SEED]]]

set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
program=$build/bin/dgemm-run
if [[ ! -x $program ]]; then
  echo "error: $program is not built (ninja -C $build dgemm-run)" >&2
  exit 2
fi
exec python3 test/Emulator/Inputs/cover.py "$program" "${2:-2000}" "${3:-1}"
