# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a workload is, and the list of all."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SIZES = ("full", "reduced", "simulated", "tiny")


@dataclasses.dataclass(frozen=True)
class Program:
    """A function that can be jitted and what to call it with (trees of NumPy arrays)."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Workload:
    """A program at several sizes and what is expected of it.

    `build` makes it: its parameters' defaults are the full size, `reduced` and
    `tiny` override them. The full size is timed, the reduced one is compared with
    the stock CPU in tests, the tiny one with the reference interpreter. What runs on
    the simulated chip is the reduced size with `simulated` on top: smaller where
    simulating with values is slow, larger where a chip's tiles are not filled.
    """

    name: str
    theme: str
    build: Callable[..., Program]
    reduced: Mapping[str, Any]
    tiny: Mapping[str, Any]
    # How far results may be from the stock CPU's (see compare.py): None for the
    # dtype's own tolerance, 0 for equal bits; `reason` says why it is another.
    tolerance: float | None = None
    reason: str = ""
    simulated: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    # On the simulated chip, where others hold (chip.py): from results with its products,
    # and from those of the program as it stands.
    chip_tolerance: float | None = None
    chip_loose: float = 3e-2
    chip_reason: str = ""
    # A rounding difference grows without bound, or decides a branch: at the full
    # size the difference is reported, not judged.
    chaotic: bool = False
    # Calls that leave compiled code, by target. All others are forbidden.
    calls: Mapping[str, int] = dataclasses.field(default_factory=dict)
    # Forms of kernel that must be among the program's.
    kinds: frozenset[str] = frozenset()

    def program(self, size: str = "full") -> Program:
        """The program at one of SIZES."""
        simulated = {**self.reduced, **self.simulated}
        overrides = {"full": {}, "reduced": self.reduced, "simulated": simulated, "tiny": self.tiny}
        return self.build(**overrides[size])


WORKLOADS: dict[str, Workload] = {}


def workload(theme: str, *, kinds: tuple[str, ...] = (), **expected: Any) -> Callable:
    """Registers a function that builds a program, under the function's name."""

    def register(build: Callable[..., Program]) -> Callable[..., Program]:
        known = inspect.signature(build).parameters
        for size in ("reduced", "simulated", "tiny"):
            unknown = set(expected.get(size, ())) - set(known)
            if unknown:
                raise TypeError(f"{build.__name__} has no parameter {sorted(unknown)}")
        WORKLOADS[build.__name__] = Workload(
            name=build.__name__, theme=theme, build=build, kinds=frozenset(kinds), **expected
        )
        return build

    return register


class Samples:
    """A source of arrays that are the same in each process."""

    def __init__(self, seed: int = 0):
        self._generator = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Standard normal f32 numbers times `scale`."""
        return (self._generator.standard_normal(shape) * scale).astype(np.float32)

    def weights(self, *shape: int) -> np.ndarray:
        """Normal numbers that keep the size of what they are multiplied with.

        All dimensions but the last are summed over.
        """
        return self.normal(*shape, scale=float(np.prod(shape[:-1])) ** -0.5)

    def integers(self, low: int, high: int, *shape: int, dtype: Any = np.int32) -> np.ndarray:
        """Uniform integers in [low, high)."""
        return self._generator.integers(low, high, shape).astype(dtype)


def raw_key(seed: int) -> np.ndarray:
    """What jax.random.PRNGKey(seed) gives, made without a device."""
    return np.array([0, seed], np.uint32)
