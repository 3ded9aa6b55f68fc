#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Looks for cliffs in records of `dgemm-bench --json` over many M.

More rows are more work: a GEMM of few rows that takes longer than one of more
rows, by more than --noise, should have been computed like that one. What
disturbs a measurement may last through all samples of one size, so a size that
stands in several records counts with the least of its medians. Prints each
(recipe, N, K) with the number of such M and the worst of them; ends with 1 when
there is one beyond --limit, with 2 for bad input."""

import argparse
import sys

from bench_record import best, fail, load


def times(paths):
    """{(recipe, n, k): {m: us}} of dgemm's own candidates."""
    sweeps = {}
    for path in paths:
        for row in load(path)["rows"]:
            own = best(row)
            if not own:
                fail(f"'{path}': {row['gemm']}: no time")
            sweep = sweeps.setdefault((row["recipe"], row["n"], row["k"]), {})
            sweep[row["m"]] = min(own["us"], sweep.get(row["m"], own["us"]))
    return sweeps


def cliffs(sweep, noise):
    """(ratio, m, its us, faster m, its us) for each m beaten by a larger one."""
    found = []
    fastest = None
    for m, us in sorted(sweep.items(), reverse=True):
        if fastest and us > noise * fastest[1]:
            found.append((us / fastest[1], m, us, *fastest))
        if not fastest or us < fastest[1]:
            fastest = (m, us)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", nargs="+")
    parser.add_argument("--noise", type=float, default=1.05,
                        help="ratio of times that is not counted (1.05)")
    parser.add_argument("--limit", type=float, default=1.10,
                        help="ratio that is an error: medians of one record scatter (1.10)")
    options = parser.parse_args()
    failed = False
    for (recipe, n, k), sweep in sorted(times(options.record).items()):
        found = cliffs(sweep, options.noise)
        line = f"{recipe} n={n} k={k}: {len(sweep)} sizes, {len(found)} slower than a larger one"
        if found:
            ratio, m, us, larger, least = max(found)
            line += f", worst m={m} {us:.2f} us against m={larger} {least:.2f} us: {ratio:.3f}"
            failed |= ratio > options.limit
        print(line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
