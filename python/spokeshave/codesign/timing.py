# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One point: a program timed on a chip by 'spokeshave time', in a process of its own.

What a worker needs travels in the point: it may run on another machine, which has
Spokeshave but not the user's files.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import tempfile
from typing import Any

from spokeshave import _library
from spokeshave.codesign.programs import Program

# Weights of the proxy of area, in mm^2 of a 7 nm class process; docs/codesign.md.
MXU_AREA = 40.0  # of 65536 multiply-adds in bf16 a cycle
ALU_AREA = 3.0  # of an ALU slot on a register of 8 x 128
SRAM_AREA = 0.45  # of a MiB
HBM_AREA = 15.0  # of 460 GB/s: the controller and its share of the edge


@dataclasses.dataclass(frozen=True)
class Point:
    """A program on a chip. `chip_file` holds the text of a chip that is a file."""

    program: Program
    chip: str
    settings: dict[str, str]
    chip_file: str | None = None
    timeout: float = 600


class ChipError(ValueError):
    """There is no such chip, or it cannot be set so; the message is the tool's."""


_SCALES = {
    **{f"{p}B": 1024.0**i for i, p in enumerate(["", "Ki", "Mi", "Gi", "Ti"])},
    **{f"{p}B": 1000.0**i for i, p in enumerate(["k", "M", "G", "T"], 1)},
    **{"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    **{"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
}
_FIGURE = re.compile(r"  (\w+\.\w+) +(true|false|[0-9.e+-]+)(?:\s?([A-Za-z/]+))?(?=\s|$)")


def figures_of(chip: str) -> dict[str, float]:
    """Every figure of a chip in base units: bytes, seconds, hertz; flags are 0 and 1.

    Raises:
      ChipError: the tool knows no such chip or setting.
    """
    done = subprocess.run([_library.tool_path(), "chip", chip], capture_output=True, text=True)
    if done.returncode != 0:
        raise ChipError(done.stderr.strip())
    figures = {}
    for line in done.stdout.splitlines():
        if match := _FIGURE.match(line):
            name, number, unit = match.groups()
            scale = _SCALES.get((unit or "").removesuffix("/s") or "", 1.0)
            flags = {"true": 1.0, "false": 0.0}
            figures[name] = flags[number] if number in flags else float(number) * scale
    return figures


def chip_file(chip: str) -> str | None:
    """The text of the chip's file, or None for one that is built in."""
    place = chip.partition(":")[0]
    if "/" not in place and not place.endswith(".json"):
        return None
    return pathlib.Path(place).read_text()


def area(figures: dict[str, float]) -> float:
    """The proxy of a chip's area; only its ratios mean anything."""
    registers = figures["vector.sublanes"] * figures["vector.lanes"] / 1024
    macs = figures["mxu.count"] * figures["mxu.size"] ** 2 * figures["mxu.bf16_rate"]
    core = (
        MXU_AREA * macs / 65536
        + ALU_AREA * figures["vector.alus"] * registers
        + SRAM_AREA * figures["memory.vmem"] / 2**20
    )
    shared = SRAM_AREA * figures["memory.cmem"] / 2**20
    return (
        figures["core.count"] * core + shared + HBM_AREA * figures["memory.hbm_bandwidth"] / 460e9
    )


def peak_flops(figures: dict[str, float]) -> dict[str, float]:
    """Of a device a second, by the type of the operands: bf16, f8, int8."""
    cores = figures["core.count"] if figures["core.megacore"] else 1
    cells = cores * figures["mxu.count"] * figures["mxu.size"] ** 2
    # A rate of zero: such operands go through as bf16.
    rates = {kind: figures[f"mxu.{kind}_rate"] for kind in ("bf16", "f8", "int8")}
    return {
        kind: 2 * cells * (rate or rates["bf16"]) * figures["core.clock"]
        for kind, rate in rates.items()
    }


def bandwidth(figures: dict[str, float]) -> float:
    """Of a device's HBM, in bytes a second."""
    cores = figures["core.count"] if figures["core.megacore"] else 1
    return figures["memory.hbm_bandwidth"] * cores / figures["core.count"]


def roofline_us(report: dict[str, Any], figures: dict[str, float]) -> tuple[float, float]:
    """Microseconds that the MXU's peak and HBM need: (products, bytes of kernels' arrays)."""
    peaks = peak_flops(figures)
    products = sum(
        k["flops"] / peaks[k["matrix_type"]] for k in report["kernels"] if k["matrix_type"]
    )
    least = sum(k["minimum_hbm_bytes"] for k in report["kernels"])
    return products * 1e6, least / bandwidth(figures) * 1e6


def time_program(
    program: Program, chip: str, timeout: float = 600, settings: dict[str, str] | None = None
) -> tuple[dict | None, str]:
    """(what 'spokeshave time --json' says, "") or (None, why there is no time).

    `settings` are options of the compiler for the chip; docs/options.md lists them.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / pathlib.Path(program.file).name
        path.write_bytes(program.data)
        options = [f"--option={name}={value}" for name, value in (settings or {}).items()]
        command = [_library.tool_path(), "time", "--json", f"--chip={chip}", *options, str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return None, f"not timed within {timeout:g} s"
        # Locations in text name the copy.
        out, errors = (t.replace(str(path), program.file) for t in (done.stdout, done.stderr))
    if done.returncode != 0:
        return None, errors.strip() or f"the tool ended with status {done.returncode}"
    return json.loads(out), ""


def _share(report: dict[str, Any], key: str) -> float:
    """A unit's busy share over the whole program."""
    busy = sum(k["busy"][key] * k["cycles"] for k in report["kernels"])
    return busy / max(1, report["cycles"])


def measured(report: dict[str, Any]) -> dict[str, Any]:
    """What a row of a sweep says of a program's time, and what bounds most of it."""
    bounds: dict[str, float] = {}
    for kernel in report["kernels"]:
        share = kernel["cycles"] / max(1, report["cycles"])
        bounds[kernel["bound"]] = bounds.get(kernel["bound"], 0) + share
    if report["copy_cycles"]:
        bounds["copies"] = report["copy_cycles"] / max(1, report["cycles"])
    if report["wait_cycles"]:
        bounds["transfers"] = report["wait_cycles"] / max(1, report["cycles"])
    if report["meeting_cycles"]:
        bounds["meetings of cores"] = report["meeting_cycles"] / max(1, report["cycles"])
    return {
        "microseconds": report["microseconds"],
        "cycles": report["cycles"],
        "bound": max(bounds, key=bounds.get) if bounds else "nothing",
        "bounds": bounds,
        "mxu": _share(report, "matrix"),
        "vpu": _share(report, "vector_alu"),
        "vmem": max(_share(report, "vector_load"), _share(report, "vector_store")),
        "hbm": _share(report, "hbm"),
        "spills": sum(k["spills"] for k in report["kernels"]),
        "assumed_decisions": report["assumed_decisions"],
    }


def time_point(point: Point) -> dict[str, Any]:
    """A row of the sweep. What does not fit or fails is a row with its reason."""
    from spokeshave.codesign.sweep import chip_text

    row = {"program": point.program.name, "settings": point.settings}
    with tempfile.TemporaryDirectory() as folder:
        chip = point.chip
        if point.chip_file is not None:
            file = pathlib.Path(folder) / "chip.json"
            file.write_text(point.chip_file)
            chip = f"{file}{chip[len(chip.partition(':')[0]) :]}"
        row["chip"] = chip_text(point.chip, point.settings)
        chip = chip_text(chip, point.settings)
        try:
            row["area"] = area(figures_of(chip))
            report, reason = time_program(point.program, chip, point.timeout)
        except ChipError as error:
            report, reason = None, str(error)
        except OSError as error:  # a library that is missing on a worker, say
            report, reason = None, str(error)
    if report is None:
        fits = "SKS-R001" not in reason
        return row | {"status": "failed" if fits else "does not fit", "reason": reason}
    return row | {"status": "ok", "reason": ""} | measured(report)
