#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds dgemm, takes the FP8 GEMM of examples/deepseek-fp8.mlir down to PTX
# (and a cubin where ptxas is there), says which schedule was chosen and why,
# and runs the kernel: on the GPU if there is one, else on the emulator.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh dgemm-compile dgemm-run

gemm=examples/deepseek-fp8.mlir
out=build/demo
mkdir -p "$out"
say() { printf '\n== %s\n' "$1"; }

say "The problem, $gemm"
cat "$gemm"

say "The schedule and why ($out/report.txt has the rest)"
build/bin/dgemm-compile "$gemm" --emit=schedule -o "$out/scheduled.mlir"
build/bin/dgemm-compile "$gemm" --emit=ptx -o "$out/deepseek-fp8.ptx" --report \
  >"$out/report.txt" 2>&1
# One kernel for each range of M. What was turned down is told for the first,
# unless measurements decided everything.
grep -E '^kernel|^  (schedule|chosen by|shared memory|predicted) ' "$out/report.txt"
grep -m1 -E '^  chosen:' "$out/report.txt"
awk '/^  (analysis|missed):/ && ++n[$1] <= 2' "$out/report.txt"

say "PTX"
printf '%s: %d lines, %d wgmma, %d TMA loads\n' "$out/deepseek-fp8.ptx" \
  "$(wc -l <"$out/deepseek-fp8.ptx")" \
  "$(grep -c 'wgmma.mma_async' "$out/deepseek-fp8.ptx")" \
  "$(grep -c 'cp.async.bulk.tensor.*global' "$out/deepseek-fp8.ptx")"

ptxas=$(command -v ptxas || true)
for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
  [ -n "$ptxas" ] || [ ! -x "$home/bin/ptxas" ] || ptxas=$home/bin/ptxas
done
if [ -n "$ptxas" ]; then
  say "cubin, by $ptxas"
  build/bin/dgemm-compile "$gemm" --emit=cubin -o "$out/deepseek-fp8.cubin"
  printf '%s: %d bytes\n' "$out/deepseek-fp8.cubin" \
    "$(stat -c %s "$out/deepseek-fp8.cubin")"
else
  say "cubin: left to the driver, as this machine has no ptxas"
fi

say "Run it and compare with float64"
# A GPU takes the whole problem at M = 4096; the emulator a slice of it.
if nvidia-smi -L 2>/dev/null | grep -qE 'H100|H200|H800|H20'; then
  build/bin/dgemm-run "$gemm" --m=4096
else
  build/bin/dgemm-run --gemm="m=128,n=256,k=1024,a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,scale_b=128x128,layout=nt"
fi
