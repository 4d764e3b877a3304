# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our simulated cycles beside libtpu's own estimates for the same programs.

    compare_libtpu.py [--out docs/tpu-libtpu.md] [--chips v5e,v5p,v6e]

Needs JAX 0.10.2 and libtpu 0.0.51 ('pip install libtpu==0.0.51', proprietary, never a
dependency; no TPU). libtpu compiles ahead of time for a named topology; the figure is the
sum of `estimated_cycles` over the operations of the entry computation, bodies of loops
times their trips: no transfers, no overlap. Nothing else of its output is read or kept.
"""

import argparse
import os
import pathlib
import re
import sys

os.environ.update(
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    JAX_PLATFORMS="cpu",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)

import jax
from jax.experimental import topologies
from spokeshave.codesign import programs, standard, timing
from spokeshave.codesign import report as pages

TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2"}
EXTRA = {"v4": {"chip_config_name": "megacore"}}
MEMORY_BOUND = {"softmax_8192x4096", "layer_norm_16384x1024", "gelu_4096x4096", "add_4096x4096"}
MEMORY_BOUND |= {"gemv_8x8192"}

_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+) .*\{$")
_BODY = re.compile(r"body=%?([\w.-]+)")
# Of the programs' loops: the module's text does not say.
TRIPS = {"scan_mlp": 16}


def estimate(text: str, trips: int) -> int:
    """Cycles over the entry computation of an optimized module's text."""
    own: dict[str, int] = {}
    loops: dict[str, list[str]] = {}
    name = entry = ""
    for line in text.splitlines():
        if match := _COMPUTATION.match(line):
            name = match[2]
            entry = name if match[1] else entry
            own[name], loops[name] = 0, []
        elif name and (match := _CYCLES.search(line)):
            own[name] += int(match[1])
        if name and " while(" in line and (body := _BODY.search(line)):
            loops[name].append(body[1])

    def total(computation: str) -> int:
        return own[computation] + sum(trips * total(body) for body in loops[computation])

    return total(entry)


def libtpu_cycles(name: str, chip: str) -> int:
    """What libtpu estimates for a standard program."""
    function, arguments = standard.ALL[name]()
    topology = topologies.get_topology_desc(TOPOLOGIES[chip], platform="tpu", **EXTRA.get(chip, {}))
    where = jax.sharding.SingleDeviceSharding(topology.devices[0])
    jitted = jax.jit(function, in_shardings=where, out_shardings=where)
    return estimate(jitted.lower(*arguments).compile().as_text(), TRIPS.get(name, 1))


def main() -> int:
    """Exit status: 1 where a program has no time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--chips", default="v5e,v5p,v6e")
    parser.add_argument("--programs", default=",".join(standard.ALL))
    options = parser.parse_args()
    lines = [
        "# Beside libtpu's estimates",
        "",
        "Written by `python scripts/compare_libtpu.py --out docs/tpu-libtpu.md` with JAX 0.10.2 and",
        "libtpu 0.0.51. libtpu's figure is its own cost model's sum over the operations of the program,",
        "without transfers or overlap; ours is simulated, with both. Against published times the",
        "estimates are good for products and about three times too slow for elementwise work, so",
        "products compare with libtpu and what HBM bounds with the roofline: the time over that of",
        "the arrays' bytes at the published bandwidth, and at the part of it that streams reach",
        "(`cost.hbm_efficiency`, fitted to published times before this comparison: an addition of",
        "2^28 bf16 takes 1.41 times what v6e's published bandwidth needs, tests/tpu/measured.json).",
        "",
        "| program | chip | ours, cycles | libtpu, cycles | ours / libtpu | of the MXU peak "
        "| over HBM, published | over HBM, reachable |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    complete = True
    for name in options.programs.split(","):
        program = programs.Program(name, f"{name}.mlir", programs.lower(*standard.ALL[name]()))
        for chip in options.chips.split(","):
            report, reason = timing.time_program(program, chip)
            theirs = libtpu_cycles(name, chip)
            if report is None:
                complete = False
                lines.append(f"| {name} | {chip} | {reason.splitlines()[0]} | {theirs} | | | | |")
                continue
            figures = timing.figures_of(chip)
            products, stream = timing.roofline_us(report, figures)
            reachable = stream / figures["cost.hbm_efficiency"]
            ours = report["cycles"]
            peak = f"{products / report['microseconds']:.0%}" if products else ""
            over, real = (
                f"{report['microseconds'] / least:.2f}" if least else ""
                for least in (stream, reachable)
            )
            ratio = f"{ours / theirs:.2f}"
            row = f"| {name} | {chip} | {ours} | {theirs} | {ratio} | {peak} | {over} | {real} |"
            lines.append(row)
            print(row, file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    pages.deliver(text, options.out)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
