# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far two results differ, and how far they may."""

import dataclasses
from typing import Any

import jax
import numpy as np

# The largest difference of an array's elements relative to its largest element.
# Each is some hundred times the dtype's rounding: sums of thousands of terms in
# another order, functions within 2 ulp of the truth on both sides, a few layers
# of each after one another. Types that are not listed must be equal.
TOLERANCES = {
    "float64": 2e-13,
    "complex128": 2e-13,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 1e-2,
    "bfloat16": 3e-2,
}


@dataclasses.dataclass(frozen=True)
class Difference:
    """Of two trees of arrays: the leaf that is nearest to its tolerance, or beyond."""

    dtype: str
    error: float  # relative to the leaf's largest element; 1 for a differing integer
    tolerance: float
    equal_bits: bool  # of all leaves
    ulp: float  # the largest of all float leaves, see ulps()

    @property
    def accepted(self) -> bool:
        """Within the tolerance."""
        return self.error <= self.tolerance


def _wide(values: np.ndarray) -> np.ndarray:
    """As f64 or c128; integers stay, so that none is rounded."""
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    return values if values.dtype.kind in "biu" else values.astype(np.float64)


def relative_error(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference over the largest element; infinite where NaNs differ.

    Of integers and booleans: 1 if any differs.
    """
    got, want = _wide(got), _wide(want)
    if got.dtype.kind in "biu":
        return float(not np.array_equal(got, want))
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if same.all():
        return 0.0
    if not (np.isfinite(got[~same]).all() and np.isfinite(want[~same]).all()):
        return float("inf")
    finite = np.abs(want[np.isfinite(want)])
    scale = max(float(finite.max(initial=0)), float(np.finfo(np.float32).tiny))
    return float(np.abs(got[~same] - want[~same]).max()) / scale


def ulps(got: np.ndarray, want: np.ndarray) -> float:
    """The largest distance of corresponding floats, in units of their last place.

    `want` may be wider than `got`, whose places count. NaN is equal to NaN.
    """
    import ml_dtypes

    info = ml_dtypes.finfo(got.dtype)
    got, want = got.astype(np.float64), want.astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if same.all():
        return 0.0
    got, want = got[~same], want[~same]
    if not (np.isfinite(got).all() and np.isfinite(want).all()):
        return float("inf")
    exponent = np.frexp(np.maximum(np.abs(want), float(info.tiny)))[1]
    return float((np.abs(got - want) / np.ldexp(float(info.eps), exponent - 1)).max())


def _bits_equal(got: np.ndarray, want: np.ndarray) -> bool:
    return np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def _is_real_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype.name in TOLERANCES and dtype.kind == "V"


def difference(got: Any, want: Any, tolerance: float | None = None) -> Difference:
    """Compares two trees, which must have the same structure, shapes and types.

    `tolerance` replaces that of the dtypes, but integers stay exact.

    Raises:
      ValueError: they cannot be compared.
    """
    got_leaves, got_tree = jax.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    if got_tree != want_tree:
        raise ValueError(f"the results are {got_tree}, expected were {want_tree}")
    worst = Difference("", 0.0, 0.0, True, 0.0)
    nearest, equal, ulp = -1.0, True, 0.0
    for a, b in zip(got_leaves, want_leaves):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            raise ValueError(f"a result is {a.dtype}{a.shape}, expected was {b.dtype}{b.shape}")
        limit = TOLERANCES.get(a.dtype.name, 0.0)
        if tolerance is not None and limit > 0:
            limit = tolerance
        error = relative_error(a, b)
        equal = equal and _bits_equal(a, b)
        if _is_real_float(a.dtype):
            ulp = max(ulp, ulps(a, b))
        exhausted = error / limit if limit else (float("inf") if error else 0.0)
        if exhausted > nearest:
            nearest = exhausted
            worst = Difference(a.dtype.name, error, limit, True, 0.0)
    return dataclasses.replace(worst, equal_bits=equal, ulp=ulp)
