# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Broken variants of an IR file, one after another with split markers: the file
# cut off at many places, and the file with one token deleted, doubled or
# replaced. Deterministic: the same arguments print the same text.

import random
import re
import sys

REPLACEMENTS = [
    "0", "-1", "2147483648", "9223372036854775808", "0x10", "1.5", "?", "_", "x",
    "<", ">", "[", ")", "tensor", "f64", "index", "%nowhere", '"', "//", "@none",
]  # fmt: skip


def main():
    path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path) as handle:
        text = re.sub(r"//.*", "", handle.read())
    rng = random.Random(seed)
    variants = []
    for index in range(count):
        variants.append(text[: len(text) * index // count])
    tokens = re.findall(r"\s+|[A-Za-z_%#@][\w.]*|\d+|.", text)
    solid = [i for i, token in enumerate(tokens) if not token.isspace()]
    for _ in range(count):
        at = rng.choice(solid)
        changed = list(tokens)
        kind = rng.randrange(4)
        if kind == 0:
            changed[at] = ""
        elif kind == 1:
            changed[at] += changed[at]
        elif kind == 2:
            changed[at] = rng.choice(REPLACEMENTS)
        else:
            changed[at] = tokens[rng.choice(solid)]
        variants.append("".join(changed))
    sys.stdout.write("\n// -----\n".join(variants))


main()
