#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what a build needs and is missing, on Debian 12, as root or through
# sudo. Does nothing, and needs no rights, when everything is there.
set -euo pipefail

packages=(
  clang-22 lld-22 clang-format-22
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  cmake ninja-build ccache git python3
  nlohmann-json3-dev libgtest-dev
  zlib1g-dev libzstd-dev libedit-dev libxml2-dev libffi-dev
)

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root and no sudo; install these packages: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}
# The package lists of a machine that is not new may do as they are.
"${as_root[@]}" apt-get update -qq || true
install >/dev/null || {
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  exit 1
}
