# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spokeshave explain: per kernel the time, what bounds it, the roofline, and what would help."""

import argparse
import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from spokeshave import _library
from spokeshave.codesign import page, programs, timing

_UNITS = {
    "scalar": "scalar core",
    "vector_alu": "vector ALUs",
    "vector_load": "load ports of VMEM",
    "vector_store": "store ports of VMEM",
    "transcendental": "transcendental unit",
    "cross_lane": "cross-lane unit",
    "matrix": "matrix units",
    "matrix_pop": "pop ports of the matrix units",
    "hbm": "HBM",
}


@dataclasses.dataclass(frozen=True)
class Chip:
    """What the rules need of a chip, in base units."""

    flops: dict[str, float]  # by the type of the factors, of a device a second
    cores: int  # of a device
    vmem: float
    clock: float
    hbm_bytes_per_cycle: float
    launch_cycles: float
    granule: float


@dataclasses.dataclass
class Kernel:
    """A kernel's row: figures of 'spokeshave time --json', and what follows from them."""

    figures: dict[str, Any]
    share: float  # of the program's time
    roof: str  # MXU or HBM
    roofline_us: float  # no schedule on this chip is faster
    advice: list[str] = dataclasses.field(default_factory=list)

    @property
    def reached(self) -> float:
        """Of the roofline."""
        return self.roofline_us / max(self.figures["microseconds"], 1e-9)


def _busiest(busy: dict[str, float]) -> tuple[str, float]:
    name = max(busy, key=busy.get)
    return _UNITS[name], busy[name]


def _of_bound(kernel: Kernel, chip: Chip) -> list[str]:
    """What helps against the kernel's bound."""
    k, busy = kernel.figures, kernel.figures["busy"]
    bound, unit, share = k["bound"], *_busiest(k["busy"])
    if bound == "HBM":
        moved, least = k["hbm_bytes"], max(1, k["minimum_hbm_bytes"])
        if moved > 1.3 * least:
            return [
                f"moves {moved / 1e6:.1f} MB through HBM, {moved / least:.1f} times its arrays: larger"
                f" windows would read less twice ({k['vmem_bytes'] / 2**20:.1f} of"
                f" {chip.vmem / 2**20:.0f} MiB of VMEM are used)"
            ]
        return [
            f"moves {moved / 1e6:.1f} MB, little more than its arrays: fusion with a neighbour, narrower"
            f" types or more HBM bandwidth (now {chip.hbm_bytes_per_cycle:.0f} B a cycle)"
        ]
    if bound == "MXU":
        return [
            f"matrix units work {busy['matrix']:.0%} of the time: more of them, or narrower types"
        ]
    if bound == "VPU":
        return [f"{unit} busy {share:.0%} of the time: fewer operations per element, or more slots"]
    if bound == "XLU":
        return [
            f"cross-lane unit busy {busy['cross_lane']:.0%} of the time: reduce along sublanes or across"
            " registers first, or lay the data out such that fewer lanes move"
        ]
    if bound == "VMEM ports":
        return [
            f"{unit} busy {share:.0%} of the time: keep values in registers over more operations"
        ]
    if bound == "scalar core":
        return [
            f"scalar core busy {busy['scalar']:.0%}: fewer, longer steps; addresses out of the loop"
        ]
    if bound == "latency":
        return [
            f"no unit is busy half of the time, the {unit} most ({share:.0%}): the instructions wait for"
            " each other; unrolling or pipelining the loop would overlap them"
        ]
    return []


