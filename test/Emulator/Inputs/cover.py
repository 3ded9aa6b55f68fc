# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs random ragged (shape, schedule) pairs on the emulator until a given number
# of them was executed, and checks three things: every executed pair is right and
# without a finding; every other pair was refused in words; the executed pairs
# cover each pair of values of the axes below, except those that no schedule
# can combine.
#
# Usage: cover.py dgemm-run COUNT SEED
# The test suite runs 500 pairs, scripts/emulator-cover.sh as many as asked for.

import itertools
import random
import re
import subprocess
import sys
import tempfile

AXES = {
    # The last two have a scale for each row; "fast" never promotes.
    "recipe": ["bf16", "fp8 k-major", "fp8 m-major", "fp8 tensor", "fp8 row", "fp8 fast row"],
    "rows": ["few", 64, 128, 256],
    "columns": [8, 64, 96, 128, 176, 256],
    "swizzle": [0, 64, 128],  # of D in shared memory, which only TMA stores use
    "stages": [2, 3, 4],
    "split K": ["1", "2 cluster", "4 cluster", "3 workspace", "3 stream_k"],
    "split": ["1 cooperative", "2 cooperative", "2 pingpong"],
    "epilogue": ["tma", "vector", "accumulate"],
    "output": ["bf16", "f32"],
    "form": ["plain", "swap_ab"],
}

REFUSED = r"illegal schedule:|realised|cannot be used|it needs persistent"


def impossible(one, other):
    """Whether no schedule has both (axis, value) pairs, by the rules of
    docs/schedule.md and the limits of sm_90a."""
    both = dict([one, other])

    def has(**wanted):
        return all(both.get(axis) in values for axis, values in wanted.items())

    promoted = AXES["recipe"][1:5]
    clusters = ["2 cluster", "4 cluster"]
    return (
        # swap-AB stores its own rows, is never ping-pong and has no D = C + A.B.
        has(form=["swap_ab"], split=["2 pingpong"])
        or has(form=["swap_ab"], epilogue=["tma", "accumulate"])
        or has(form=["swap_ab"], rows=[64, 128, 256])
        or has(form=["swap_ab"], columns=[8, 96, 176, 256])
        # Only swap-AB has tiles of fewer than 64 rows.
        or has(rows=["few"], form=["plain"])
        or has(rows=["few"], split=["2 pingpong"])
        or has(rows=["few"], epilogue=["tma", "accumulate"])
        or has(rows=["few"], columns=[8, 96, 176, 256])
        or has(rows=["few"], swizzle=[64, 128])
        # Whoever has a part of K is cooperative.
        or has(**{"split K": AXES["split K"][1:]}, split=["2 pingpong"])
        or has(**{"split K": clusters}, epilogue=["tma"])
        # 256 rows need two consumers on one tile; ping-pong holds a whole one.
        or has(rows=[256], split=["1 cooperative", "2 pingpong"])
        or has(rows=[64], split=["2 cooperative"])
        or has(split=["2 pingpong"], recipe=promoted)
        or has(rows=[256], columns=[256])
        or has(swizzle=[64, 128], epilogue=["vector", "accumulate"])
        or has(swizzle=[0], epilogue=["tma"])
        or has(swizzle=[64, 128], **{"split K": clusters})
        or has(swizzle=[64, 128], form=["swap_ab"])
        # What the shared memory of an SM does not hold.
        or has(columns=[256], **{"split K": ["4 cluster"]})
        # A row of eight BF16 is narrower than either swizzle.
        or has(columns=[8], epilogue=["tma"])
        or has(columns=[8], swizzle=[64, 128])
    )


