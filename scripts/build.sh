#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/build.sh [target...]
# Set-up, configuration and build of the developer preset; everything when no
# target is named. The build folder is build/.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
log=build/configure.log
mkdir -p build
if ! cmake --preset dev >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
grep -A4 'CMake Warning' "$log" >&2 || true
targets=()
for target in "$@"; do targets+=(--target "$target"); done
cmake --build --preset dev "${targets[@]}"
