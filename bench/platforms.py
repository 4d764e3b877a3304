# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running a program on one of JAX's platforms, and what Spokeshave counted of it."""

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import spokeshave
from spokeshave.bench.workloads import Program

OURS = "spokeshave"


@dataclasses.dataclass
class Compiled:
    """A program on a device: how to call it, and what making it took."""

    call: Any
    device: Any
    compile_seconds: float
    analysis: dict[str, float]


@contextlib.contextmanager
def on(platform: str) -> Iterator[Any]:
    """The platform's first device, as JAX's default."""
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        yield device


def compile_on(platform: str, program: Program) -> Compiled:
    """Lowers and compiles it there. The compile time is the back end's alone."""
    with on(platform) as device:
        arguments = jax.device_put(program.arguments, device)
        # A function of its own for each platform: JAX caches traces by function.
        jitted = jax.jit(lambda *args: program.function(*args))
        lowered = jitted.lower(*arguments)
        start = time.perf_counter()
        compiled = lowered.compile()
        seconds = time.perf_counter() - start
        analysis = compiled.cost_analysis() or {}
        if isinstance(analysis, list):  # of JAX's older releases
            analysis = analysis[0]
        return Compiled(jitted, device, seconds, dict(analysis))


@dataclasses.dataclass
class Run:
    """Results as NumPy arrays, and on Spokeshave what was counted."""

    results: Any
    counts: dict[str, Any]


def run_on(platform: str, program: Program) -> Run:
    """Compiles a program there and runs it once."""
    with on(platform) as device, counting(platform) as counts:
        arguments = jax.device_put(program.arguments, device)
        jitted = jax.jit(lambda *args: program.function(*args))
        results = jax.block_until_ready(jitted(*arguments))
        if any(leaf.devices() != {device} for leaf in jax.tree.leaves(results)):
            raise RuntimeError(f"the results do not lie on {device}")
        counts["alive"] = jitted  # what is gone is not counted
    del counts["alive"]
    return Run(jax.tree.map(np.asarray, results), counts)


def widen(program: Program) -> Program:
    """The same on 64-bit numbers, for use under jax_enable_x64."""

    def widened(leaf):
        wide = {"float32": np.float64, "int32": np.int64}.get(leaf.dtype.name, leaf.dtype)
        return leaf.astype(wide)

    return Program(program.function, jax.tree.map(widened, program.arguments))


@contextlib.contextmanager
def counting(platform: str) -> Iterator[dict[str, Any]]:
    """Fills the dictionary it gives with the counts of the largest program compiled within.

    Keys are those of spokeshave.statistics(), and `called`: how many library and
    custom calls were made meanwhile. Of other platforms nothing is known. The
    program must be alive at the end.
    """
    counts: dict[str, Any] = {}
    if platform != OURS:
        yield counts
        return
    before = {row["id"] for row in spokeshave.statistics()}
    calls_before = spokeshave.custom_call_counts()
    yield counts
    calls = spokeshave.custom_call_counts()
    new = [row for row in spokeshave.statistics() if row["id"] not in before]
    counts.update(max(new, key=lambda row: row["code_bytes"]))
    counts["called"] = tuple(now - then for now, then in zip(calls, calls_before))
