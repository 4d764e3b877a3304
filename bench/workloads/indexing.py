# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ordering and indexing: sorts, top-k, scatter, gather."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload


@workload(
    "indexing",
    kinds=("sort",),
    reduced=dict(n=5000),
    tiny=dict(n=17),
    simulated=dict(n=70_000),
    tolerance=0,
)
def sort_1e6(n=1_000_000) -> Program:
    """One long line sorted."""
    return Program(jnp.sort, (Samples(23).normal(n),))


@workload(
    "indexing",
    kinds=("sort",),
    reduced=dict(rows=40),
    tiny=dict(rows=2, columns=9),
    simulated=dict(rows=100),
    tolerance=0,
)
def argsort_rows(rows=1000, columns=1000) -> Program:
    """The order of each row."""
    return Program(lambda x: jnp.argsort(x, axis=-1), (Samples(24).normal(rows, columns),))


@workload(
    "indexing",
    kinds=("sort",),
    reduced=dict(rows=16, columns=1000),
    tiny=dict(rows=2, columns=20, k=3),
    simulated=dict(columns=8000),
    tolerance=0,
)
def top_k_32(rows=256, columns=32_000, k=32) -> Program:
    """The largest of each row, with their places."""
    return Program(lambda x: lax.top_k(x, k), (Samples(25).normal(rows, columns),))


@workload(
    "indexing",
    kinds=("scatter",),
    reduced=dict(updates=5000, bins=700),
    tiny=dict(updates=20, bins=6),
    simulated=dict(updates=100_000, bins=9000),
)
def scatter_add_1e6(updates=1_000_000, bins=100_000) -> Program:
    """A weighted histogram."""
    samples = Samples(26)
    places = samples.integers(0, bins, updates)

    def histogram(places, values):
        return jnp.zeros(bins, values.dtype).at[places].add(values)

    return Program(histogram, (places, samples.normal(updates)))


@workload(
    "indexing",
    kinds=("loop",),
    reduced=dict(rows=500, width=32, picks=900),
    tiny=dict(rows=6, width=3, picks=5),
    simulated=dict(rows=5000, width=128, picks=9000),
    tolerance=0,
)
def gather_rows(rows=50_000, width=128, picks=100_000) -> Program:
    """Rows of a table by number, as an embedding looks them up."""
    samples = Samples(27)
    table, places = samples.normal(rows, width), samples.integers(0, rows, picks)
    assert places.dtype == np.int32
    return Program(lambda table, places: table[places], (table, places))
