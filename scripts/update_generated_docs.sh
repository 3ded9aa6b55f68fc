#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/update_generated_docs.sh [--check]
# Writes docs/generated/ from TableGen; with --check changes nothing and fails
# when what is committed differs.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-update}
scripts/build.sh dgemm-docs >/dev/null
made=build/docs/generated
# A page whose source is gone would otherwise stay in the build folder.
find "$made" -name '*.md' ! -newer build/build.ninja -delete
scripts/build.sh dgemm-docs >/dev/null
# The generator leaves blanks at line ends and blank lines at the end.
for page in "$made"/*.md; do
  sed -i -e 's/[ \t]*$//' -e '$a\' "$page"
  sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$page"
done
case "$mode" in
--check)
  if ! diff -ru docs/generated "$made"; then
    echo "docs/generated is stale; run scripts/update_generated_docs.sh" >&2
    exit 1
  fi
  ;;
update)
  rm -rf docs/generated
  cp -r "$made" docs/generated
  ;;
*)
  echo "usage: scripts/update_generated_docs.sh [--check]" >&2
  exit 2
  ;;
esac
