#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/update_generated_docs.sh [--check]
# Writes docs/generated/ from TableGen; with --check changes nothing and fails
# when what is committed differs.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-}
case "$mode" in
"" | --check) ;;
*)
  echo "usage: scripts/update_generated_docs.sh [--check]" >&2
  exit 2
  ;;
esac

# From nothing, so that the page of a removed source does not live on.
rm -rf build/docs/generated
scripts/build.sh dgemm-docs >/dev/null
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
for page in build/docs/generated/*.md; do
  # The generator leaves blanks at line ends, tabs and empty lines at the end.
  sed -e 's/[ \t]*$//' "$page" | expand | cat -s >"$pages/$(basename "$page")"
  sed -i -e '${/^$/d}' "$pages/$(basename "$page")"
done

if [ "$mode" = --check ]; then
  if ! diff -ru docs/generated "$pages"; then
    echo "docs/generated is stale; run scripts/update_generated_docs.sh" >&2
    exit 1
  fi
else
  mkdir -p docs/generated
  rm -f docs/generated/*.md
  cp "$pages"/*.md docs/generated/
fi
