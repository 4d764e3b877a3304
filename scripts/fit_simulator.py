# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits what only the simulated machine has, to the fit half of v4's rows.

fit_simulator.py SPOKESHAVE prints the mean error of each value: SPOKESHAVE is the built
command. The figures are whole cycles, so that all values of a range are tried; the best
ones are written into machine/chips by hand, with their notes.

- mxu.push_stall: the products, large and small;
- vector.xlu_latency: the layer norms, whose rows are summed across lanes.
"""

import argparse
import math

from tpu_programs import microseconds, reports
from tpu_rows import rows, split

FIGURES = {
    "mxu.push_stall": (("v4 gemm 128-512", "v4 gemm 1024-4096"), range(3, 8)),
    "vector.xlu_latency": (("v4 layer norm",), range(36, 73, 6)),
}


def mean_error(tool: str, members: list[dict], settings: str) -> float:
    """Of the logarithms, so that too slow and too fast count alike."""
    found = reports(tool, members, settings)
    ratios = (microseconds(row, found[row["key"]]) / row["microseconds"] for row in members)
    return sum(abs(math.log(ratio)) for ratio in ratios) / len(members)


def main() -> None:
    """Prints a line per value, and the best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spokeshave")
    parser.add_argument("--step", type=int, default=1, help="every so many rows of a band")
    options = parser.parse_args()
    fit, _ = split(rows())
    for figure, (bands, values) in FIGURES.items():
        losses = {}
        for value in values:
            # Bands count alike, whatever their number of rows.
            errors = [
                mean_error(
                    options.spokeshave,
                    [row for row in fit if row["band"] == band][:: options.step],
                    f"{figure}={value}",
                )
                for band in bands
            ]
            losses[value] = sum(errors) / len(errors)
            print(f"{figure}={value}: " + ", ".join(f"{e:.3f}" for e in errors), flush=True)
        print(f"{figure}: {min(losses, key=losses.get)}")


if __name__ == "__main__":
    main()
