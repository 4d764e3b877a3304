# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m spokeshave.bench: times the workloads; see --help."""

import argparse
import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Sequence

from spokeshave.bench import machine as machines
from spokeshave.bench import report
from spokeshave.bench.machine import Machine
from spokeshave.bench.platforms import OURS
from spokeshave.bench.rows import Row, measure
from spokeshave.bench.workloads import SIZES, WORKLOADS

_EPILOGUE = """\
Each workload runs in a fresh process. Exits with 1 if one failed or gave other
results than the platform beside it; a missed speed target is marked, not a failure.
"""


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m spokeshave.bench",
        description="Times ordinary JAX programs on Spokeshave.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--against", metavar="PLATFORM", help="also on this one, in turn: cpu")
    parser.add_argument("--only", metavar="NAMES", help="some workloads, by commas; or a theme")
    parser.add_argument("--seconds", type=float, default=2.0, help="per workload and platform")
    parser.add_argument("--processes", type=int, default=1, help="fresh ones per workload")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one process")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures there")
    parser.add_argument("--out", type=pathlib.Path, help="write the report there")
    parser.add_argument(
        "--figures", type=pathlib.Path, help="measure nothing: the report of an earlier --json"
    )
    parser.add_argument("--note", default="", help="a sentence for the report's beginning")
    parser.add_argument("--list", action="store_true", help="name the workloads and end")
    return parser.parse_args(arguments)


def _chosen(only: str | None) -> list[str]:
    """Names of workloads; an unknown name ends the program."""
    if not only:
        return list(WORKLOADS)
    names = []
    for word in only.split(","):
        found = [w.name for w in WORKLOADS.values() if word in (w.name, w.theme)]
        if not found:
            sys.exit(f"no workload or theme {word!r}; --list names them")
        names += found
    return names


def _line(row: Row, other: str | None) -> str:
    if row.error:
        return f"FAILED: {row.error}"
    text = f"{row.times[OURS].median * 1e3:10.3f} ms" if row.times else "not timed"
    if other and row.ratio:
        text += f"  XLA {row.times[other].median * 1e3:10.3f} ms  ratio {row.ratio.value:6.2f}"
    compiled = "/".join(f"{value * 1e3:.0f}" for value in row.compile_seconds.values())
    text += f"  compiled in {compiled} ms"
    if row.difference:
        text += f"  difference {row.difference['error']:.1e}"
    return text + "".join(f"  [{miss}]" for miss in row.misses())


def _run(names: Sequence[str], platforms: Sequence[str], options: argparse.Namespace) -> list[Row]:
    """Measures and shows each as soon as it is there."""
    other = platforms[1] if len(platforms) > 1 else None
    rows = []
    for number, name in enumerate(names, 1):
        print(f"[{number:2d}/{len(names)}] {name:<24}", end="", flush=True)
        rows.append(
            measure(
                name,
                WORKLOADS[name].theme,
                platforms,
                seconds=options.seconds,
                processes=options.processes,
                size=options.size,
                limit=options.timeout,
            )
        )
        print(_line(rows[-1], other), flush=True)
    return rows


def _write_figures(
    path: pathlib.Path, rows: Sequence[Row], machine: Machine, other: str | None, command: str
) -> None:
    figures = dict(
        command=command,
        against=other,
        machine=dataclasses.asdict(machine),
        rows=[dataclasses.asdict(row) for row in rows],
    )
    path.write_text(json.dumps(figures, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when all ran and agree."""
    options = _parse(arguments)
    names = _chosen(options.only)
    if options.list:
        print("\n".join(f"{name:<24} {WORKLOADS[name].theme}" for name in names))
        return 0
    start = time.monotonic()
    if options.figures:
        figures = json.loads(options.figures.read_text())
        machine = machines.Machine.from_figures(figures["machine"])
        rows = [Row.from_figures(one) for one in figures["rows"]]
        options.against, command = figures["against"], figures["command"]
    else:
        machine = machines.describe()
        print("\n".join(machines.paragraphs(machine)), flush=True)
        rows = _run(names, [OURS, *filter(None, [options.against])], options)
        command = " ".join(["python -m spokeshave.bench", *(arguments or sys.argv[1:])])
    if options.out:
        options.out.write_text(report.text(rows, machine, options.against, command, options.note))
    if options.json:
        _write_figures(options.json, rows, machine, options.against, command)
    failed = [row.name for row in rows if row.failed]
    print("".join(report.judgement(rows, options.against)), end="")
    print(f"{len(rows)} workloads in {time.monotonic() - start:.0f} s, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
