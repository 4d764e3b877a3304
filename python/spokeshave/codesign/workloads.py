# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bench's workloads at full size on simulated chips, beside the roofline.

    python -m spokeshave.codesign.workloads [--out docs/tpu-workloads.md]

Times come from 'spokeshave time', without values.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # lowering needs no other

import jax
import numpy as np

from spokeshave.bench.workloads import WORKLOADS
from spokeshave.codesign import programs, report, timing

CHIPS = ("v5e", "v6e")

_HEAD = """\
# The workloads on the chip

Written by `python -m spokeshave.codesign.workloads --out docs/tpu-workloads.md`: the programs of
`bench/workloads/` at full size, simulated without values ([tpu-machine.md](tpu-machine.md)). The roofline is the
longer of what the matrix units need at their peak and what HBM needs for the program's arguments and results,
each moved once; loops that end by their data are taken to run once, so that their times say little.
"""


def load(name: str) -> programs.Program:
    """A workload at full size, lowered."""
    program = WORKLOADS[name].program()

    def shape(leaf: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(np.shape(leaf), np.asarray(leaf).dtype)

    shapes = jax.tree.map(shape, program.arguments)
    return programs.Program(name, f"{name}.mlir", programs.lower(program.function, shapes))


def _moved(name: str) -> int:
    """Bytes of a workload's arguments and results."""
    program = WORKLOADS[name].program()
    leaves = jax.tree.leaves(program.arguments)
    leaves += jax.tree.leaves(jax.eval_shape(program.function, *program.arguments))
    return sum(int(np.prod(leaf.shape)) * np.dtype(leaf.dtype).itemsize for leaf in leaves)


def row(name: str, chip: str, figures: dict[str, float]) -> tuple[str, bool]:
    """A line of the table, and whether there is a time."""
    found, reason = timing.time_program(load(name), chip)
    if found is None:
        return f"| {name} | {chip} | {reason.splitlines()[0]} | | | |", False
    products, _ = timing.roofline_us(found, figures)
    stream = _moved(name) / timing.bandwidth(figures) * 1e6
    bound = timing.measured(found)["bound"]
    least, which = max((products, "products"), (stream, "HBM"))
    note = " (loops once)" if found["assumed_decisions"] else ""
    return (
        f"| {name} | {chip} | {found['microseconds']:.1f}{note} | {least:.1f}, {which} |"
        f" {found['microseconds'] / max(least, 1e-3):.2f} | {bound} |"
    ), True


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 1 where a program has no time."""
    parser = argparse.ArgumentParser(prog="spokeshave.codesign.workloads")
    parser.add_argument("--out", type=pathlib.Path, help="the page; else it is printed")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--only", default=",".join(WORKLOADS), help="some workloads, by commas")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    figures = {chip: timing.figures_of(chip) for chip in options.chips.split(",")}
    page = [
        _HEAD,
        "| workload | chip | us | roofline, us | over it | bound by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [
            pool.submit(row, name, chip, figures[chip])
            for name in options.only.split(",")
            for chip in figures
        ]
        rows = []
        for done in waiting:
            rows.append(done.result())
            print(rows[-1][0], file=sys.stderr, flush=True)
    page += [line for line, _ in rows]
    report.deliver("\n".join(page) + "\n", options.out)
    return 0 if all(timed for _, timed in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
