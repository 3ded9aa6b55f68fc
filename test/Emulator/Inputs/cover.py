# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs random ragged (shape, schedule) pairs on the emulator until a given number
# of them was executed, and checks three things: every executed pair is right and
# without a finding; every other pair was refused in words; the executed pairs
# cover each pair of values of the axes of each family below, except those that
# no schedule can combine.
#
# Usage: cover.py dgemm-run COUNT SEED

import functools
import itertools
import random
import re
import subprocess
import sys
import tempfile

REFUSED = r"illegal schedule:|realised|cannot be used|it needs persistent"

# Kernels with a ring of slots in shared memory.
RING = {
    # The last two have a scale for each row; "fast" never promotes.
    "recipe": ["bf16", "fp8 k-major", "fp8 m-major", "fp8 tensor", "fp8 row", "fp8 fast row"],
    "rows": ["few", 64, 128, 192, 256],
    "columns": [8, 64, 96, 128, 176, 256],
    "swizzle": [0, 64, 128],  # of D in shared memory, which only TMA stores use
    "stages": [2, 3, 4],
    "split K": ["1", "2 cluster", "4 cluster", "3 workspace", "3 stream_k"],
    "split": ["1 cooperative", "2 cooperative", "3 cooperative", "4 cooperative",
              "2 pingpong"],
    "turns": ["", " in_turn"],
    "epilogue": ["tma", "vector", "accumulate"],
    "output": ["bf16", "f32"],
    "form": ["plain", "swap_ab"],
    "cluster": ["1x1", "2x1", "2x1 multicast b", "4x1 multicast b", "1x2 multicast a",
                "1x4 multicast a", "2x2 multicast a", "2x2 multicast b"],
    "tiles": ["static", "dynamic"],
    "raster": ["along_m", "along_n"],
    "late sizes": ["", "m", "mn", "mnk"],
    "chains": ["1", "2", "2 overlapped", "2 K blocks", "2 K blocks overlapped"],
    "rows loaded": ["all", "some"],
}

# Kernels of mma.sync: each warp loads for itself.
REGISTER = {
    "recipe": ["bf16", "fp8 k-major", "fp8 m-major", "fp8 tensor", "fp8 row", "fp8 fast row"],
    "rows": [8, 16],
    "columns": [16, 32, 64],
    "warps": [1, 2, 3, 4, 8, 14],
    "stages": [1, 2, 4],
    "split K": ["1", "2 cluster", "4 cluster", "8 cluster"],
    "epilogue": ["vector", "accumulate"],
    "output": ["bf16", "f32"],
    "late sizes": ["", "m", "mn", "mnk"],
    "CTAs on an SM": [1, 2],
    "stream B": ["false", "true"],
}


def has(both, wanted):
    """Whether each axis in `wanted` has one of the values given for it."""
    return all(axis in both and both[axis] in values for axis, values in wanted.items())


