# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured rows as StableHLO programs, and the simulator's times of them.

tpu_programs.py SPOKESHAVE [--half fit|held|both] [--set FIGURES] [--rows TEXT] prints how far
`spokeshave time` is from the measured rows, per band. The compiled command is SPOKESHAVE.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from tpu_rows import cells, rows, split


def _tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def _gemm(kernel: dict) -> str:
    """One product."""
    element = kernel["type"]
    a, b, c = (
        _tensor((kernel[rows], kernel[columns]), element)
        for rows, columns in (("m", "k"), ("k", "n"), ("m", "n"))
    )
    return (
        f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        f" : ({a}, {b}) -> {c}\n"
        f"  return %0 : {c}\n}}\n"
    )


def _elementwise(kernel: dict) -> str:
    """A sum of two arrays, a * x + y, or an exponential."""
    kind = _tensor((kernel["rows"], kernel["columns"]), kernel["type"])
    if kernel["inputs"] == 1:
        body = f"  %0 = stablehlo.exponential %a : {kind}\n"
    elif kernel["alu"] == 2:
        body = (
            f"  %s = stablehlo.constant dense<3.0> : {kind}\n"
            f"  %1 = stablehlo.multiply %s, %b : {kind}\n"
            f"  %0 = stablehlo.add %a, %1 : {kind}\n"
        )
    else:
        body = f"  %0 = stablehlo.add %a, %b : {kind}\n"
    second = f", %b: {kind}" if kernel["inputs"] == 2 else ""
    return f"func.func @main(%a: {kind}{second}) -> {kind} {{\n{body}  return %0 : {kind}\n}}\n"


def _layer_norm(kernel: dict) -> str:
    """Over the columns, with gain and bias, computed in f32."""
    rows_, columns, element = kernel["rows"], kernel["columns"], kernel["type"]
    x = _tensor((rows_, columns), element)
    wide, column = _tensor((rows_, columns), "f32"), _tensor((rows_,), "f32")
    gain, flat = _tensor((columns,), element), _tensor((columns,), "f32")

    def mean(name: str, of: str) -> str:
        return (
            f"  %{name}s = stablehlo.reduce({of} init: %zero) applies stablehlo.add across "
            f"dimensions = [1] : ({wide}, tensor<f32>) -> {column}\n"
            f"  %{name}m = stablehlo.divide %{name}s, %count : {column}\n"
        )

    def spread(name: str, of: str, kind: str, to: str, dimension: int) -> str:
        return (
            f"  %{name} = stablehlo.broadcast_in_dim {of}, dims = [{dimension}] : "
            f"({kind}) -> {to}\n"
        )

    return (
        f"func.func @main(%x: {x}, %g: {gain}, %b: {gain}) -> {x} {{\n"
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"  %count = stablehlo.constant dense<{columns}.0> : {column}\n"
        f"  %small = stablehlo.constant dense<1.0e-5> : {column}\n"
        f"  %w = stablehlo.convert %x : ({x}) -> {wide}\n"
        + mean("a", "%w")
        + spread("am2", "%am", column, wide, 0)
        + f"  %d = stablehlo.subtract %w, %am2 : {wide}\n"
        f"  %q = stablehlo.multiply %d, %d : {wide}\n"
        + mean("v", "%q")
        + f"  %e = stablehlo.add %vm, %small : {column}\n"
        f"  %r = stablehlo.rsqrt %e : {column}\n"
        + spread("r2", "%r", column, wide, 0)
        + f"  %n = stablehlo.multiply %d, %r2 : {wide}\n"
        f"  %g1 = stablehlo.convert %g : ({gain}) -> {flat}\n"
        f"  %b1 = stablehlo.convert %b : ({gain}) -> {flat}\n"
        + spread("g2", "%g1", flat, wide, 1)
        + spread("b2", "%b1", flat, wide, 1)
        + f"  %y = stablehlo.multiply %n, %g2 : {wide}\n"
        f"  %o = stablehlo.add %y, %b2 : {wide}\n"
        f"  %z = stablehlo.convert %o : ({wide}) -> {x}\n"
        f"  return %z : {x}\n}}\n"
    )


