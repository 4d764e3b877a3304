# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether results are right: against the stock CPU and the reference interpreter.

    python -m spokeshave.bench.equality [--out docs/equality.md] [--x64]

Each workload runs at its reduced size on Spokeshave and on the stock CPU, and at its
tiny size on Spokeshave and in the interpreter; then single functions, random numbers
first. Exits with 1 where a result is farther away than it may be.
"""

import argparse
import dataclasses
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "spokeshave,cpu")

import jax
from spokeshave import reference
from spokeshave.bench import compare, platforms
from spokeshave.bench.compare import Difference
from spokeshave.bench.functions import GROUPS, Distance, Function, measure
from spokeshave.bench.workloads import WORKLOADS, Program, Workload


@dataclasses.dataclass(frozen=True)
class Equality:
    """A workload's differences and what was counted meanwhile."""

    workload: Workload
    stock: Difference
    interpreter: Difference | None  # None: not asked for
    counts: dict[str, Any]


def against_stock(workload: Workload, wide: bool = False) -> tuple[Difference, dict[str, Any]]:
    """The reduced size on Spokeshave beside the stock CPU; also Spokeshave's counts."""
    program = _sized(workload, "reduced", wide)
    ours, theirs = platforms.run_on(platforms.OURS, program), platforms.run_on("cpu", program)
    found = compare.difference(ours.results, theirs.results, _tolerance(workload, wide))
    return found, ours.counts


def against_interpreter(workload: Workload, wide: bool = False) -> Difference:
    """The tiny size on Spokeshave beside the reference interpreter."""
    program = _sized(workload, "tiny", wide)
    ours = platforms.run_on(platforms.OURS, program).results
    with platforms.on(platforms.OURS):
        truth = reference.evaluate(program.function, *program.arguments)
    return compare.difference(ours, truth, _tolerance(workload, wide))


def _sized(workload: Workload, size: str, wide: bool) -> Program:
    program = workload.program(size)
    return platforms.widen(program) if wide else program


def _tolerance(workload: Workload, wide: bool) -> float | None:
    """A workload's own tolerance is for f32 and narrower."""
    if wide and workload.tolerance and "bf16" not in workload.name:
        return workload.tolerance * 2.0**-20
    return workload.tolerance


# --------------------------------------------------------------------- report
_INTRODUCTION = """\
# Equality

Written by `{command}`; do not edit. JAX {version}, instruction set {isa}.

## What is compared, and how far results may differ

Each program of `bench/workloads/` runs at a reduced size on Spokeshave and on JAX's stock CPU, and
at a tiny size on Spokeshave and in the reference interpreter, which plays the specification. The same
comparisons are made by `tests/e2e/test_workloads.py`.

The *difference* of two arrays is the largest difference of their elements over the largest element:
sums of many terms in another order differ by a rounding of the whole sum, however small single
elements are. Integers, booleans and random bits must be equal.

| dtype | may differ by | why |
| --- | --- | --- |
{tolerances}
Workloads with a tolerance of their own:

{exceptions}
"""

_WHY = {
    "float64": "about a thousand roundings of 2e-16",
    "float32": "about a hundred roundings of 1e-7: sums of thousands of terms in another order, functions"
    " within 2 ulp on each side, a few layers of both",
    "float16": "ten roundings of 1e-3; sums are made in f32",
    "bfloat16": "four roundings of 8e-3: where a value is rounded depends on what is fused",
}


def _tolerance_lines() -> str:
    pairs = [("float64", "complex128"), ("float32", "complex64"), ("float16",), ("bfloat16",)]
    lines = [
        f"| {', '.join(names)} | {compare.TOLERANCES[names[0]]:.0e} | {_WHY[names[0]]} |"
        for names in pairs
    ]
    return "\n".join([*lines, "| all others | nothing | |", ""])


def _exception_lines() -> str:
    lines = []
    for workload in WORKLOADS.values():
        if workload.tolerance == 0:
            continue
        if workload.tolerance is not None:
            lines.append(f"- {workload.name}: {workload.tolerance:.0e}; {workload.reason}.")
    exact = ", ".join(w.name for w in WORKLOADS.values() if w.tolerance == 0)
    return "\n".join([*lines, f"- Equal bits: {exact}."])


def _describe(found: Difference | None) -> str:
    if found is None:
        return ""
    text = "equal bits" if found.equal_bits else f"{found.error:.1e}"
    return text if found.accepted else f"**{text}, more than {found.tolerance:.0e}**"


def _text(
    found: Sequence[Equality], functions: dict[str, list[tuple[Function, Distance]]], command: str
) -> str:
    import spokeshave

    lines = [
        _INTRODUCTION.format(
            command=command,
            version=jax.__version__,
            isa=spokeshave.machine()["isa"],
            tolerances=_tolerance_lines(),
            exceptions=_exception_lines(),
        ),
        "## Workloads\n",
        "| workload | stock CPU | tolerance | interpreter | calls out of compiled code |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in found:
        calls = ", ".join(f"{count} {name}" for name, count in row.counts["calls"].items())
        lines.append(
            f"| {row.workload.name} | {_describe(row.stock)} | {row.stock.tolerance:.0e} |"
            f" {_describe(row.interpreter)} | {calls or 'none'} |"
        )
    for title, group in functions.items():
        lines += [
            f"\n## {title}\n",
            "| function | ours may be off by | ours is off by | stock CPU is off by |",
            "| --- | --- | --- | --- |",
        ]
        for function, distance in group:
            allowed = f"{function.most_ulp:g} ulp" if function.most_ulp else "nothing"
            ours = str(distance) if distance.accepted(function) else f"**{distance}**"
            stock = f"{distance.stock_ulp:.2g} ulp" if function.truth else "is the measure"
            lines.append(f"| {function.name} | {allowed} | {ours} | {stock} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when everything is as near as it must be."""
    parser = argparse.ArgumentParser(
        prog="python -m spokeshave.bench.equality", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=pathlib.Path, help="write the report there")
    parser.add_argument("--only", help="some workloads, by commas")
    parser.add_argument("--x64", action="store_true", help="on 64-bit floats and integers")
    parser.add_argument("--no-interpreter", action="store_true", help="the stock CPU only")
    options = parser.parse_args(arguments)
    jax.config.update("jax_enable_x64", options.x64)
    names = options.only.split(",") if options.only else list(WORKLOADS)
    found, wrong = [], 0
    for number, name in enumerate(names, 1):
        workload = WORKLOADS[name]
        stock, counts = against_stock(workload, options.x64)
        truth = None if options.no_interpreter else against_interpreter(workload, options.x64)
        found.append(Equality(workload, stock, truth, counts))
        wrong += not stock.accepted or bool(truth and not truth.accepted)
        print(
            f"[{number:2d}/{len(names)}] {name:<24} stock CPU {_describe(stock):<16}"
            f" interpreter {_describe(truth)}",
            flush=True,
        )
    functions = {title: [(f, measure(f)) for f in group] for title, group in GROUPS.items()}
    for function, distance in [pair for group in functions.values() for pair in group]:
        accepted = distance.accepted(function)
        wrong += not accepted
        print(f"{function.name:<32} {distance}{'' if accepted else '  TOO FAR'}")
    command = " ".join(["python -m spokeshave.bench.equality", *(arguments or sys.argv[1:])])
    if options.out:
        options.out.write_text(_text(found, functions, command))
    print(f"{wrong} too far")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
