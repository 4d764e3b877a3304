# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the report: one workload, measured in processes of its own, and its judgement."""

import dataclasses
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from spokeshave.bench.platforms import OURS
from spokeshave.bench.summary import Ratio, Spread, ratio, spread

# What the project promises of each workload beside XLA.
SLOWEST_RATIO = 0.5
COMPILE_SECONDS = 0.050


@dataclasses.dataclass(frozen=True)
class Row:
    """One workload's figures, or the error in place of them."""

    name: str
    theme: str
    error: str = ""
    times: dict[str, Spread] = dataclasses.field(default_factory=dict)
    compile_seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    calls: int = 0
    ratio: Ratio | None = None
    counts: dict[str, Any] = dataclasses.field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    difference: dict[str, Any] | None = None

    @staticmethod
    def from_figures(figures: dict[str, Any]) -> "Row":
        """The row that dataclasses.asdict() made `figures` of, maybe through JSON."""
        values = dict(figures, dtypes=tuple(figures["dtypes"]))
        values["times"] = {name: Spread(**one) for name, one in figures["times"].items()}
        values["ratio"] = figures["ratio"] and Ratio(**figures["ratio"])
        return Row(**values)

    @property
    def failed(self) -> bool:
        """It did not run, or its results are not those of the other platform."""
        return bool(self.error) or bool(self.difference and not self.difference["accepted"])

    def misses(self) -> list[str]:
        """The targets that it misses, in words."""
        if self.error:
            return ["failed"]
        found = []
        if self.difference and not self.difference["accepted"]:
            found.append("DIFFERENT RESULTS")
        if self.ratio and self.ratio.value < SLOWEST_RATIO:
            found.append("slower than half of XLA")
        theirs = [value for name, value in self.compile_seconds.items() if name != OURS]
        if theirs and self.compile_seconds[OURS] > max(*theirs, COMPILE_SECONDS):
            found.append("compiles slower")
        return found


def _measure_once(name: str, platforms: Sequence[str], seconds: float, size: str, limit: float):
    command = [sys.executable, "-m", "spokeshave.bench.measure", name]
    command += ["--platforms", ",".join(platforms), f"--seconds={seconds}", f"--size={size}"]
    environment = {**os.environ, "JAX_PLATFORMS": ",".join(platforms)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    try:
        process = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"did not end within {limit:.0f} s") from None
    if process.returncode != 0:
        last = process.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"exit status {process.returncode}: {last[0][:300]}")
    return json.loads(process.stdout.strip().splitlines()[-1])


def measure(
    name: str,
    theme: str,
    platforms: Sequence[str],
    *,
    seconds: float = 2.0,
    processes: int = 1,
    size: str = "full",
    limit: float = 600,
) -> Row:
    """Runs a workload in `processes` fresh processes, one after the other."""
    try:
        runs = [
            _measure_once(name, platforms, seconds / processes, size, limit)
            for _ in range(processes)
        ]
    except RuntimeError as error:
        return Row(name, theme, error=str(error))
    samples = {p: [s for run in runs for s in run["samples"].get(p, [])] for p in platforms}
    compiled = {p: statistics.median(run["compile_seconds"][p] for run in runs) for p in platforms}
    others = [p for p in platforms if p != OURS]
    timed = all(samples.values())
    return Row(
        name,
        theme,
        times={p: spread(samples[p]) for p in platforms} if timed else {},
        compile_seconds=compiled,
        calls=len(samples[OURS]),
        ratio=ratio(samples[OURS], samples[others[0]]) if others and timed else None,
        counts=runs[0]["counts"],
        dtypes=tuple(runs[0]["dtypes"]),
        difference=runs[0].get("difference"),
    )
