#!/usr/bin/env bash
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/device-check.sh BIN_DIR OUT_DIR [step...]
# What has to be checked on a Hopper, with a portable build in BIN_DIR (or a
# developer build): logs and records go to OUT_DIR, one line per step to
# standard output. Needs bash, python3 and a driver; compute-sanitizer where
# it is installed. Steps, all by default:
#   deepseek   the 7 (N, K) of DeepSeek-V3 x M = 1, 64, 128, 4096, both types
#   ragged     200 random ragged shapes and 20 that must be refused
#   accuracy   FP8 with FP32 results over K, normal and positive data
#   repeat     100 launches with equal bits
#   realisations  every realisation of a schedule on ragged shapes, each 100
#              times with equal bits, and once under memcheck and synccheck
#   sanitizer  memcheck and synccheck over 6 kernels
#   speed      dgemm-bench on the large sets, cuBLASLt interleaved
#   decode     dgemm-bench on the decode set, L2 dirty and clean
#   sweep      M = 1 to 300 with M a run-time value, measured twice: no size may
#              take more than 5 % longer than a larger one
# COMMIT=... names the commit for the records where this is no git checkout.
# PEERS=FILE.csv adds the times of other libraries to the speed tables.
set -uo pipefail
if [ $# -lt 2 ]; then
  sed -n '5,23s/^# \{0,1\}//p' "$0"
  exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
steps=${*:-deepseek ragged accuracy repeat realisations sanitizer speed decode sweep}
run="$bin/dgemm-run"
bench="$bin/dgemm-bench"
export DGEMM_CACHE_DIR="${DGEMM_CACHE_DIR:-$out/cache}"
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
failed=0

bf16="a=bf16,b=bf16,d=bf16"
fp8="a=f8E4M3FN,b=f8E4M3FN,d=bf16,scale_a=1x128,scale_b=128x128"

# Runs a batch and prints its totals and first failures.
batch() {
  local name=$1 file=$2 code=0 begin=$SECONDS
  shift 2
  "$run" --batch="$file" --device=cuda "$@" >"$out/$name.log" 2>&1 || code=$?
  printf '%-10s %s (%d s)\n' "$name" "$(tail -n 1 "$out/$name.log" | cut -c1-300)" \
    $((SECONDS - begin))
  if [ $code -ne 0 ]; then
    failed=1
    grep '^FAIL' "$out/$name.log" | cut -c1-400 | head -n 4
  fi
}

deepseek() {
  local m nk recipe
  for recipe in "$bf16" "$fp8"; do
    for nk in 2112,7168 576,7168 24576,1536 32768,512 7168,16384 4096,7168 7168,2048; do
      for m in 1 64 128 4096; do
        echo "m=$m,n=${nk%,*},k=${nk#*,},$recipe"
      done
    done
  done >"$out/deepseek.batch"
  batch deepseek "$out/deepseek.batch"
}

ragged() {
  python3 "$here/scripts/make-ragged-batch.py" --seed="${SEED:-1}" >"$out/ragged.batch"
  batch ragged "$out/ragged.batch"
}

accuracy() {
  local k
  for k in 128 512 2048 7168 16384 65536; do
    echo "m=128,n=256,k=$k,${fp8/d=bf16/d=f32}"
    echo "m=128,n=256,k=$k,${bf16/d=bf16/d=f32}"
  done >"$out/accuracy.batch"
  batch accuracy "$out/accuracy.batch"
  batch positive "$out/accuracy.batch" --data=positive
  local log
  for log in accuracy positive; do
    sed -nE 's/^PASS m=128,n=256,k=([0-9]+),a=(bf16|f8E4M3FN).*rel ([^ ]+).*/\2 K=\1 rel \3/p' \
      "$out/$log.log" | sort -V | tr '\n' ';'
    echo " ($log data)"
  done
}

repeat() {
  printf '%s\n' "m=1000,n=2112,k=7168,$fp8" "m=1000,n=2112,k=7168,$bf16" \
    "m=1,n=7168,k=2048,$fp8" "m=64,n=576,k=7168,$bf16" >"$out/repeat.batch"
  batch repeat "$out/repeat.batch" --repeat=100
}

# Prints where compute-sanitizer is; nothing without one.
find_sanitizer() {
  local tool=${SANITIZER:-$(command -v compute-sanitizer || true)} home
  for home in /usr/local/cuda*; do
    [ -n "$tool" ] || [ ! -x "$home/bin/compute-sanitizer" ] || tool=$home/bin/compute-sanitizer
  done
  [ -n "$tool" ] || echo "sanitizer  skipped: no compute-sanitizer" >&2
  echo "$tool"
}

realisations() {
  local list check code tool
  tool=$(find_sanitizer)
  for list in realisations register; do
    # Some register kernels spill, which is not what is looked for here.
    batch "$list" "$here/test/Emulator/Inputs/$list.batch" --repeat=100 --allow-slow
    [ -n "$tool" ] || continue
    for check in memcheck synccheck; do
      code=0
      "$tool" --tool "$check" --target-processes all --error-exitcode 9 "$run" \
        --batch="$here/test/Emulator/Inputs/$list.batch" --device=cuda --allow-slow \
        --time=false --timeout=120 >"$out/$list-$check.log" 2>&1 || code=$?
      printf '%-10s %s: %s, %s\n' "$check" "$list" \
        "$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$out/$list-$check.log" | tail -n 1)" \
        "$(grep -oE 'ERROR SUMMARY: .*' "$out/$list-$check.log" | sort | uniq -c | tr -s ' ' | tr '\n' ';')"
      [ $code -eq 0 ] || failed=1
    done
  done
}

