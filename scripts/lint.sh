#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/lint.sh [check|fix]
# Formatting (clang-format 22), whitespace, tabs, file length, licence lines and
# library layers. `fix` mends formatting and whitespace in place.
set -uo pipefail
cd "$(dirname "$0")/.."
mode=${1:-check}
case "$mode" in
check | fix) ;;
*)
  echo "usage: scripts/lint.sh [check|fix]" >&2
  exit 2
  ;;
esac
failed=0
complain() {
  echo "lint: $1"
  failed=1
}

# Deleted but uncommitted files are still listed by git.
mapfile -t files < <(git ls-files -co --exclude-standard | while read -r f; do
  [ -f "$f" ] && [ ! -L "$f" ] && echo "$f"
done)
select_files() { printf '%s\n' "${files[@]}" | grep -E "$1" || true; }

mapfile -t cxx < <(select_files '^(include|lib|tools|test|examples|python)/.*\.(h|cpp|c)$')
format=$(command -v clang-format-22 || true)
if [ -z "$format" ]; then
  complain "clang-format-22 not found; run scripts/setup.sh"
elif [ ${#cxx[@]} -gt 0 ]; then
  if [ "$mode" = fix ]; then
    printf '%s\0' "${cxx[@]}" | xargs -0 -P 2 -n 20 "$format" -i
  else
    printf '%s\0' "${cxx[@]}" | xargs -0 -P 2 -n 20 "$format" --dry-run -Werror ||
      complain "formatting; scripts/lint.sh fix mends it"
  fi
fi

mapfile -t text < <(select_files '\.(h|cpp|c|td|mlir|test|py|sh|cmake|in|md|json|txt|toml|yaml|yml)$|^\.ci/run$')
for file in "${text[@]}"; do
  if [ "$mode" = fix ]; then
    sed -i -e 's/[ \t]*$//' "$file"
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
  fi
  if grep -nP '[ \t]+$' "$file" /dev/null | head -3 | grep .; then
    complain "$file: trailing whitespace"
  fi
  if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
    complain "$file: no newline at the end"
  fi
  if grep -nP '\t' "$file" /dev/null | head -3 | grep .; then
    complain "$file: tab"
  fi
done

while read -r file; do
  [ -n "$file" ] || continue
  lines=$(wc -l <"$file")
  [ "$lines" -le 800 ] || complain "$file: $lines lines, at most 800"
done < <(select_files '\.(h|cpp|c|td|mlir|test|py|sh|cmake)$')

while read -r file; do
  [ -n "$file" ] || continue
  head -4 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
    complain "$file: does not begin with the SPDX lines"
done < <(select_files '\.(h|cpp|c|td|py|sh|cmake)$')

python3 scripts/check_layers.py || complain "library layers"

[ $failed -eq 0 ] && echo "lint: clean (${#files[@]} files)"
exit $failed