@functools.cache
def no_ring(one, other):
    """Whether no schedule has both (axis, value) pairs, by the rules of
    include/dgemm/CostModel/Schedule.h and the limits of sm_90a."""
    both = dict([one, other])
    few = {"rows": ["few"]}
    swap = {"form": ["swap_ab"]}
    parts = {"split K": RING["split K"][1:]}
    pingpong = {"split": ["2 pingpong"]}
    turns = {"turns": [" in_turn"]}
    clusters = {"cluster": RING["cluster"][1:]}
    dynamic = {"tiles": ["dynamic"]}
    some = {"rows loaded": ["some"]}
    deep = {"chains": ["2 K blocks", "2 K blocks overlapped"]}
    multicast = {"cluster": [c for c in RING["cluster"] if "multicast" in c]}
    unpromoted = {"recipe": ["bf16", "fp8 fast row"]}
    rules = [
        # swap-AB stores its own rows, is never ping-pong and has no D = C + A.B.
        {**swap, **pingpong},
        {**swap, "epilogue": ["tma", "accumulate"]},
        {**swap, "rows": [64, 128, 192, 256]},
        {**swap, "columns": [8, 96, 176]},
        {**swap, "swizzle": [64, 128]},
        {**swap, **some},
        # Only swap-AB has tiles of fewer than 64 rows.
        {**few, "form": ["plain"]},
        {**few, **pingpong},
        {**few, "epilogue": ["tma", "accumulate"]},
        {**few, "columns": [8, 96, 176]},
        {**few, "swizzle": [64, 128]},
        {**few, **some},
        # Three consumers want 192 rows of the tensor core's.
        {**swap, "split": ["3 cooperative"]},
        {**few, "split": ["3 cooperative"]},
        {"rows": [64], "split": ["2 cooperative", "3 cooperative", "4 cooperative"]},
        {"rows": [128], "split": ["3 cooperative", "4 cooperative"]},
        {"rows": [192], "split": ["2 cooperative", "4 cooperative", "2 pingpong"]},
        {"rows": [256], "split": ["1 cooperative", "3 cooperative", "2 pingpong"]},
        # Whoever has a part of K is cooperative.
        {**parts, **pingpong},
        {**parts, **clusters},
        {**parts, **dynamic},
        {**clusters, **dynamic},
        {"split K": ["2 cluster", "4 cluster"], "epilogue": ["tma"]},
        {"split K": ["2 cluster", "4 cluster"], "swizzle": [64, 128]},
        # Registers.
        {**pingpong, "recipe": RING["recipe"][1:5]},
        {**pingpong, "chains": ["2 overlapped", "2 K blocks overlapped"]},
        {"columns": [176], "chains": ["2 K blocks overlapped"]},
        {"rows": [256], "columns": [256]},
        {"rows": [192], "columns": [256]},
        {"split": ["3 cooperative"], "columns": [256]},
        {"split": ["4 cooperative"], "columns": [176]},
        # What only a TMA store has.
        {"swizzle": [64, 128], "epilogue": ["vector", "accumulate"]},
        {"swizzle": [0], "epilogue": ["tma"]},
        # A row of eight BF16 is narrower than either swizzle.
        {"columns": [8], "epilogue": ["tma"]},
        {"columns": [8], "swizzle": [64, 128]},
        # What the shared memory of an SM does not hold.
        {"columns": [256], "split K": ["4 cluster"]},
        # Slices of a copy are whole groups of eight rows.
        {"columns": [176], "cluster": ["4x1 multicast b"]},
        {"columns": [8], "cluster": ["2x1 multicast b", "4x1 multicast b",
                                     "2x2 multicast b"]},
        {**some, "cluster": ["1x2 multicast a", "1x4 multicast a", "2x2 multicast a"]},
        {"columns": [8], "chains": ["2", "2 overlapped"]},
        # A slot of two K blocks: K is known and the copies are not shared.
        {**deep, **multicast},
        {**deep, "late sizes": ["mnk"]},
        {**unpromoted, "chains": ["2 overlapped", "2 K blocks overlapped"]},
        # One chain at a time of each of several consumers, to be promoted.
        {**turns, **unpromoted},
        {**turns, **pingpong},
        {**turns, "split": ["1 cooperative"]},
        {**turns, "rows": [64]},
        {**turns, "chains": ["2 overlapped", "2 K blocks overlapped"]},
    ]
    return any(has(both, rule) for rule in rules)


def no_register(one, other):
    """The same for kernels in register form: some schedule has each pair."""
    return False


def draw(rng, axes, impossible, wanted):
    """Random values of all axes that go together two by two, with those of
    `wanted` unless three of them cannot be had."""
    while True:
        drawn = dict(wanted) if rng.random() < 0.95 else {}
        for axis in rng.sample(sorted(axes), len(axes)):
            if axis in drawn:
                continue
            possible = [
                value for value in axes[axis]
                if not any(impossible(pair, (axis, value)) for pair in drawn.items())
            ]
            if not possible:
                break
            drawn[axis] = rng.choice(possible)
        else:
            return drawn


