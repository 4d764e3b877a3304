# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the chips' unpublished figures to the fit half of the measured rows.

fit_chips.py SPOKESHAVE [--write]: SPOKESHAVE is the built command. With --write the
figures go into machine/chips/*.json; build again afterwards. The search is seeded, so
that it can be repeated. Needs SciPy.

What is fitted to what:
- v4's products, sums and layer norms: the costs of kernels, cores, results, f16;
- v6e's products and loops, and its 8192^3 product at 76% of the peak: HBM and overlap;
- v5e's products in blocks of 128 and of 512: the cost of a step.
Chips without rows take over the figures of the nearest chip that has some.
"""

import argparse
import json
import re

import numpy as np
from scipy.optimize import differential_evolution, minimize
from tpu_rows import CHIPS, FIT_KEYS, Model, rows, split

V4 = {  # figure: unit, least, most
    "cost.kernel_overhead": ("us", 0.1, 1.5),
    "cost.core_sync": ("us", 0, 3),
    "dma.latency": ("ns", 50, 600),
    "cost.mxu_efficiency": ("", 0.5, 0.9),
    "cost.result_cycles": ("", 0, 5),
    "cost.carry_cycles": ("", 0, 25),
    "cost.window": ("MiB", 4, 16),
    "cost.f16_unpack": ("", 5, 12),
    "cost.window_rows": ("", 8, 1024),
}
V6E = {
    "cost.hbm_efficiency": ("", 0.6, 0.95),
    "cost.write_cost": ("", 1, 1.5),
    "cost.overlap": ("", 0, 1),
}
HBM = ("cost.hbm_efficiency", "cost.write_cost")
# How much a band counts: products most, and what a parameter of its own fits least.
WEIGHT = {"v4 gemm 1024-4096": 1.5, "v4 gemm 128-512": 1.0, "v4 add": 0.5, "v4 layer norm": 0.5}
OLD, NEW = ("v2", "v3", "v4"), ("v5e", "v5p", "v6e", "v7x", "example")
# Stated beside the rows: this product runs at 76% of the peak.
LARGE = {"kernel": "gemm", "m": 8192, "n": 8192, "k": 8192, "type": "bf16"}
LARGE_US = 2 * 8192**3 / 918e12 / 0.76 * 1e6


def rounded(value: float) -> float:
    """To three digits, as the files hold it."""
    return float(f"{value:.3g}")


def settings(figures: dict, units: dict) -> str:
    """The figures as spokeshave reads them."""
    text = {name: np.format_float_positional(value, 9, trim="-") for name, value in figures.items()}
    # Packing rounds: it takes about twice what unpacking does.
    if "cost.f16_unpack" in figures:
        text["cost.f16_pack"] = np.format_float_positional(
            2 * figures["cost.f16_unpack"], 9, trim="-"
        )
    return ",".join(f"{name}={value}{units.get(name, ('',))[0]}" for name, value in text.items())


def loss(errors: np.ndarray) -> float:
    """Of relative errors: their mean, and a little of their tail."""
    return float(np.mean(np.abs(np.log1p(errors))) + 0.15 * np.quantile(np.abs(errors), 0.9))


def fit_v4(tool: str, fit: list[dict], v6e: dict) -> dict:
    """The figures of V4."""
    members = [row for row in fit if row["chip"] == "v4"]
    measured = np.array([row["microseconds"] for row in members])
    bands = {band: np.array([row["band"] == band for row in members]) for band in WEIGHT}
    model = Model(tool, "v4", [row["kernel"] for row in members])
    fixed = {name: v6e[name] for name in HBM} | {"cost.overlap": 1.0}

    def total(values) -> float:
        text = settings(dict(zip(V4, values), **fixed), V4)
        errors = np.array(model.times(text)) / measured - 1
        return sum(WEIGHT[band] * loss(errors[which]) for band, which in bands.items())

    bounds = [(least, most) for _, least, most in V4.values()]
    found = differential_evolution(total, bounds, maxiter=60, popsize=8, seed=0, polish=False)
    model.close()
    return {name: rounded(value) for name, value in zip(V4, found.x)}


def fit_v6e(tool: str, fit: list[dict], v4: dict) -> dict:
    """The figures of V6E, with the costs of kernels that v4 has."""
    members = [row for row in fit if row["band"] in ("v6e gemm", "v6e elementwise")]
    measured = np.array([row["microseconds"] for row in members] + [LARGE_US])
    model = Model(tool, "v6e", [row["kernel"] for row in members] + [LARGE])
    fixed = {name: v4[name] for name in ("cost.kernel_overhead", "dma.latency", "cost.window")}

    def total(values) -> float:
        if any(not least <= value <= most for value, (_, least, most) in zip(values, V6E.values())):
            return 1e3
        text = settings(dict(zip(V6E, values), **fixed), V4)
        return float(np.mean(np.abs(np.log(np.array(model.times(text)) / measured))))

    starts = ([0.85, 1.2, 0.8], [0.85, 1.05, 0.6], [0.8, 1.1, 0.9])
    found = min(
        (minimize(total, start, method="Nelder-Mead") for start in starts), key=lambda r: r.fun
    )
    model.close()
    return {name: rounded(value) for name, value in zip(V6E, found.x)}


def fit_step(tool: str, fit: list[dict]) -> float:
    """Microseconds of a step, from two products that differ in their blocks only."""
    small, large = sorted(
        (row for row in fit if row["band"] == "v5e gemm"), key=lambda row: row["kernel"]["block_m"]
    )
    model = Model(tool, "v5e", [small["kernel"], large["kernel"]])
    # What the host adds to both drops out.
    wanted = small["microseconds"] - large["microseconds"]
    least, most = 0.0, 2.0
    for _ in range(40):
        middle = (least + most) / 2
        times = model.times(
            settings({"cost.step_overhead": middle}, {"cost.step_overhead": ("us",)})
        )
        least, most = (middle, most) if times[0] - times[1] < wanted else (least, middle)
    model.close()
    return rounded(least)


def write(chip: str, figures: dict) -> None:
    """Sets figures in a chip's file; units stay as they stand there."""
    path = CHIPS / f"{chip}.json"
    text = path.read_text()
    for figure, value in figures.items():
        section, name = figure.split(".")
        pattern = rf'("{section}": \{{[^}}]*?(?:\}}[^}}]*?)*?"{name}": \{{"value": )[^,]+'
        text, count = re.subn(pattern, rf"\g<1>{value:g}", text, count=1)
        if count != 1:
            raise ValueError(f"{path}: no {figure}")
    path.write_text(text)


def main() -> None:
    """Fits, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spokeshave")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    fit, _ = split(rows())
    step = fit_step(arguments.spokeshave, fit)
    # v4 and v6e each take a figure from the other: a second round settles it.
    v4, v6e = {}, {"cost.hbm_efficiency": 0.85, "cost.write_cost": 1.2}
    for _ in range(2):
        v4 = fit_v4(arguments.spokeshave, fit, v6e)
        v6e = fit_v6e(arguments.spokeshave, fit, v4)
    v4["cost.f16_pack"] = rounded(2 * v4["cost.f16_unpack"])
    print(json.dumps({"v4": v4, "v6e": v6e, "v5e": {"cost.step_overhead": step}}, indent=1))
    if not arguments.write:
        return
    # Of v4's figures, these belong to its matrix units and windows.
    own = ("cost.mxu_efficiency", "cost.result_cycles", "cost.carry_cycles")
    shared = {name: value for name, value in v4.items() if name not in own}
    shared |= {name: v6e[name] for name in HBM} | {"cost.step_overhead": step}
    for chip in OLD:
        write(chip, {**v4, **shared})
    for chip in NEW:
        write(chip, {**shared, **v6e})
    keys = {
        "note": "The rows of measured.json that fit_chips.py fits to.",
        "keys": [r["key"] for r in fit],
    }
    FIT_KEYS.write_text(json.dumps(keys, indent=1) + "\n")


if __name__ == "__main__":
    main()
