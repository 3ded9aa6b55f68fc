# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Reads a bundle as any program would and prints what it holds.

import base64
import json
import sys

with open(sys.argv[1]) as file:
    bundle = json.load(file)
metadata = bundle["metadata"]
entries = [kernel["entry"] for kernel in metadata["kernels"]]
cubin = base64.b64decode(bundle["cubin"], validate=True)
print("format", bundle["format"], bundle["version"])
print("last row takes any M:", metadata["dispatch"][-1]["max_m"] == -1)
print("entries in PTX:", all(f".entry {e}(" in bundle["ptx"] for e in entries))
print("cubin is ELF:", cubin[:4] == b"\x7fELF")
print(
    "resources of every kernel:",
    sorted(r["entry"] for r in bundle["resources"]) == sorted(entries),
)
