# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots of a sweep, each the bytes of a PNG: time, what bounds it, utilisation, Pareto front."""

import io
from typing import Any

Row = dict[str, Any]
_COLOURS = {
    "MXU": "#2b6cb0",
    "HBM": "#c05621",
    "VPU": "#2f855a",
    "XLU": "#9ae6b4",
    "VMEM ports": "#6b46c1",
    "latency": "#718096",
    "scalar core": "#b7791f",
    "launch": "#97266d",
    "copies": "#4a5568",
}
_MOST_LABELS = 40  # beyond that nobody can read them


def available() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def _label(row: Row) -> str:
    return " ".join(f"{name}={value}" for name, value in row["settings"].items()) or row["chip"]


def _png(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def _axes(rows: list[Row], title: str, ylabel: str, labels: bool = True) -> tuple[Any, Any]:
    # No pyplot: its global state would outlive the call.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.set_ylabel(ylabel)
    if labels and len(rows) <= _MOST_LABELS:
        axes.set_xticks(range(len(rows)), [_label(row) for row in rows], rotation=90, fontsize=7)
    elif labels:
        axes.set_xlabel("points, in the order of the table")
    return figure, axes


def _legend(axes: Any, names: list[str]) -> None:
    from matplotlib.patches import Patch

    axes.legend(handles=[Patch(color=_COLOURS.get(n, "black"), label=n) for n in names])


def _times(rows: list[Row], program: str) -> bytes:
    figure, axes = _axes(rows, f"{program}: time, coloured by what bounds most of it", "us")
    axes.bar(
        range(len(rows)),
        [row["microseconds"] for row in rows],
        color=[_COLOURS.get(row["bound"], "black") for row in rows],
    )
    _legend(axes, list(dict.fromkeys(row["bound"] for row in rows)))
    return _png(figure)


def _bounds(rows: list[Row], program: str) -> bytes:
    figure, axes = _axes(rows, f"{program}: what bounds the time", "share of the time")
    names = list(dict.fromkeys(name for row in rows for name in row["bounds"]))
    base = [0.0] * len(rows)
    for name in names:
        shares = [row["bounds"].get(name, 0) for row in rows]
        axes.bar(range(len(rows)), shares, bottom=base, color=_COLOURS.get(name, "black"))
        base = [a + b for a, b in zip(base, shares)]
    _legend(axes, names)
    return _png(figure)


def _utilisation(rows: list[Row], program: str) -> bytes:
    figure, axes = _axes(rows, f"{program}: how busy the units are", "share of the time")
    for key, name in (("mxu", "MXU"), ("vpu", "VPU"), ("vmem", "VMEM ports"), ("hbm", "HBM")):
        shares = [row[key] for row in rows]
        axes.plot(range(len(rows)), shares, "o-", markersize=3, color=_COLOURS[name], label=name)
    axes.set_ylim(0, 1.05)
    axes.legend()
    return _png(figure)


def _front(rows: list[Row], program: str) -> bytes:
    figure, axes = _axes(rows, f"{program}: time against the proxy of area", "us", labels=False)
    axes.set_xlabel("area (proxy, docs/codesign.md)")
    for row in rows:
        colour = _COLOURS.get(row["bound"], "black")
        axes.plot(row["area"], row["microseconds"], "o", color=colour, markersize=4)
    front = sorted((r for r in rows if r["pareto"]), key=lambda r: r["area"])
    axes.step(
        [r["area"] for r in front],
        [r["microseconds"] for r in front],
        where="post",
        color="black",
        linewidth=1,
    )
    for row in front:
        where = (row["area"], row["microseconds"])
        axes.annotate(_label(row), where, fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.margins(x=0.25)  # for the labels
    axes.set_xscale("log")
    axes.set_yscale("log")
    _legend(axes, list(dict.fromkeys(row["bound"] for row in rows)))
    return _png(figure)


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Name of the plot to PNG; four for each program that has a time."""
    drawn = {}
    for number, program in enumerate(dict.fromkeys(row["program"] for row in rows)):
        timed = [row for row in rows if row["program"] == program and row["status"] == "ok"]
        if not timed:
            continue
        suffix = f"-{number}" if number else ""
        # A dollar would start mathematics.
        title = program.replace("$", r"\$")
        drawn[f"time{suffix}"] = _times(timed, title)
        drawn[f"bound{suffix}"] = _bounds(timed, title)
        drawn[f"utilisation{suffix}"] = _utilisation(timed, title)
        drawn[f"pareto{suffix}"] = _front(timed, title)
    return drawn
