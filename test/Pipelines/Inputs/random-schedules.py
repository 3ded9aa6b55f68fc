# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Functions with one matmul each, under random schedules and on random sizes
# (some of them 0, 1 or dynamic), with split markers between. About a third of
# the schedules is legal. Deterministic: the same arguments print the same text.

import random
import sys


def schedule(rng, fp8):
    pick = rng.choice
    consumers = pick([1, 1, 2, 2, 2])
    pingpong = consumers == 2 and rng.random() < 0.25
    rows = 64 * (1 if pingpong else consumers) * pick([1, 1, 1, 2])
    columns = pick([8, 16, 32, 64, 96, 128, 160, 176, 208, 256])
    fields = [
        f"tile = {rows}x{columns}x{128 if fp8 else 64}",
        f"consumers = {consumers} {'pingpong' if pingpong else 'cooperative'}",
        f"stages = {pick([2, 3, 4])}",
        f"regs = [{'0, 0' if consumers == 1 else '24, 240'}]",
    ]
    if fp8:
        fields.append(f"promote = {pick([128, 128, 128, 256])}")
    optional = [
        (0.3, f"n_blocks = {pick([1, 2, 2, 3])}{pick(['', ' overlapped'])}"),
        (0.1, f"kblocks_per_stage = {pick([1, 2, 4])}"),
        (0.3, f"swizzle = [128, 128, {pick([0, 32, 64, 128])}]"),
        (0.04, f"cluster = {pick(['2x1 multicast b', '1x2 multicast a', '2x1'])}"),
        (0.3, f"raster = {pick(['along_m', 'along_n'])} group {pick([1, 8, 16])}"),
        (0.03, f"split_k = {pick(['2 cluster', '4 workspace', '2 stream_k'])}"),
        (0.03, f"form = {pick(['swap_ab', 'register'])}"),
        (0.4, f"store = {pick(['tma', 'vector'])}"),
        (0.3, f"persistent = {pick(['true', 'false'])}"),
        (0.15, f"ctas_per_sm = {pick([1, 2, 3])}"),
    ]
    fields += [text for chance, text in optional if rng.random() < chance]
    return ", ".join(fields)


def blocks(size):
    return "?" if size == "?" else str(-(-int(size) // 128))


def function(rng, name):
    fp8 = rng.random() < 0.5
    m = rng.choice(["?", "0", "1", "64", "300"])
    n = rng.choice(["?", "0", "1", "8", "100", "512"])
    k = rng.choice(["?", "0", "1", "128", "200", "512"])
    element = rng.choice(["f8E4M3FN", "f8E5M2"]) if fp8 else "bf16"
    a = f"memref<{m}x{k}x{element}>"
    b = f"memref<{n}x{k}x{element}>"
    d = f"memref<{m}x{n}x{rng.choice(['bf16', 'f32'])}>"
    arguments = [f"%a: {a}", f"%b: {b}", f"%d: {d}"]
    scales = ""
    kind = rng.choice(["none", "tensor", "k_major", "mn_major", "k_major"])
    if fp8 and kind != "none":
        if kind == "tensor":
            by, sa, sb = ("tensor", "tensor"), "memref<f32>", "memref<f32>"
        else:
            rows = f"{m}x{blocks(k)}" if kind == "k_major" else f"{blocks(k)}x{m}"
            by = (f"1x128 {kind}", "128x128")
            sa, sb = f"memref<{rows}xf32>", f"memref<{blocks(n)}x{blocks(k)}xf32>"
        arguments += [f"%sa: {sa}", f"%sb: {sb}"]
        scales = f"scales(%sa by {by[0]}, %sb by {by[1]} : {sa}, {sb}) "
    accumulate = f"acc(%d : {d}) " if rng.random() < 0.3 else ""
    return (
        f"func.func @{name}({', '.join(arguments)}) {{\n"
        f"  dgemm.matmul nt ins(%a, %b : {a}, {b}) {scales}{accumulate}"
        f"outs(%d : {d})\n"
        f'    {{schedule = #dgemm.schedule<{schedule(rng, fp8)}>, source = "user"}}\n'
        "  return\n}\n"
    )


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    print("// -----\n".join(function(rng, f"f{i}") for i in range(count)))


main()
