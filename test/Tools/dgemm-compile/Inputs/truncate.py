# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Feeds the beginnings of a file to a compiler, about two dozen of them.

import subprocess
import sys

compiler, path = sys.argv[1:]
with open(path, "rb") as file:
    whole = file.read()
# The last two bytes are a closing brace and a line end.
end = len(whole.rstrip()) - 1
refused, other = 0, []
for size in range(0, end, max(1, end // 24)):
    done = subprocess.run(
        [compiler, "-", "--emit=schedule"],
        input=whole[:size],
        capture_output=True,
    )
    if done.returncode == 1 and b"error:" in done.stderr:
        refused += 1
    else:
        other.append((size, done.returncode, done.stderr[-200:]))
for case in other:
    print(*case)
print("refused with a diagnostic:", refused)
print("anything else:", len(other))
