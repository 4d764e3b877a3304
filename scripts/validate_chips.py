# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/tpu-validation.md: the cost model and the simulator against measured rows, per
band. Keeps the table of figures in docs/tpu-machine.md too.

validate_chips.py SPOKESHAVE [--check]: SPOKESHAVE is the built command. --check writes
nothing and fails where the page is out of date or a held-out target is missed; it takes
the simulator's times from tests/tpu/simulated.json, which a run without it writes.
"""

import argparse
import json
import math
import subprocess
import sys

from tpu_programs import comparable, microseconds, reports
from tpu_rows import FIT_KEYS, ROOT, Model, cells, quantile, rows, split

PAGE = ROOT / "docs" / "tpu-validation.md"
MACHINE_PAGE = ROOT / "docs" / "tpu-machine.md"
BEGIN, END = "<!-- figures: written by scripts/validate_chips.py -->\n", "<!-- end of figures -->"
SCALESIM = ROOT / "tests" / "tpu" / "scalesim.json"
SIMULATED = ROOT / "tests" / "tpu" / "simulated.json"
# Held-out targets: mean and 90th percentile of the relative error.
TARGETS = {
    "v4 gemm 128-512": (0.10, 0.20),
    "v4 gemm 1024-4096": (0.10, 0.20),
    "v6e gemm": (0.15, None),
    "v4 add": (0.15, None),
    "v4 layer norm": (0.15, None),
    "v6e elementwise": (0.15, None),
}


def predictions(tool: str, all_rows: list[dict]) -> dict[str, float]:
    """Microseconds by the rows' keys."""
    times = {}
    for chip in dict.fromkeys(row["chip"] for row in all_rows):
        members = [row for row in all_rows if row["chip"] == chip]
        model = Model(tool, chip, [row["kernel"] for row in members])
        times |= {row["key"]: time for row, time in zip(members, model.times())}
        model.close()
    return times


def simulate(tool: str, all_rows: list[dict]) -> None:
    """Writes the simulator's microseconds of all rows, and how fast it was."""
    members = [row for row in all_rows if comparable(row)]
    found = reports(tool, members)
    bundles = sum(one["simulated_bundles"] for one in found.values())
    simulation = sum(one["simulated_bundles"] / one["bundles_per_second"] for one in found.values())
    content = {
        "note": "Written by scripts/validate_chips.py: what spokeshave time says of measured.json.",
        "seconds_per_row": round(sum(one["seconds"] for one in found.values()) / len(found), 2),
        "million_bundles_per_second": round(bundles / simulation * 1e-6, 1),
        "microseconds": {
            row["key"]: round(microseconds(row, found[row["key"]]), 3) for row in members
        },
    }
    SIMULATED.write_text(json.dumps(content, indent=1) + "\n")


def scalesim_cycles(kernel: dict) -> int:
    """SCALE-Sim 3 in closed form: weights stay, 128 x 128 cells, no stalls."""
    folds = math.ceil(kernel["k"] / 128) * math.ceil(kernel["n"] / 128)
    return folds * (kernel["m"] + 2 * 128 + 128 - 2) - 1


def scalesim_time(kernel: dict) -> float:
    """Microseconds by the line that its authors fitted to v4's products of 1024 to 4096."""
    return 0.000202 * scalesim_cycles(kernel) + 29.7


def refitted_line(fit: list[dict]) -> tuple[float, float]:
    """Slope and intercept of least squares from SCALE-Sim's cycles to a band's fit half."""
    cycles = [scalesim_cycles(row["kernel"]) for row in fit]
    times = [row["microseconds"] for row in fit]
    mean_cycles, mean_time = sum(cycles) / len(cycles), sum(times) / len(times)
    products = sum((c - mean_cycles) * (t - mean_time) for c, t in zip(cycles, times))
    slope = products / sum((c - mean_cycles) ** 2 for c in cycles)
    return slope, mean_time - slope * mean_cycles


