# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spokeshave codesign: a sweep over a chip's figures; see --help."""

import argparse
import os
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from spokeshave import _library
from spokeshave.codesign import engine, page, plots, programs, report, sweep, timing

_EPILOGUE = """\
PROGRAM is a file of StableHLO (text or portable bytecode), or FILE.py:FUNCTION that
returns (function, arguments) for JAX to lower. A sweep is NAME=LOW..HIGH or NAME=A|B|C,
by commas: every combination is timed. Sizes and counts grow in powers of two, rates
geometrically. A point that does not fit is a row with the reason.
"""


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="spokeshave codesign",
        description="Times programs on many variants of a simulated TPU-class chip.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--sweep", required=True, help='"vmem=16MiB..128MiB, mxu=1..8"')
    parser.add_argument("--chip", default=os.environ.get("SPOKESHAVE_CHIP") or "v5e")
    parser.add_argument("--points", type=int, default=4, help="values of a range at most (4)")
    parser.add_argument("--out", type=pathlib.Path, help="folder for JSON, CSV, PNG and the page")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://host:8786")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one point")
    return parser.parse_args(arguments)


def _points(options: argparse.Namespace) -> list[timing.Point]:
    """Of all programs; what is wrong with chip or sweep is known before any is timed."""
    parameters = sweep.parse(options.sweep, options.points)
    text = timing.chip_file(options.chip)
    timing.figures_of(options.chip)
    for parameter in parameters:
        timing.figures_of(sweep.chip_text(options.chip, {parameter.name: parameter.values[0]}))
    found = [programs.load(text) for text in options.programs]
    return [
        timing.Point(program, options.chip, settings, text, options.timeout)
        for program in found
        for settings in sweep.grid(parameters)
    ]


class _Progress:
    """A line as each point ends."""

    def __init__(self, total: int):
        self.total, self.start = total, time.monotonic()

    def __call__(self, done: int, row: dict[str, Any]) -> None:
        settings = " ".join(f"{name}={value}" for name, value in row["settings"].items())
        what = f"{row['microseconds']:.1f} us, {row['bound']}" if row["status"] == "ok" else ""
        left = (time.monotonic() - self.start) / done * (self.total - done)
        text = f"[{done}/{self.total}] {row['program']} {settings}: {what or row['status']}"
        print(f"{text} ({left:.0f} s left)", file=sys.stderr, flush=True)


def _write(folder: pathlib.Path, rows: list[dict], options: argparse.Namespace) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sweep.json").write_text(
        report.to_json(rows, chip=options.chip, sweep=options.sweep, programs=options.programs)
    )
    (folder / "sweep.csv").write_text(report.to_csv(rows))
    drawn = {}
    if plots.available():
        drawn = plots.draw(rows)
    else:
        print("no plots: matplotlib is not installed ('spokeshave[codesign]')", file=sys.stderr)
    for name, png in drawn.items():
        (folder / f"{name}.png").write_bytes(png)
    parts = [page.paragraph(f"{options.sweep}, on {options.chip}: {len(rows)} points.")]
    parts += [page.image(name, png) for name, png in drawn.items()]
    parts += [
        page.heading("Points"),
        page.paragraph(
            "Utilisation is the share of the time for which a unit's slots are taken. Area is a"
            " proxy: 40 for 65536 multiply-adds a cycle, 3 for an ALU slot, 0.45 for a MiB of"
            " VMEM, 15 for 460 GB/s of HBM; only ratios mean anything."
        ),
        page.table(report.columns(rows), [report.cells(row) for row in rows]),
    ]
    unfit = [row for row in rows if row["status"] != "ok"]
    if unfit:
        parts.append(page.heading("Points without a time"))
        parts.append(page.table(["chip", "reason"], [[r["chip"], r["reason"]] for r in unfit]))
    (folder / "index.html").write_text(page.page("Co-design sweep", *parts))


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 1 where something is wrong with what was asked or nothing ran."""
    options = _parse(arguments)
    options.jobs = max(1, options.jobs)
    try:
        points = _points(options)
        where = engine.describe(options.scheduler, options.jobs)
        print(f"{len(points)} points, {where}", file=sys.stderr, flush=True)
        rows = engine.run(points, options.jobs, options.scheduler, _Progress(len(points)))
        report.mark_pareto(rows)
        print(report.table(rows))
        if options.out:
            _write(options.out, rows, options)
            print(f"written: {options.out / 'index.html'}")
    except (
        sweep.SweepError,
        programs.ProgramError,
        timing.ChipError,
        engine.EngineError,
        _library.LibraryNotFoundError,
        OSError,
    ) as error:
        print(f"spokeshave codesign: {error}", file=sys.stderr)
        return 1
    return 0 if any(row["status"] != "failed" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
