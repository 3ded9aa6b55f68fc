#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the layers of the library.

A file may include headers of its own layer's group and of those the group is
built on. The plain libraries may not include MLIR or LLVM at all. Prints one
line per offence and exits 1 if there is any.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Group -> the groups it is built on (not transitive: written out on purpose,
# so that a new arrow is a visible change).
PLAIN = ["Support", "CostModel", "TuningDB", "Runtime", "Reference"]
IR = ["Dialect/Dgemm/IR", "Interfaces"]
ANALYSIS = IR + ["Analysis"]
ACTIONS = ANALYSIS + ["Dialect/Dgemm/Transforms", "Dialect/Dgemm/TransformOps", "Conversion"]
TOP = ACTIONS + ["Pipelines", "Registration"]
ENGINES = TOP + ["JIT", "Emulator"]
ALLOWED = {
    "Support": [],
    "CostModel": ["Support"],
    "TuningDB": ["Support", "CostModel"],
    "Runtime": ["Support", "CostModel"],
    "Reference": ["Support", "CostModel", "Runtime"],
    "Dialect/Dgemm/IR": ["Support", "CostModel", "Runtime"] + IR,
    "Interfaces": ["Support", "CostModel", "Runtime"] + IR,
    "Analysis": ["Support", "CostModel", "Runtime"] + ANALYSIS,
    "Dialect/Dgemm/Transforms": ["Support", "CostModel", "TuningDB", "Runtime"] + ACTIONS,
    "Dialect/Dgemm/TransformOps": ["Support", "CostModel", "Runtime"] + ACTIONS,
    "Conversion": ["Support", "CostModel", "Runtime"] + ACTIONS,
    "Pipelines": ["Support", "CostModel", "Runtime"] + TOP,
    "Registration": ["Support", "CostModel", "Runtime"] + TOP,
    "JIT": PLAIN + ENGINES,
    "Emulator": PLAIN + ENGINES,
    "Tuner": PLAIN + ENGINES,
    "CAPI": PLAIN + ENGINES + ["Tuner"],
    # What the command-line tools share, and so above everything but them.
    "Tools": PLAIN + ENGINES + ["Tuner"],
}
NO_MLIR = set(PLAIN)
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def group_of(path):
    """Layer group of a path below include/dgemm or lib, or None."""
    if re.fullmatch(r"InitAll\w+\.h", path):
        return "Registration"
    best = None
    for group in ALLOWED:
        if path == group or path.startswith(group + "/"):
            if best is None or len(group) > len(best):
                best = group
    return best


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "include/dgemm", "lib"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()
    return [f for f in listed if f.endswith((".h", ".cpp", ".td", ".inc"))]


def main():
    offences = []
    for name in sources():
        file = ROOT / name
        if not file.exists():
            continue
        inner = name.removeprefix("include/dgemm/").removeprefix("lib/")
        group = group_of(inner)
        if group is None:
            offences.append(f"{name}: belongs to no layer")
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            if group in NO_MLIR and re.match(r"(mlir|llvm)(-c)?/", header):
                offences.append(f"{name}:{number}: {group} must not include {header}")
            if not header.startswith("dgemm/"):
                continue
            target = group_of(header.removeprefix("dgemm/"))
            if target is None:
                offences.append(f"{name}:{number}: {header} belongs to no layer below {group}")
            elif target != group and target not in ALLOWED[group]:
                offences.append(f"{name}:{number}: {group} must not include {header} ({target})")
    print("\n".join(offences), end="\n" if offences else "")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