def band_table(fit: list[dict], held: list[dict], errors: dict[str, float]) -> list[str]:
    """A line per band and half."""
    lines = ["| band | half | rows | mean error | 90th percentile | largest | bias |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for band in dict.fromkeys(row["band"] for row in fit + held):
        for name, half in (("fit", fit), ("held out", held)):
            found = [errors[r["key"]] for r in half if r["band"] == band and r["key"] in errors]
            lines.append(f"| {band} | {name} | {cells(found)} |")
    return lines


def scalesim_table(
    fit: list[dict], held: list[dict], errors: dict[str, float], simulated: dict[str, float]
) -> list[str]:
    """SCALE-Sim's line beside ours, on the held-out products of v4."""
    lines = ["| band, held out | model | rows | mean error | 90th percentile | largest | bias |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for band in ("v4 gemm 128-512", "v4 gemm 1024-4096"):
        members = [row for row in held if row["band"] == band]
        theirs = [scalesim_time(row["kernel"]) / row["microseconds"] - 1 for row in members]
        for name, ours in (("cost model", errors), ("simulator", simulated)):
            lines.append(f"| {band} | {name} | {cells([ours[row['key']] for row in members])} |")
        lines.append(f"| {band} | SCALE-Sim, its line | {cells(theirs)} |")
        slope, start = refitted_line([row for row in fit if row["band"] == band])
        own = [
            (slope * scalesim_cycles(row["kernel"]) + start) / row["microseconds"] - 1
            for row in members
        ]
        lines.append(f"| {band} | SCALE-Sim, a line fitted to the band's fit half | {cells(own)} |")
    return lines


def absolute(held: list[dict], times: dict[str, float], simulated: dict[str, float]) -> str:
    """The mean absolute error in microseconds, as SCALE-Sim's authors state theirs."""
    members = [row for row in held if row["band"] == "v4 gemm 1024-4096"]

    def mean(time) -> float:
        return sum(abs(time(row) - row["microseconds"]) for row in members) / len(members)

    ours, own = mean(lambda row: times[row["key"]]), mean(lambda row: simulated[row["key"]])
    theirs = mean(lambda row: scalesim_time(row["kernel"]))
    return (
        f"{ours:.1f} us for the cost model, {own:.1f} us for the simulator\n"
        f"and {theirs:.1f} us for SCALE-Sim's line"
    )


def small_table(
    held: list[dict], times: dict[str, float], simulated: dict[str, float]
) -> list[str]:
    """Row by row, where a band has few rows."""
    lines = ["| row | measured, us | cost model, us | error | simulated, us | error |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for row in held:
        if row["chip"] == "v4":
            continue
        measured = row["microseconds"]

        def pair(time: float | None, measured: float = measured) -> str:
            return f"{time:.1f} | {time / measured - 1:+.1%}" if time else " | "

        lines.append(
            f"| {row['chip']} {row['key']} | {measured:.1f} | {pair(times[row['key']])} "
            f"| {pair(simulated.get(row['key']))} |"
        )
    return lines


def run_table() -> list[str]:
    """What SCALE-Sim itself said when it was run."""
    runs = json.loads(SCALESIM.read_text())
    lines = ["| product M x N x K | its cycles | closed form | seconds to run |"]
    lines.append("| --- | --- | --- | --- |")
    for run in runs["runs"]:
        kernel = dict(zip(("m", "n", "k"), run["shape"]))
        shape = " x ".join(map(str, run["shape"]))
        lines.append(
            f"| {shape} | {run['cycles']} | {scalesim_cycles(kernel)} | {run['seconds']:.0f} |"
        )
    return lines


def page(fit: list[dict], held: list[dict], times: dict[str, float], measured: dict) -> str:
    """The whole page."""
    errors = {key: times[key] / measured[key] - 1 for key in times}
    stored = json.loads(SIMULATED.read_text())
    simulated = stored["microseconds"]
    own = {key: simulated[key] / measured[key] - 1 for key in simulated}
    template = (ROOT / "tests" / "tpu" / "validation.in.md").read_text()
    parts = {
        "BANDS": band_table(fit, held, errors),
        "SIMULATED": band_table(fit, held, own),
        "SECONDS": [str(stored["seconds_per_row"])],
        "RATE": [str(stored["million_bundles_per_second"])],
        "SCALESIM": scalesim_table(fit, held, errors, own),
        "ABSOLUTE": [absolute(held, times, simulated)],
        "RUNS": run_table(),
        "SMALL": small_table(held, times, simulated),
    }
    for name, lines in parts.items():
        template = template.replace(f"@{name}@", "\n".join(lines))
    return template


def machine_page(tool: str) -> str:
    """docs/tpu-machine.md with the table of figures as it is now."""
    table = subprocess.run([tool, "chip", "--schema"], check=True, capture_output=True, text=True)
    before, rest = MACHINE_PAGE.read_text().split(BEGIN)
    return before + BEGIN + table.stdout + END + rest.split(END)[1]


def missed(name: str, held: list[dict], errors: dict[str, float]) -> list[str]:
    """A line per target that `name` misses on the held-out rows."""
    lines = []
    for band, (mean, tail) in TARGETS.items():
        sizes = [abs(errors[row["key"]]) for row in held if row["band"] == band]
        if sum(sizes) / len(sizes) > mean:
            lines.append(f"{name}, {band}: mean {sum(sizes) / len(sizes):.1%}, target {mean:.0%}")
        if tail and quantile(sizes, 0.9) > tail:
            lines.append(
                f"{name}, {band}: 90th percentile {quantile(sizes, 0.9):.1%}, target {tail:.0%}"
            )
    return lines


def main() -> int:
    """Writes the page, or checks it; 0 when all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spokeshave")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    all_rows = rows()
    fit, held = split(all_rows)
    if json.loads(FIT_KEYS.read_text())["keys"] != [row["key"] for row in fit]:
        print(f"{FIT_KEYS} is not what the split gives: the figures were fitted to other rows")
        return 1
    if not arguments.check:
        simulate(arguments.spokeshave, all_rows)
    times = predictions(arguments.spokeshave, all_rows)
    measured = {row["key"]: row["microseconds"] for row in all_rows}
    texts = {
        PAGE: page(fit, held, times, measured),
        MACHINE_PAGE: machine_page(arguments.spokeshave),
    }
    problems = []
    simulated = json.loads(SIMULATED.read_text())["microseconds"]
    for name, found in (("cost model", times), ("simulator", simulated)):
        problems += missed(name, held, {key: found[key] / measured[key] - 1 for key in found})
    for path, text in texts.items():
        if not arguments.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            problems.append(f"{path.relative_to(ROOT)} is out of date: run without --check")
    print("\n".join(problems) if problems else "validation: all targets met")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
