# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs every pass on every level of a module, whether it belongs there or not:
#
#   every-pass.py DGEMM_OPT MODULE.mlir
#
# A pass may do nothing, do its work, or refuse with a diagnostic; anything else
# (a signal, a failure without a word) is counted.

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

opt, path = sys.argv[1:]

MODULE = "{}"
KERNEL = "dgemm.kernel({})"
DEVICE = "gpu.module({})"
# In the order of the pipeline, with what each runs on.
PASSES = [
    ("dgemm-verify-target", MODULE),
    ("dgemm-apply-tuning", MODULE),
    ("dgemm-select-schedule", MODULE),
    ("dgemm-create-kernel", MODULE),
    ("dgemm-insert-scaling", KERNEL),
    ("dgemm-materialize-pipeline", KERNEL),
    ("dgemm-specialize-warps", KERNEL),
    ("dgemm-partition-mma", KERNEL),
    ("dgemm-lower-epilogue", KERNEL),
    ("dgemm-insert-fences", KERNEL),
    ("dgemm-plan-smem", KERNEL),
    ("dgemm-verify-kernel", KERNEL),
    ("convert-dgemm-to-nvvm", MODULE),
    ("dgemm-lower-to-asm", DEVICE),
]


def run(text, name, anchor):
    return subprocess.run(
        [opt, "-", f"--pass-pipeline=builtin.module({anchor.format(name)})"],
        input=text,
        capture_output=True,
        text=True,
    )


with open(path) as file:
    text = file.read()
levels = [("input", text)]
for name, anchor in PASSES:
    done = run(text, name, anchor)
    if done.returncode != 0:
        print(f"in order, {name} fails: {done.stderr[-300:]}")
        break
    text = done.stdout
    levels.append((name, text))
print("levels:", len(levels))

jobs = [(level, text, *one) for level, text in levels for one in PASSES]
wrong = 0
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for job, done in zip(jobs, pool.map(lambda j: run(*j[1:]), jobs)):
        told = done.returncode == 1 and "error:" in done.stderr
        if done.returncode != 0 and not told:
            wrong += 1
            print(f"{job[2]} after {job[0]}: code {done.returncode}, {done.stderr[-300:]}")
print("crashed or silent:", wrong)
