# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes a journal of made-up measurements from what `dgemm-tune --top` lists on
# standard input: the time of a schedule is its prediction times FACTOR, and
# every tenth schedule hangs.
#
#   make-journal.py SOURCE_ROOT FACTOR [L2]

import json
import pathlib
import re
import sys

root, factor = pathlib.Path(sys.argv[1]), float(sys.argv[2])
l2 = sys.argv[3] if len(sys.argv) > 3 else "dirty"
header = (root / "include/dgemm/Support/Version.h").read_text()
generation = int(re.search(r"kKernelGeneration = (\d+)", header).group(1))
cmake = (root / "cmake/LLVMVersion.cmake").read_text()
llvm = re.search(r"DGEMM_LLVM_VERSION (\d+\.\d+)", cmake).group(1)
problem, place = "", 0
for line in sys.stdin:
    listed = re.match(r"\s+([\d.]+) us  (.*)", line)
    if not listed:
        problem = line.split(" ", 1)[1].strip() if line[0] != " " else problem
        continue
    place += 1
    hangs = place % 10 == 0
    us = 0 if hangs else float(listed.group(1)) * factor
    print(json.dumps({
        "format": 1, "problem": problem, "schedule": listed.group(2),
        "device": "H200", "l2": l2, "status": "hang" if hangs else "ok",
        "median_us": us, "min_us": us, "spread": 0, "samples": 20,
        "predicted_us": 0, "model_pick_us": 0, "date": "", "dgemm": "0.1.0",
        "llvm": llvm, "ptxas": "", "generation": generation}))
