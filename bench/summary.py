# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From samples to medians, spreads and ratios."""

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

_RESAMPLED = 1000
_MOST_POINTS = 1000


@dataclasses.dataclass(frozen=True)
class Spread:
    """Median and quartiles of a sample."""

    median: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times faster than the other, with an interval of 95%."""

    value: float
    low: float
    high: float


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles."""
    low, median, high = np.percentile(samples, [25, 50, 75])
    return Spread(float(median), float(low), float(high))


def _resampled_medians(samples: Sequence[float], generator: np.random.Generator) -> np.ndarray:
    """Medians of samples drawn anew, as many as there are, but at most a thousand.

    Fewer than there are make the interval wider, never narrower.
    """
    values = np.asarray(samples)
    count = min(len(values), _MOST_POINTS)
    return np.median(values[generator.integers(0, len(values), (_RESAMPLED, count))], axis=1)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Their median over ours; the interval from a bootstrap of both."""
    generator = np.random.default_rng(0)
    ratios = _resampled_medians(theirs, generator) / _resampled_medians(ours, generator)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return Ratio(float(np.median(theirs) / np.median(ours)), float(low), float(high))


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers; NaN of none."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan
