# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Assembles the kernel of every problem of the benchmark sets:
#
#   check-problem-sets.py DGEMM_COMPILE FOLDER_OF_SETS
#
# Problems whose kernels cannot differ in what ptxas sees (same recipe, same
# schedules, same raggedness) are assembled once.

import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

compiler, folder = sys.argv[1:]


def problems():
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        problem_set = json.loads(path.read_text())
        shapes = [tuple(shape) for shape in problem_set.get("shapes", [])]
        for m in problem_set.get("m", []):
            shapes += [(m, n, k) for n, k in problem_set["nk"]]
        # One table of kernels over M for each pair of N and K.
        shapes += [("?", n, k) for n, k in sorted({s[1:] for s in shapes})]
        for recipe in problem_set["recipes"].values():
            for m, n, k in shapes:
                yield (m, n, k, recipe)


def compile_problem(problem, *options):
    m, n, k, recipe = problem
    return subprocess.run(
        [compiler, f"--gemm=m={m},n={n},k={k},{recipe}", "--cache-dir=none", *options],
        capture_output=True,
        text=True,
    )


def kernel_key(problem):
    """What ptxas may see of a problem, or None when no schedule was found."""
    done = compile_problem(problem, "--emit=schedule")
    if done.returncode != 0:
        return problem, done.stderr
    schedules = re.findall(r"#dgemm\.schedule<([^>]*)>", done.stdout)
    # The raster group is an argument of the kernel.
    schedules = [re.sub(r"(, )?raster = \w+ group \d+", "", s) for s in schedules]
    _, n, k, recipe = problem
    tiles = [re.match(r"tile = (\d+)x(\d+)x(\d+)", s).groups() for s in schedules]
    ragged = [(n % int(tile[1]), k % int(tile[2]) != 0) for tile in tiles]
    return (recipe, tuple(schedules), tuple(ragged)), None


def assemble(problem):
    done = compile_problem(problem, "--emit=cubin", "-o", os.devnull)
    return problem, done.returncode, done.stderr


def main():
    everything = sorted(set(problems()), key=str)
    distinct, failures = {}, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem, (key, error) in zip(everything, pool.map(kernel_key, everything)):
            if error:
                failures.append((problem, error))
            else:
                distinct.setdefault(key, problem)
        for problem, code, error in pool.map(assemble, distinct.values()):
            if code != 0:
                failures.append((problem, error))
    for (m, n, k, recipe), error in failures:
        print(f"m={m},n={n},k={k},{recipe}: {error.strip()}")
    print("problems:", len(everything))
    print("distinct kernels:", len(distinct))
    print("failed:", len(failures))
    return 1 if failures else 0


sys.exit(main())