def _of_waits(kernel: Kernel, chip: Chip) -> list[str]:
    """Waits and waste beside the bound."""
    k, cycles = kernel.figures, max(1, kernel.figures["cycles"])
    lines = []
    if k["dma_stall_cycles"] > 0.15 * cycles:
        mean = k["hbm_bytes"] / max(1, k["transfers"])
        small = f", below the granule of {chip.granule:.0f}" if mean < chip.granule else ""
        lines.append(
            f"waits {k['dma_stall_cycles'] / cycles:.0%} for transfers of {mean:.0f} B on average"
            f"{small}: start them earlier, or move more at once"
        )
    if k["matrix_stall_cycles"] > 0.1 * cycles:
        lines.append(
            f"waits {k['matrix_stall_cycles'] / cycles:.0%} for the matrix units' queues: more rows per"
            " tile of weights"
        )
    launches = k["launches"] * chip.launch_cycles
    if launches > 0.25 * cycles:
        lines.append(
            f"{launches / cycles:.0%} of the time is {k['launches']} launches: fuse it with a neighbour"
        )
    if k["spills"]:
        lines.append(f"{k['spills']} values are spilled to VMEM: smaller blocks")
    if k["cores"] < chip.cores and k["bound"] not in ("HBM", "launch"):
        lines.append(
            f"runs on {k['cores']} of {chip.cores} cores: it has one task, writes what others write, or"
            " is too short for them to meet; more rows would give each core its part"
        )
    if k["busy"]["cross_lane"] > 0.3 and k["bound"] != "XLU":
        lines.append(
            f"cross-lane unit busy {k['busy']['cross_lane']:.0%}: reduce along sublanes or across"
            " registers first"
        )
    return lines


def explain(report: dict[str, Any], figures: dict[str, float]) -> tuple[list[Kernel], Chip]:
    """Kernels of a time report, the longest first."""
    chip = Chip(
        flops=timing.peak_flops(figures),
        cores=report["cores"],
        vmem=figures["memory.vmem"],
        clock=figures["core.clock"],
        hbm_bytes_per_cycle=report["hbm_bytes_per_cycle"],
        launch_cycles=report["launch_cycles"],
        granule=figures["dma.granule"],
    )
    kernels = []
    for k in sorted(report["kernels"], key=lambda k: -k["cycles"]):
        # Sums of elements are not the matrix units' work.
        flops = k["flops"] if k["busy"]["matrix"] else 0
        limits = {
            "MXU": flops / chip.flops[k["matrix_type"] or "bf16"] * 1e6,
            "HBM": k["minimum_hbm_bytes"] / chip.hbm_bytes_per_cycle / chip.clock * 1e6,
        }
        roof = max(limits, key=limits.get)
        kernel = Kernel(k, k["cycles"] / max(1, report["cycles"]), roof, limits[roof])
        kernel.advice = _of_bound(kernel, chip) + _of_waits(kernel, chip)
        kernels.append(kernel)
    return kernels, chip


def summary(program: str, report: dict[str, Any], kernels: list[Kernel]) -> list[str]:
    """The program as a whole, in sentences."""
    total = max(1e-9, report["microseconds"])
    reached = sum(k.roofline_us for k in kernels) / total
    lines = [
        f"{program} on {report['chip']}: {total:.1f} us, {report['cycles']} cycles,"
        f" {sum(k.figures['launches'] for k in kernels)} launches; the sum of the kernels' rooflines is"
        f" {reached:.1%} of it"
    ]
    if report["copy_cycles"]:
        share = report["copy_cycles"] / max(1, report["cycles"])
        lines.append(f"copies between kernels take {share:.1%}: not in the table")
    for collective in report["collectives"]:
        exposed = collective["exposed_cycles"] / max(1, report["cycles"])
        hint = "; more work beside it, or fewer bytes, would hide it" if exposed > 0.1 else ""
        lines.append(
            f"{collective['name']} between chips, {collective['times']} times:"
            f" {collective['microseconds']:.1f} us on the links, bound by {collective['bound']};"
            f" {exposed:.1%} of the time the core waits for it{hint}"
        )
    lines += [
        f"{value['name']} ({value['location']}) is computed again instead of kept in HBM:"
        f" {value['bytes']} bytes less for {value['operations']} operations"
        for value in report["recomputed"]
    ]
    if report["runs"] > 1:
        lines.append(
            f"in a row of runs: the one before has brought {report['next_run_bytes']} bytes; the first"
            f" one takes {report['first_run_cycles'] - report['cycles']} cycles more"
        )
    if report["wait_cycles"]:
        share = report["wait_cycles"] / max(1, report["cycles"])
        lines.append(f"the program waits {share:.1%} for transfers that it started ahead")
    if report["meetings"]:
        share = report["meeting_cycles"] / max(1, report["cycles"])
        lines.append(
            f"the cores meet {report['meetings']} times, where one needs what the other made or the"
            f" program ends: {share:.1%}"
        )
    if report["assumed_decisions"]:
        lines.append(
            f"{report['assumed_decisions']} loops or branches that data decides were assumed"
        )
    return lines


