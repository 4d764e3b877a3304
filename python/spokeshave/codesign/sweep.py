# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a sweep, "vmem=16MiB..128MiB, mxu=1..8, hbm=0.8..7.4TB/s", as a grid of settings."""

import dataclasses
import itertools
import re
from collections.abc import Iterator


class SweepError(ValueError):
    """The text is no sweep; the message says which part and why."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A figure of the chip and the values that it takes, as text with their unit."""

    name: str
    values: tuple[str, ...]


_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z/%]*)")
# What grows by doubling on real chips; everything else is spread geometrically.
_SIZES = {"", "B", "KiB", "MiB", "GiB", "TiB"}


def _split(part: str, text: str) -> tuple[float, str]:
    """'16MiB' as 16.0 and 'MiB'."""
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        raise SweepError(f"sweep '{part}': '{text.strip()}' is no number with a unit, like 16MiB")
    return float(match[1]), match[2]


def _thin(values: list[float], points: int) -> list[float]:
    """At most so many of them, the ends kept, evenly spread."""
    if len(values) <= points:
        return values
    step = (len(values) - 1) / (points - 1)
    return [values[round(i * step)] for i in range(points)]


def _range(part: str, low: str, high: str, points: int) -> tuple[str, ...]:
    (first, unit), (last, last_unit) = _split(part, low), _split(part, high)
    unit = unit or last_unit  # 0.8..7.4TB/s
    if unit != last_unit:
        raise SweepError(
            f"sweep '{part}': both ends must have one unit, not {unit} and {last_unit}"
        )
    if not 0 < first <= last:
        raise SweepError(f"sweep '{part}': must go from a positive number upwards")
    if first == last:
        values = [first]
    elif unit in _SIZES:
        values = [first]
        while values[-1] * 2 < last:
            values.append(values[-1] * 2)
        values = _thin([*values, last], points)
    else:
        ratio = (last / first) ** (1 / (points - 1))
        values = [first * ratio**i for i in range(points - 1)] + [last]
    return tuple(f"{value:.4g}{unit}" for value in values)


def parse(text: str, points: int = 4) -> list[Parameter]:
    """Parameters with at most `points` values each.

    A part is NAME=LOW..HIGH (powers of two for sizes and counts, geometric for
    rates), NAME=A|B|C or NAME=A.

    Raises:
      SweepError: with the part that is wrong.
    """
    if points < 2:
        raise SweepError(f"{points} points: a range has at least 2")
    parameters: list[Parameter] = []
    for part in (part.strip() for part in text.split(",")):
        name, equals, values = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not values:
            raise SweepError(f"sweep '{part}': must be NAME=LOW..HIGH or NAME=A|B|C")
        if name in (p.name for p in parameters):
            raise SweepError(f"sweep '{part}': '{name}' stands twice")
        low, dots, high = values.partition("..")
        if dots:
            found = _range(part, low, high, points)
        else:
            found = tuple(value.strip() for value in values.split("|"))
            for value in found:
                if value not in ("true", "false"):
                    _split(part, value)
        parameters.append(Parameter(name, found))
    return parameters


def grid(parameters: list[Parameter]) -> Iterator[dict[str, str]]:
    """Every combination, the last parameter fastest."""
    for values in itertools.product(*(p.values for p in parameters)):
        yield dict(zip((p.name for p in parameters), values))


def chip_text(chip: str, settings: dict[str, str]) -> str:
    """The chip with these settings, as the tools take it: v5e:vmem=16MiB,mxu=2."""
    added = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"{chip}{',' if ':' in chip else ':'}{added}" if added else chip
