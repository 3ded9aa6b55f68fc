#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up test cases of a ctest run and prints `N passed, N failed, N skipped`.

usage: count_tests.py RESULTS CTEST_LOGS CTEST_STATUS

RESULTS holds the JUnit files the runners wrote, CTEST_LOGS is ctest's
Testing/Temporary folder. A test binary that ctest calls failed although no
case of it failed (it crashed, or was stopped) counts as one failure.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(file):
    """(passed, failed, skipped) of one JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (
            case.find("skipped") is not None
            or case.get("result") in ("skipped", "suppressed")
            or case.get("status") == "notrun"
        ):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    results, logs, status = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    counts = {}
    for file in sorted(results.glob("*.xml")):
        try:
            counts[file.stem] = count(file)
        except ElementTree.ParseError:
            counts[file.stem] = (0, 1, 0)
    failures = logs / "LastTestsFailed.log"
    if status and failures.exists():
        for line in failures.read_text().splitlines():
            name = line.split(":", 1)[-1]
            if counts.get(name, (0, 0, 0))[1] == 0:
                passed, _, skipped = counts.get(name, (0, 0, 0))
                counts[name] = (passed, 1, skipped)
    passed, failed, skipped = (sum(c[i] for c in counts.values()) for i in range(3))
    if status and not failed:
        failed = 1
    (results / "summary").write_text(f"{passed} {failed} {skipped}\n")
    for name, (good, bad, left) in sorted(counts.items()):
        print(f"{name:28} {good:5} passed {bad:4} failed {left:4} skipped")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