_HEAD = [
    "kernel",
    "us",
    "share",
    "bound",
    "of roofline",
    "MXU",
    "HBM",
    "VPU",
    "source",
    "would help",
]


def _cells(kernel: Kernel) -> list[str]:
    k = kernel.figures
    return [
        f"{k['name']} x{k['launches']}" if k["launches"] > 1 else k["name"],
        f"{k['microseconds']:.1f}",
        f"{kernel.share:.1%}",
        k["bound"],
        f"{kernel.reached:.1%} ({kernel.roof})",
        *(f"{k['busy'][unit]:.0%}" for unit in ("matrix", "hbm", "vector_alu")),
        k["location"],
        "; ".join(kernel.advice),
    ]


def text(
    program: str, report: dict[str, Any], kernels: list[Kernel], most: int | None = None
) -> str:
    """For a terminal: three lines and more per kernel, of the `most` longest if given."""
    lines = summary(program, report, kernels)
    for kernel in kernels[:most]:
        k = kernel.figures
        name, us, share, bound, reached, mxu, hbm, vpu = _cells(kernel)[:8]
        lines += [
            "",
            f"{name}  {us} us, {share} of the time, bound by {bound}",
            f"    {reached} of the roofline; busy: MXU {mxu}, HBM {hbm}, VPU {vpu}; VMEM"
            f" {k['vmem_bytes'] / 2**20:.2f} MiB",
            f"    at {k['location']}",
            *(f"    - {line}" for line in kernel.advice),
        ]
    return "\n".join(lines)


def write_page(
    file: pathlib.Path, program: str, report: dict[str, Any], kernels: list[Kernel]
) -> None:
    """The same as one self-contained page."""
    parts = [page.paragraph(line) for line in summary(program, report, kernels)]
    parts.append(page.table(_HEAD, [_cells(kernel) for kernel in kernels]))
    file.write_text(page.page(f"{program} on {report['chip']}", *parts))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="spokeshave explain",
        description="Why a program takes the time that it takes on a simulated TPU-class chip.",
        epilog="PROGRAM: a file of StableHLO, or FILE.py:FUNCTION; see spokeshave codesign --help.",
    )
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument(
        "--target", required=True, choices=["tpu"], help="tpu is the only one today"
    )
    parser.add_argument("--chip", default=os.environ.get("SPOKESHAVE_CHIP") or "v5e")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="also as a page")
    parser.add_argument("--json", action="store_true", help="figures and advice as JSON")
    return parser.parse_args(arguments)


def _as_json(report: dict[str, Any], kernels: list[Kernel]) -> str:
    rows = [
        k.figures | {"share": k.share, "roof": k.roof, "of_roofline": k.reached, "advice": k.advice}
        for k in kernels
    ]
    return json.dumps(report | {"kernels": rows}, indent=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 1 with the reason on the error output."""
    options = _parse(arguments)
    try:
        program = programs.load(options.program)
        report, reason = timing.time_program(program, options.chip)
        if report is None:
            print(reason, file=sys.stderr)
            return 1
        kernels, _ = explain(report, timing.figures_of(options.chip))
        if options.json:
            print(_as_json(report, kernels))
        else:
            print(text(program.name, report, kernels))
        if options.html:
            write_page(options.html, program.name, report, kernels)
    except (
        programs.ProgramError,
        timing.ChipError,
        _library.LibraryNotFoundError,
        OSError,
    ) as error:
        print(f"spokeshave explain: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