def _attention(kernel: dict) -> str:
    """Softmax of scaled scores, masked above the diagonal where causal, times the values."""
    batch, heads = kernel["batch"], kernel["heads"]
    groups = kernel.get("kv_heads", heads)
    queries, keys, dimension = kernel["queries"], kernel["keys"], kernel["dimension"]
    element = kernel["type"]
    # Queries that share keys are more rows of one product.
    share = heads // groups * queries
    q = _tensor((batch, groups, share, dimension), element)
    k = _tensor((batch, groups, keys, dimension), element)
    s = _tensor((batch, groups, share, keys), "f32")
    narrow = _tensor((batch, groups, share, keys), element)
    row = _tensor((batch, groups, share), "f32")
    flags = _tensor((batch, groups, share, keys), "i1")
    places = _tensor((batch, groups, share, keys), "i32")
    scale = dimension**-0.5
    text = (
        f"func.func @main(%q: {q}, %k: {k}, %v: {k}) -> {q} {{\n"
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        f"  %scale = stablehlo.constant dense<{scale:.9e}> : {s}\n"
        "  %s0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], "
        f"contracting_dims = [3] x [3] : ({q}, {k}) -> {s}\n"
        f"  %s1 = stablehlo.multiply %s0, %scale : {s}\n"
    )
    scores = "%s1"
    if kernel.get("causal"):
        text += (
            f"  %low = stablehlo.constant dense<0xFF800000> : {s}\n"
            f"  %i = stablehlo.iota dim = 2 : {places}\n"
            f"  %j = stablehlo.iota dim = 3 : {places}\n"
            f"  %on = stablehlo.compare GE, %i, %j, SIGNED : ({places}, {places}) -> {flags}\n"
            f"  %s2 = stablehlo.select %on, %s1, %low : {flags}, {s}\n"
        )
        scores = "%s2"
    return text + (
        f"  %m = stablehlo.reduce({scores} init: %least) applies stablehlo.maximum across "
        f"dimensions = [3] : ({s}, tensor<f32>) -> {row}\n"
        f"  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : ({row}) -> {s}\n"
        f"  %d = stablehlo.subtract {scores}, %m2 : {s}\n"
        f"  %e = stablehlo.exponential %d : {s}\n"
        "  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across "
        f"dimensions = [3] : ({s}, tensor<f32>) -> {row}\n"
        f"  %t2 = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] : ({row}) -> {s}\n"
        f"  %w = stablehlo.divide %e, %t2 : {s}\n"
        f"  %p = stablehlo.convert %w : ({s}) -> {narrow}\n"
        "  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], "
        f"contracting_dims = [3] x [2] : ({narrow}, {k}) -> {q}\n"
        f"  return %o : {q}\n}}\n"
    )


_PROGRAMS = {
    "gemm": _gemm,
    "elementwise": _elementwise,
    "layer_norm": _layer_norm,
    "attention": _attention,
}


def program(row: dict) -> str:
    """The row's program as StableHLO text."""
    return _PROGRAMS[row["kernel"]["kernel"]](row["kernel"])


def report(tool: str, row: dict, folder: str, settings: str = "") -> dict:
    """What `spokeshave time` says of a row, with the seconds of the whole command."""
    file = pathlib.Path(folder) / f"{abs(hash((row['chip'], row['key'])))}.mlir"
    file.write_text(program(row))
    chip = row["chip"] + (f":{settings}" if settings else "")
    begin = time.monotonic()
    command = [tool, "time", "--json", f"--chip={chip}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{row['chip']} {row['key']}: {done.stderr}")
    return json.loads(done.stdout) | {"seconds": time.monotonic() - begin}


def reports(tool: str, members: list[dict], settings: str = "", jobs: int = 2) -> dict[str, dict]:
    """Of each row, by its key."""
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(jobs) as pool,
    ):
        found = pool.map(lambda row: report(tool, row, folder, settings), members)
        return {row["key"]: one for row, one in zip(members, found)}


def comparable(row: dict) -> bool:
    """Not where a row prescribes blocks of 128: the compiler chooses its own."""
    return row["kernel"].get("block_m", 512) >= 512


def microseconds(row: dict, one: dict) -> float:
    """As the row was measured: slopes of chains hold no launch."""
    launches = one["launch_cycles"] if "chained" in row["key"] else 0
    return one["microseconds"] * (1 - launches / one["cycles"])


def main() -> int:
    """Prints a line per band and half; with --rows each row that the text is part of."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spokeshave")
    parser.add_argument("--half", choices=["fit", "held", "both"], default="both")
    parser.add_argument("--band", default="")
    parser.add_argument("--sample", type=int, default=1, help="every n-th row only")
    parser.add_argument("--set", default="", help="figures: cost.x=1,...")
    parser.add_argument("--rows", help="print rows whose key holds this text")
    options = parser.parse_args()
    os.nice(5)
    halves = dict(zip(("fit", "held"), split(rows())))
    for name, half in halves.items():
        if options.half not in (name, "both"):
            continue
        for band in dict.fromkeys(row["band"] for row in half):
            if options.band not in band:
                continue
            members = [row for row in half if row["band"] == band and comparable(row)]
            members = members[:: options.sample]
            found = reports(options.spokeshave, members, options.set)
            errors = [
                microseconds(row, found[row["key"]]) / row["microseconds"] - 1 for row in members
            ]
            if options.rows is not None:
                for row, error in zip(members, errors):
                    if options.rows in row["key"]:
                        one = found[row["key"]]
                        print(
                            f"{row['key']:50} {row['microseconds']:9.2f} "
                            f"{microseconds(row, one):9.2f} {error:+7.1%} "
                            f"{[(k['cores'], k['cycles'], k['bound']) for k in one['kernels']]}"
                        )
            seconds = sum(one["seconds"] for one in found.values()) / len(found)
            print(f"{band:20} | {name:4} | {cells(errors)} | {seconds:.2f} s a row", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