def problem_text(rng, axes, m, n, k):
    """--gemm for the recipe, output and epilogue of `axes`."""
    pick = rng.choice
    recipe = axes["recipe"]
    fp8 = recipe.startswith("fp8")
    padded_k = -(-k // 16) * 16
    padded_n = -(-n // 8) * 8
    kinds = ("bf16", "bf16")
    if fp8:
        kinds = (pick(["f8E4M3FN", "f8E4M3FN", "f8E4M3FN", "f8E5M2"]), "f8E4M3FN")
    text = (
        f"m={m},n={n},k={k},a={kinds[0]},b={kinds[1]},d={axes['output']},"
        f"lda={padded_k},ldb={padded_k},ldd={padded_n}"
    )
    if recipe == "fp8 tensor":
        text += ",scale_a=tensor,scale_b=tensor"
    elif recipe.endswith("row"):
        # Mostly both; else one for the whole other operand.
        kinds = pick([("row", "row"), ("row", "row"), ("row", "tensor"), ("tensor", "row")])
        text += f",scale_a={kinds[0]},scale_b={kinds[1]}"
        text += ",fast_accumulate=true" if recipe == "fp8 fast row" else ""
    elif fp8:
        text += f",scale_a=1x128,scale_b=128x128,scale_a_major={recipe[4]}"
    if axes["epilogue"] == "accumulate":
        text += f",accumulate=true,ldc={padded_n}"
    return text


def line(problem, fields, late):
    return f"{problem} ; {', '.join(fields)}" + (f" ; dynamic={late}" if late else "")


def ring_case(rng, axes):
    pick = rng.choice
    m, n = rng.randint(1, 300), rng.randint(1, 300)
    if axes["rows loaded"] == "some":
        m = rng.randint(1, axes["rows"])
    recipe = axes["recipe"]
    fp8 = recipe.startswith("fp8")
    swap = axes["form"] == "swap_ab"
    deep = axes["chains"].startswith("2 K blocks")
    # Half a swizzle span of K now and then, where the schedule can have it.
    half = not swap and (recipe == "fp8 tensor" or not fp8) and rng.random() < 0.25
    depth = (128 if fp8 else 64) // (2 if half else 1)
    k = depth * rng.randint(1, 6) if deep else rng.randint(1, 700)
    if swap:
        slices = int(axes["cluster"][2]) if axes["cluster"].endswith("a") else 1
        rows = pick([r for r in (8, 16, 32) if r % (8 * slices) == 0])
    else:
        rows = axes["rows"]
    consumers = axes["split"]
    registers = {"1": "0, 0", "2": "24, 240", "3": "32, 160", "4": "24, 112"}[consumers[0]]
    one_part = axes["split K"] == "1"
    if axes["tiles"] == "dynamic" or axes["split K"].endswith("stream_k"):
        persistent = "true"
    else:
        persistent = pick(["true", "false"]) if one_part else "false"
    fields = [
        f"tile = {rows}x{axes['columns']}x{depth}",
        f"consumers = {consumers}{axes['turns']}",
        f"stages = {axes['stages']}",
        f"regs = [{'0, 0' if swap else registers}]",
        f"store = {'tma' if axes['epilogue'] == 'tma' else 'vector'}",
        f"persistent = {persistent}",
        f"raster = {axes['raster']} group {pick([1, 2, 3, 5, 8])}",
        f"tiles = {axes['tiles']}",
    ]
    if fp8:
        fields.append(f"promote = {0 if recipe == 'fp8 fast row' else depth}")
    chains = axes["chains"]
    if deep:
        fields.append("kblocks_per_stage = 2")
        if chains.endswith("overlapped"):
            fields.append("n_blocks = 1 overlapped")
    elif chains != "1":
        fields.append(f"n_blocks = {chains}")
    if axes["cluster"] != "1x1":
        fields.append(f"cluster = {axes['cluster']}")
    if not one_part:
        fields.append(f"split_k = {axes['split K']}")
    if axes["rows loaded"] == "some":
        fields.append(f"load_rows = {-(-m // 8) * 8}")
    if swap:
        fields.append("form = swap_ab")
    elif axes["swizzle"] or half:
        operands = 64 if half else 128
        fields.append(f"swizzle = [{operands}, {operands}, {axes['swizzle'] or 128}]")
    return line(problem_text(rng, axes, m, n, k), fields, axes["late sizes"])


def register_case(rng, axes):
    fp8 = axes["recipe"].startswith("fp8")
    m, n, k = rng.randint(1, 40), rng.randint(1, 200), rng.randint(1, 2100)
    blocks = axes["recipe"] in ("fp8 k-major", "fp8 m-major")
    depth = 128 if blocks else rng.choice([64, 128] if fp8 else [32, 64, 128])
    fields = [
        f"tile = {axes['rows']}x{axes['columns']}x{depth}",
        f"consumers = {axes['warps']} cooperative",
        f"stages = {axes['stages']}",
        f"ctas_per_sm = {axes['CTAs on an SM']}",
        f"stream_b = {axes['stream B']}",
        f"raster = {rng.choice(['along_m', 'along_n'])} group {rng.choice([1, 3, 8])}",
        "form = register, store = vector, persistent = false",
    ]
    if fp8:
        fields.append(f"promote = {0 if axes['recipe'] == 'fp8 fast row' else depth}")
    if axes["split K"] != "1":
        fields.append(f"split_k = {axes['split K']}")
    return line(problem_text(rng, axes, m, n, k), fields, axes["late sizes"])


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


class Family:
    """What has been executed of one kind of kernel."""

    def __init__(self, name, axes, impossible, case):
        self.name, self.axes, self.impossible, self.case = name, axes, impossible, case
        self.missing = set()
        for one, other in itertools.combinations(axes, 2):
            for a, b in itertools.product(axes[one], axes[other]):
                if not impossible((one, a), (other, b)):
                    self.missing.add(frozenset([(one, a), (other, b)]))
        self.total = len(self.missing)
        self.uses = {(axis, value): 0 for axis in axes for value in axes[axis]}

    def cases(self, rng, count):
        targets = sorted(self.missing, key=lambda pair: sorted(map(str, pair)))
        for _ in range(count):
            wanted = dict(rng.choice(targets)) if targets and rng.random() < 0.7 else {}
            axes = draw(rng, self.axes, self.impossible, wanted)
            yield self, axes, self.case(rng, axes)

    def executed(self, axes):
        self.missing -= pairs_of(axes)
        for item in axes.items():
            self.uses[item] += 1

    def print_missing(self):
        for pair in sorted(self.missing, key=lambda pair: sorted(map(str, pair))):
            print(f"not covered, {self.name}:",
                  " with ".join(f"{a} {v}" for a, v in sorted(pair)))


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    families = [
        Family("ring", RING, no_ring, ring_case),
        Family("register", REGISTER, no_register, register_case),
    ]
    missing = sum(len(family.missing) for family in families)
    executed, refused, wrong = 0, 0, []
    for batch in range(8 + count // 15):
        if executed >= count and not missing:
            break
        cases = [*families[0].cases(rng, 50), *families[1].cases(rng, 10)]
        results = run(program, [text for _, _, text in cases], seed + batch)
        for (family, axes, _), result in zip(cases, results):
            if result.startswith("PASS "):
                executed += 1
                family.executed(axes)
            elif re.search(REFUSED, result):
                refused += 1
            else:
                wrong.append(result)
                print("wrong:", result)
        missing = sum(len(family.missing) for family in families)
        print(f"executed {executed}, refused {refused}, wrong {len(wrong)}, "
              f"to cover {missing}")
        if missing <= 8:
            for family in families:
                family.print_missing()
        sys.stdout.flush()
    total = sum(family.total for family in families)
    print(f"executed {executed}, refused {refused}, wrong {len(wrong)}; "
          f"pairs covered {total - missing} of {total}")
    rare = []
    for family in families:
        family.print_missing()
        rare += [item for item, uses in family.uses.items() if uses < 2]
    print("used less than twice:", rare)
    sys.exit(1 if wrong or missing or rare or executed < count else 0)


main()
