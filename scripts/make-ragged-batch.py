#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a batch for `dgemm-run --batch`: random ragged GEMMs, and packed ones
whose rows TMA cannot take, which must be refused by name.

Every M, N and K lies in 1..max; BF16 and FP8 operands, BF16 and FP32 results,
sometimes D = C + A x B, sometimes M-major scales, sometimes rows longer than
they need be. Most cases run a kernel whose sizes are run-time values."""

import argparse
import random

BLOCK = "a=f8E4M3FN,b=f8E4M3FN,d={d},scale_a=1x128,scale_b=128x128"
TENSOR = "a=f8E4M3FN,b=f8E4M3FN,d={d},scale_a=tensor,scale_b=tensor"
RECIPES = {"bf16": "a=bf16,b=bf16,d={d}", "fp8": BLOCK, "fp8-tensor": TENSOR}


def pad(length, multiple):
    """The smallest multiple that is at least this long."""
    return -(-length // multiple) * multiple


def ragged_case(rng, largest):
    """One line that must give right numbers."""
    m, n, k = (rng.randint(1, largest) for _ in range(3))
    kind = rng.choices(list(RECIPES), weights=[4, 5, 1])[0]
    result = rng.choice(["bf16", "f32"])
    text = f"m={m},n={n},k={k}," + RECIPES[kind].format(d=result)
    if kind == "fp8" and rng.random() < 0.3:
        text += ",scale_a_major=m"
    if rng.random() < 0.25:
        text += ",accumulate=true"
    per_row = 8 if kind == "bf16" else 16
    if rng.random() < 0.3:
        text += f",lda={pad(k, per_row) + per_row * rng.randint(1, 9)}"
    if rng.random() < 0.3:
        text += f",ldb={pad(k, per_row) + per_row * rng.randint(1, 9)}"
    if rng.random() < 0.3:
        unit = 8 if result == "bf16" else 4
        text += f",ldd={pad(n, unit) + unit * rng.randint(1, 9)}"
    return text + rng.choice(["; dynamic=mnk"] * 3 + ["; dynamic=m", ""])


def misaligned_case(rng, largest):
    """One line with packed rows that are no multiple of 16 bytes."""
    kind = rng.choice(["bf16", "fp8"])
    per_row = 8 if kind == "bf16" else 16
    k = rng.choice([x for x in range(1, largest + 1) if x % per_row])
    m, n = rng.randint(2, largest), rng.randint(2, largest)
    text = f"m={m},n={n},k={k}," + RECIPES[kind].format(d="f32")
    return text + ",packed; dynamic=mnk; expect=multiple of 16 bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--misaligned", type=int, default=20)
    parser.add_argument("--max", type=int, default=1100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.max < 2 or options.count < 0 or options.misaligned < 0:
        parser.error("--max must be at least 2, counts at least 0")
    rng = random.Random(options.seed)
    for _ in range(options.count):
        print(ragged_case(rng, options.max))
    for _ in range(options.misaligned):
        print(misaligned_case(rng, options.max))


if __name__ == "__main__":
    main()
