#!/usr/bin/env python3
# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of the README's `sh` blocks, in order.

usage: run_readme.py [--skip COMMAND]...

Each line is one command, run by bash in the repository's root. A command named
by --skip is left out (CI runs it elsewhere). Exits 1 at the first that fails.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commands():
    text = (ROOT / "README.md").read_text()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.splitlines():
            if line.strip() and not line.startswith("#"):
                yield line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skip", action="append", default=[])
    skip = parser.parse_args().skip
    count = 0
    for command in commands():
        if command in skip:
            continue
        print(f"$ {command}", flush=True)
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL)
        if done.returncode:
            print(f"README command failed with exit code {done.returncode}: {command}")
            return 1
        count += 1
    if not count:
        print("the README has no command to run")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
