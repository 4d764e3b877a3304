# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/performance.md: the bench's figures for people."""

from collections.abc import Iterable, Sequence

from spokeshave.bench import machine as machines
from spokeshave.bench import roofline
from spokeshave.bench.machine import Machine
from spokeshave.bench.platforms import OURS
from spokeshave.bench.rows import COMPILE_SECONDS, SLOWEST_RATIO, Row
from spokeshave.bench.summary import Spread, geometric_mean

_INTRODUCTION = """\
# Performance

Written by `{command}`; do not edit. Ordinary JAX programs (`bench/workloads/`) on Spokeshave and on
JAX's stock CPU (XLA) in one process, which is a fresh one for each workload.
"""

_METHOD = """\
How it is measured: in each process both back ends compile the program, with no cache; the compile
time is that of the back end alone (`Lowered.compile`), the median of all processes. Then they take
turns, call by call, each call on the next of several copies of the arguments (up to eight, a
quarter of a gigabyte together where the program allows); whose turn is first changes each round.
A time is the median of all calls, with the quartiles; a call includes JAX's own dispatch and waits
for the results. *Ratio* is XLA's median over Spokeshave's, more is better, with a bootstrap's 95%
interval.

*Kernels* are the distinct ones; *regions* the parallel regions of one run, as far as trips of loops
are known; *calls* those that leave compiled code (library and custom calls), in {runs} of the program.
*Difference* is the largest of the results, relative to each array's largest element.
*Limit* is how near the time comes to what the machine would need at best: all floating-point operations
at its peak, or arguments and results through memory once, whichever is longer. Both use the rates of
the list above, measured in the same minutes. Small programs sit in caches and can pass 100%.
"""


def _milliseconds(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _spread(times: Spread) -> str:
    low, high = _milliseconds(times.low), _milliseconds(times.high)
    return f"{_milliseconds(times.median)} ({low}-{high})"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _limit(row: Row, machine: Machine) -> str:
    limit = roofline.bound(row.counts, list(row.dtypes), machine.best)
    if not row.times:
        return ""
    return f"{limit.seconds / row.times[OURS].median:.0%} {limit.kind}"


def _cells(row: Row, machine: Machine, other: str | None) -> list[str]:
    if row.error:
        return [row.name, f"**failed:** {row.error.replace('|', '/')}"]
    cells = [row.name]
    for name in filter(None, (OURS, other)):
        cells.append(_spread(row.times[name]) if row.times else "")
    if other:
        ratio = row.ratio
        cells.append(f"**{ratio.value:.2f}** ({ratio.low:.2f}-{ratio.high:.2f})" if ratio else "")
    cells.append(" / ".join(f"{row.compile_seconds[n] * 1e3:.0f}" for n in row.compile_seconds))
    structure = row.counts["structure"]
    calls = row.counts["library_calls"] + row.counts["custom_calls"]
    cells += [str(row.counts["kernels"]), str(structure["regions"]), str(calls)]
    if other:
        cells.append(f"{row.difference['error']:.1e}" if row.difference["error"] else "equal")
    cells += [_limit(row, machine), "; ".join(row.misses())]
    return cells


def _header(other: str | None) -> list[str]:
    header = ["workload", "Spokeshave ms"]
    if other:
        header += ["XLA ms", "ratio"]
    header += ["compile ms, both" if other else "compile ms", "kernels", "regions", "calls"]
    if other:
        header.append("difference")
    return [*header, "limit", "target missed"]


def judgement(rows: Sequence[Row], other: str | None) -> list[str]:
    """Means, and who misses a target; a line each."""
    lines = []
    ratios = [row.ratio.value for row in rows if row.ratio]
    if ratios:
        faster = sum(value >= 1 for value in ratios)
        lines.append(
            f"Geometric mean of {len(ratios)} ratios: **{geometric_mean(ratios):.2f}**;"
            f" Spokeshave is as fast or faster in {faster}."
        )
    if other:
        slow = [row.name for row in rows if row.ratio and row.ratio.value < SLOWEST_RATIO]
        compiles = [row.name for row in rows if "compiles slower" in row.misses()]
        lines += [
            f"Slower than half of XLA (the target is none): {', '.join(slow) or 'none'}.",
            f"Compiles longer than XLA and than {COMPILE_SECONDS * 1e3:.0f} ms (the target is none):"
            f" {', '.join(compiles) or 'none'}.",
        ]
    failed = [row.name for row in rows if row.failed]
    lines.append(f"Failed or with different results: {', '.join(failed) or 'none'}.")
    return [line + "\n" for line in lines]


def _slow_ones(rows: Sequence[Row], machine: Machine) -> list[str]:
    """Beside each figure below XLA's: what bounds it."""
    slow = sorted((r for r in rows if r.ratio and r.ratio.value < 1), key=lambda r: r.ratio.value)
    if not slow:
        return []
    lines = ["## Below XLA, and what the time goes to\n"]
    for row in slow:
        seconds = row.times[OURS].median
        why = roofline.explain(row.counts, list(row.dtypes), machine.best, seconds)
        lines.append(f"- **{row.name}** ({row.ratio.value:.2f}): {why}")
    return [*lines, ""]


def _loops(rows: Sequence[Row]) -> list[str]:
    """Loops that copy or move memory in each iteration: what could be read where it lies."""
    lines = []
    for row in rows:
        for loop in row.counts.get("loops") or ():
            if loop["copied_bytes"] + loop["moved_bytes"] < 4096:
                continue
            trips = "unknown" if loop["trips"] is None else loop["trips"]
            lines.append(
                f"- **{row.name}**, {trips} trips: an iteration copies {loop['copied_bytes']:,} bytes,"
                f" moves {loop['moved_bytes']:,} bytes by kernels that compute nothing"
            )
    if not lines:
        return ["No loop copies or moves 4 KiB or more in an iteration.\n"]
    return ["## Loops that copy or move memory in each iteration\n", *lines, ""]


def text(
    rows: Sequence[Row], machine: Machine, other: str | None, command: str, note: str = ""
) -> str:
    """The whole document."""
    lines = [_INTRODUCTION.format(command=command), *machines.paragraphs(machine), ""]
    lines += [note + "\n"] * bool(note)
    lines += judgement(rows, other)
    for theme in dict.fromkeys(row.theme for row in rows):
        lines.append(f"## {theme[0].upper()}{theme[1:]}\n")
        cells = [_cells(row, machine, other) for row in rows if row.theme == theme]
        lines += [*_table(_header(other), cells), ""]
    lines += _slow_ones(rows, machine)
    lines += _loops(rows)
    lines += ["## Method\n", _METHOD.format(runs="one run")]
    return "\n".join(lines)