def candidate(rng, wanted):
    pick = rng.choice
    while True:
        axes = {axis: wanted.get(axis, pick(AXES[axis])) for axis in AXES}
        if not any(impossible(*pair) for pair in itertools.combinations(axes.items(), 2)):
            break
    m, n = rng.randint(1, 300), rng.randint(1, 300)
    load_rows = axes["form"] == "plain" and rng.random() < 0.2
    if load_rows:
        m = rng.randint(1, axes["rows"])
    k = rng.randint(1, 700)
    fp8 = axes["recipe"].startswith("fp8")
    padded_k = -(-k // 16) * 16
    padded_n = -(-n // 8) * 8
    kind = "f8E4M3FN" if fp8 else "bf16"
    problem = (
        f"m={m},n={n},k={k},a={kind},b={kind},d={axes['output']},"
        f"lda={padded_k},ldb={padded_k},ldd={padded_n}"
    )
    fast = axes["recipe"] == "fp8 fast row"
    if axes["recipe"] == "fp8 tensor":
        problem += ",scale_a=tensor,scale_b=tensor"
    elif axes["recipe"].endswith("row"):
        # Mostly both; else one for the whole other operand.
        kinds = pick([("row", "row"), ("row", "row"), ("row", "tensor"), ("tensor", "row")])
        problem += f",scale_a={kinds[0]},scale_b={kinds[1]}"
        problem += ",fast_accumulate=true" if fast else ""
    elif fp8:
        major = axes["recipe"][4]
        problem += f",scale_a=1x128,scale_b=128x128,scale_a_major={major}"
    if axes["epilogue"] == "accumulate":
        problem += f",accumulate=true,ldc={padded_n}"
    swap = axes["form"] == "swap_ab"
    rows = pick([8, 16, 32]) if swap else axes["rows"]
    store = "tma" if axes["epilogue"] == "tma" else "vector"
    consumers = axes["split"]
    # Half a swizzle span of K now and then, where the schedule can have it.
    tensor = axes["recipe"] == "fp8 tensor"
    half = not swap and (tensor or not fp8) and rng.random() < 0.25
    depth = (128 if fp8 else 64) // (2 if half else 1)
    split = axes["split K"]
    persistent = pick(["true", "false"])
    if split != "1" or swap:
        persistent = "true" if split.endswith("stream_k") else "false"
    fields = [
        f"tile = {rows}x{axes['columns']}x{depth}",
        f"consumers = {consumers}",
        f"stages = {axes['stages']}",
        f"regs = [{'0, 0' if consumers[0] == '1' or swap else '24, 240'}]",
        f"store = {store}",
        f"persistent = {persistent}",
    ]
    if fp8:
        fields.append(f"promote = {0 if fast else depth}")
        if axes["columns"] >= 128 and not swap and not half and rng.random() < 0.6:
            fields.append(f"n_blocks = 2{pick(['', ' overlapped'])}")
    if split != "1":
        fields.append(f"split_k = {split}")
    if load_rows:
        fields.append(f"load_rows = {-(-m // 8) * 8}")
    if swap:
        fields.append("form = swap_ab")
    elif axes["swizzle"] or half:
        operands = 64 if half else 128
        fields.append(f"swizzle = [{operands}, {operands}, {axes['swizzle'] or 128}]")
    dynamic = "" if rng.random() < 0.6 else pick(["; dynamic=m", "; dynamic=mn"])
    return axes, f"{problem} ; {', '.join(fields)} {dynamic}"


def run(program, lines, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".batch") as batch:
        batch.write("\n".join(lines) + "\n")
        batch.flush()
        command = [program, "--device=emulator", f"--batch={batch.name}",
                   f"--seed={seed}", f"--emulator-seed={seed}"]
        command.append(f"--order={['lazy', 'random', 'eager'][seed % 3]}")
        output = subprocess.run(command, capture_output=True, text=True)
    results = [
        line for line in output.stdout.splitlines()
        if line.startswith(("PASS ", "FAIL "))
    ]
    if len(results) != len(lines):
        sys.exit(f"{len(lines)} cases gave {len(results)} results\n{output.stdout}"
                 f"{output.stderr}")
    return results


def pairs_of(axes):
    return {frozenset(pair) for pair in itertools.combinations(axes.items(), 2)}


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    missing = set()
    for one, other in itertools.combinations(AXES, 2):
        for a, b in itertools.product(AXES[one], AXES[other]):
            if not impossible((one, a), (other, b)):
                missing.add(frozenset([(one, a), (other, b)]))
    total, executed, refused, wrong = len(missing), 0, 0, []
    uses = {(axis, value): 0 for axis in AXES for value in AXES[axis]}
    for batch in range(2 + count // 20):
        if executed >= count and not missing:
            break
        cases = []
        targets = sorted(missing, key=lambda pair: sorted(map(str, pair)))
        for _ in range(120):
            wanted = dict(rng.choice(targets)) if targets and rng.random() < 0.7 else {}
            cases.append(candidate(rng, wanted))
        results = run(program, [line for _, line in cases], seed + batch)
        print(f"executed {executed}, refused {refused}, to cover {len(missing)}", flush=True)
        for (axes, _), result in zip(cases, results):
            if result.startswith("PASS "):
                executed += 1
                missing -= pairs_of(axes)
                for item in axes.items():
                    uses[item] += 1
            elif re.search(REFUSED, result):
                refused += 1
            else:
                wrong.append(result)
    print(f"executed {executed}, refused {refused}, wrong {len(wrong)}; "
          f"pairs covered {total - len(missing)} of {total}")
    for line in wrong[:20]:
        print("wrong:", line)
    for pair in sorted(missing, key=lambda pair: sorted(map(str, pair))):
        print("not covered:", " with ".join(f"{a} {v}" for a, v in sorted(pair)))
    rare = [item for item, uses_of in uses.items() if uses_of < 2]
    print("used less than twice:", rare)
    sys.exit(1 if wrong or missing or rare or executed < count else 0)


main()
