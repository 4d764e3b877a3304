# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sweep's rows as a table on the terminal, as CSV and as JSON; and its Pareto front."""

import csv
import io
import json
import pathlib
from typing import Any

Row = dict[str, Any]


def mark_pareto(rows: list[Row]) -> None:
    """Sets 'pareto' where no point of the program is both faster and smaller.

    Of points that are equal in both only the first is on the front.
    """
    for row in rows:
        row["pareto"] = False
    for program in dict.fromkeys(row["program"] for row in rows):
        timed = [r for r in rows if r["program"] == program and r["status"] == "ok"]
        fastest = float("inf")
        for row in sorted(timed, key=lambda r: (r["area"], r["microseconds"])):
            if row["microseconds"] < fastest:
                fastest = row["microseconds"]
                row["pareto"] = True


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def short(reason: str, width: int = 100) -> str:
    """The first line of a reason without its place, for a table; JSON and page have all of it."""
    line = reason.splitlines()[0].removeprefix("spokeshave: ")
    code, colon, rest = line.partition(": ")
    # SKS-R001: file.py:85:10 (jit(f)/dot_general): kernel ...
    line = f"{code}{colon}{rest.rpartition('): ')[2]}"
    return line if len(line) <= width else line[: width - 3] + "..."


def columns(rows: list[Row]) -> list[str]:
    """Names of the table's columns."""
    settings = list(dict.fromkeys(name for row in rows for name in row["settings"]))
    return ["program", *settings, "us", "bound", "mxu", "vpu", "vmem ports", "hbm use", "area", ""]


def cells(row: Row) -> list[str]:
    """A row under those columns; what was not timed has its reason instead."""
    head = [row["program"], *row["settings"].values()]
    area = f"{row['area']:.0f}" if "area" in row else ""
    if row["status"] != "ok":
        return [*head, "", row["status"], "", "", "", "", area, short(row["reason"])]
    shares = [percent(row[unit]) for unit in ("mxu", "vpu", "vmem", "hbm")]
    notes = ["pareto"] if row["pareto"] else []
    if row["assumed_decisions"]:
        notes.append(f"{row['assumed_decisions']} decisions assumed")
    return [*head, f"{row['microseconds']:.1f}", row["bound"], *shares, area, ", ".join(notes)]


def table(rows: list[Row]) -> str:
    """For a terminal: columns aligned, numbers to the right."""
    lines = [columns(rows), *(cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    texts = (len(lines[0]) - 1, 0, columns(rows).index("bound"))
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i in texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def to_csv(rows: list[Row]) -> str:
    """One line a row; settings have columns of their own."""
    plain = ["chip", "status", "microseconds", "cycles", "bound", "mxu", "vpu", "vmem", "hbm"]
    plain += ["spills", "area", "pareto", "reason"]
    settings = list(dict.fromkeys(name for row in rows for name in row["settings"]))
    out = io.StringIO()
    writer = csv.writer(out)
    # A setting may have the name of a column (vmem): it is the chip's there.
    writer.writerow(["program", *(f"set.{name}" for name in settings), *plain])
    for row in rows:
        own = [row["settings"].get(name, "") for name in settings]
        writer.writerow([row["program"], *own, *(row.get(name, "") for name in plain)])
    return out.getvalue()


def to_json(rows: list[Row], **facts: Any) -> str:
    return json.dumps({**facts, "rows": rows}, indent=1) + "\n"


def deliver(text: str, file: pathlib.Path | None) -> None:
    """Writes a page to `file`, or prints it where none is given."""
    if file:
        file.write_text(text)
    else:
        print(text)