sanitizer() {
  local tool check gemm code
  tool=$(find_sanitizer)
  [ -n "$tool" ] || return
  for check in memcheck synccheck; do
    local clean=0 total=0
    for gemm in "m=300,n=520,k=700,$bf16" "m=300,n=520,k=700,$fp8" "m=1,n=576,k=1000,$fp8" \
      "m=64,n=2112,k=512,$bf16" "m=257,n=129,k=136,${bf16/d=bf16/d=f32}" \
      "m=130,n=384,k=400,${fp8/d=bf16/d=f32},accumulate=true"; do
      total=$((total + 1))
      code=0
      "$tool" --tool "$check" --error-exitcode 9 "$run" --gemm="$gemm" --device=cuda \
        --time=false --timeout=120 >"$out/$check-$total.log" 2>&1 || code=$?
      if [ $code -eq 0 ]; then
        clean=$((clean + 1))
      else
        echo "  $check: $gemm ended with $code: $(grep -m1 -E '=========.*(Error|Invalid|Barrier|error)' "$out/$check-$total.log" | cut -c1-200)"
      fi
    done
    printf '%-10s %d of %d clean\n' "$check" "$clean" "$total"
    [ $clean -eq $total ] || failed=1
  done
}

# Measures a problem set and prints the summary lines.
measure() {
  local name=$1 code=0 begin=$SECONDS
  shift
  "$bench" --json="$out/$name.json" --commit="$commit" ${PEERS:+--peers="$PEERS"} "$@" >"$out/$name.log" 2>&1 || code=$?
  printf '%-10s %s (%d s)\n' "$name" "ended with $code" $((SECONDS - begin))
  [ $code -eq 0 ] || failed=1
  grep -E 'geomean|FAILED' "$out/$name.log" | cut -c1-300 | head -n 24
}

speed() {
  local set recipe
  for set in training-fp8 forward-bf16 heads-bf16-f32 squares; do
    measure "$set" --problems="$here/benchmarks/problems/$set.json"
  done
  # What the sets above leave out.
  for recipe in fp8-k-major fp8-tensor fp8-row; do
    measure "dense-$recipe" --problems="$here/benchmarks/problems/deepseek-dense.json" \
      --filter="$recipe"
  done
}

decode() {
  measure decode-dirty --problems="$here/benchmarks/problems/deepseek-decode.json" --l2=dirty --pause-ms=0
  measure decode-clean --problems="$here/benchmarks/problems/deepseek-decode.json" --l2=clean --pause-ms=0
}

sweep() {
  local recipe pass
  for recipe in fp8 bf16; do
    for pass in 1 2; do
      measure "sweep-$recipe-$pass" --problems="$here/benchmarks/sweeps/rows-1-to-300.json" \
        --filter="$recipe m=" --dynamic=m --baseline=none --pause-ms=0 --repeats=7 --verify=false
    done
    "$here/scripts/check-sweep.py" --limit=1.05 "$out/sweep-$recipe-1.json" \
      "$out/sweep-$recipe-2.json" || failed=1
  done
}

for step in $steps; do
  case $step in
  deepseek | ragged | accuracy | repeat | realisations | sanitizer | speed | decode | sweep) $step ;;
  *)
    echo "device-check: unknown step '$step'" >&2
    exit 2
    ;;
  esac
done
if [ $failed -ne 0 ]; then
  echo "device-check: FAILED; logs in $out"
  exit 1
fi
echo "device-check: passed"
