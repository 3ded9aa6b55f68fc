#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two records of `dgemm-bench --json` problem by problem.

A problem counts as slower or faster when its time changed by more than the
noise: the larger of --noise and the spread of the samples of both runs. Where
both records hold the same baseline, times are divided by it first, so that a
device at another clock does not look like a change of the compiler.
Ends with 1 when a problem got slower, wrong or lost, with 2 for bad input."""

import argparse
import math
import statistics
import sys

from bench_record import best, fail, load, measured


def by_problem(record):
    """The record's rows by (recipe, gemm text)."""
    return {(row["recipe"], row["gemm"]): row for row in record["rows"]}


def baseline(row):
    """The baseline that computes the same, or None."""
    same = [c for c in measured(row) if c.get("same_recipe")]
    return same[0] if same else None


def spread(candidate):
    """Relative standard error of the median of its samples."""
    samples = candidate.get("samples_us", [])
    if len(samples) < 3:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4)
    return 1.25 * (high - low) / 1.35 / math.sqrt(len(samples)) / candidate["us"]


def compare(old, new, noise, absolute):
    """Ratio new / old of the times, its noise bound, and what was divided by."""
    old_best, new_best = best(old), best(new)
    ratio = new_best["us"] / old_best["us"]
    parts = [spread(old_best), spread(new_best)]
    by = "time"
    if not absolute and baseline(old) and baseline(new):
        ratio /= baseline(new)["us"] / baseline(old)["us"]
        parts += [spread(baseline(old)), spread(baseline(new))]
        by = "baseline"
    return ratio, max(noise, 3 * math.sqrt(sum(x * x for x in parts))), by


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--noise", type=float, default=0.02,
                        help="smallest relative change that counts (0.02)")
    parser.add_argument("--absolute", action="store_true",
                        help="compare times as they are, without the baseline")
    parser.add_argument("--all", action="store_true",
                        help="list unchanged problems too")
    options = parser.parse_args()
    old_record, new_record = load(options.old), load(options.new)
    old, new = by_problem(old_record), by_problem(new_record)
    for field in ("device", "l2", "method"):
        if old_record.get(field) != new_record.get(field):
            print(f"note: {field} differs: {old_record.get(field)!r} and "
                  f"{new_record.get(field)!r}")
    counts = {"slower": 0, "faster": 0, "same": 0, "lost": 0, "gained": 0}
    logs = []
    for key in old:
        name = f"{key[0]:11} {key[1].split(',a=')[0]}"
        had = best(old[key]) is not None
        has = key in new and best(new[key]) is not None
        if not had and has:
            counts["gained"] += 1
            print(f"gained  {name}")
        if had and not has:
            counts["lost"] += 1
            why = new[key].get("error", "") if key in new else "not in the record"
            print(f"lost    {name}  {why}")
        if not (had and has):
            continue
        ratio, bound, by = compare(old[key], new[key], options.noise,
                                   options.absolute)
        logs.append(math.log(ratio))
        word = ("slower" if ratio > 1 + bound
                else "faster" if ratio < 1 - bound else "same")
        counts[word] += 1
        if word != "same" or options.all:
            print(f"{word:7} {name}  {best(old[key])['us']:.2f} -> "
                  f"{best(new[key])['us']:.2f} us, {by} ratio {ratio:.3f} "
                  f"(noise {bound:.3f})")
    if not logs and not counts["lost"]:
        fail("the records have no problem in common")
    mean = math.exp(sum(logs) / len(logs)) if logs else float("nan")
    print(", ".join(f"{n} {word}" for word, n in counts.items())
          + f"; geomean {mean:.4f}")
    sys.exit(1 if counts["slower"] or counts["lost"] else 0)


if __name__ == "__main__":
    main()
