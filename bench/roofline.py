# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program's operations and bytes would take at the machine's best rates."""

import dataclasses
from typing import Any

from spokeshave.bench.machine import Rates

# From this fraction of a rate on, it is what bounds a program.
_HIGH = 0.5
# A loop whose steps are this short spends its time between kernels.
_MANY_STEPS = 20
_SHORT_STEP_SECONDS = 50e-6


@dataclasses.dataclass(frozen=True)
class Bound:
    """Seconds that a program cannot go below here, and what of it costs them."""

    flops_seconds: float  # all floating-point operations at the peak of its types
    bytes_seconds: float  # arguments read and results written once

    @property
    def seconds(self) -> float:
        """The larger of both."""
        return max(self.flops_seconds, self.bytes_seconds)

    @property
    def kind(self) -> str:
        """Which of both it is."""
        return "flops" if self.flops_seconds > self.bytes_seconds else "bytes"


def bound(counts: dict[str, Any], dtypes: list[str], rates: Rates) -> Bound:
    """The bound of a program from Spokeshave's counts of it."""
    flops = counts["work"]["flops"]
    compulsory = counts["argument_bytes"] + counts["result_bytes"]
    return Bound(flops / (rates.peak(set(dtypes)) * 1e9), compulsory / (rates.memory * 1e9))


def traffic_seconds(counts: dict[str, Any], rates: Rates) -> float:
    """What the bytes that its kernels read and write would take if all came from memory."""
    return counts["work"]["bytes"] / (rates.memory * 1e9)


def _verdict(flops: float, traffic: float, structure: dict[str, Any], seconds: float) -> str:
    """One phrase; the fractions are of the machine's best."""
    if flops >= _HIGH:
        return "bound by multiply-adds"
    if traffic >= _HIGH:
        return "bound by memory"
    steps = structure["regions"]
    if steps >= _MANY_STEPS and seconds / steps < _SHORT_STEP_SECONDS:
        return f"{steps:,} short steps of {seconds / steps * 1e6:.2g} us each"
    return "bound by the instructions of its kernels"


def explain(counts: dict[str, Any], dtypes: list[str], rates: Rates, seconds: float) -> str:
    """Where the time of a program goes, as far as its counts tell."""
    limit = bound(counts, dtypes, rates)
    structure, work = counts["structure"], counts["work"]
    flops = limit.flops_seconds / seconds
    traffic = traffic_seconds(counts, rates) / seconds
    parts = [
        f"{_verdict(flops, traffic, structure, seconds)}:"
        f" {work['flops'] / seconds * 1e-9:.3g} GFLOP/s are {flops:.0%} of the peak",
        f"what kernels read and write {traffic:.0%} of the memory's rate"
        f" (arguments and results alone {limit.bytes_seconds / seconds:.0%})",
    ]
    if work["transcendentals"]:
        parts.append(f"{work['transcendentals'] / seconds * 1e-9:.3g}e9 transcendentals/s")
    parts.append(f"{structure['launches']:,} launches in {structure['regions']:,} regions")
    return "; ".join(parts)
