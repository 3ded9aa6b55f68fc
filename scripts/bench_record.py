# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Records of `dgemm-bench --json`, for the scripts that judge them."""

import json
import pathlib
import sys


def fail(message):
    """Ends the script with 2: its input is bad."""
    print(f"{pathlib.Path(sys.argv[0]).stem}: {message}", file=sys.stderr)
    sys.exit(2)


def load(path):
    """The record; checks the format version."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError) as error:
        fail(f"cannot read '{path}': {error}")
    if not isinstance(record, dict) or record.get("version") != 1:
        fail(f"'{path}': expected a record of version 1")
    return record


def measured(row):
    """Candidates of a row that have a time."""
    return [c for c in row.get("candidates", []) if c.get("us", 0) > 0]


def best(row):
    """dgemm's fastest candidate, or None."""
    own = [c for c in measured(row) if c["name"].startswith("dgemm")]
    return min(own, key=lambda c: c["us"]) if own else None
