# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory: elementwise chains, reductions, transposes, running sums, an empty program."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload


@workload(
    "memory",
    kinds=("rows",),
    reduced=dict(rows=64, columns=200),
    tiny=dict(rows=3, columns=9),
    simulated=dict(rows=1000, columns=1024),
)
def softmax_layernorm(rows=8192, columns=1024) -> Program:
    """Softmax and layer normalisation of rows."""
    samples = Samples(18)

    def normalise(x, gain):
        x = jax.nn.softmax(x)
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
        return centred * lax.rsqrt(variance + 1e-5) * gain

    return Program(normalise, (samples.normal(rows, columns), samples.normal(columns)))


@workload(
    "memory",
    kinds=("loop",),
    reduced=dict(rows=64, columns=200),
    tiny=dict(rows=3, columns=9),
    simulated=dict(rows=1000, columns=1000),
)
def gelu_chain(rows=4096, columns=2048) -> Program:
    """A chain of transcendental functions."""

    def chain(x):
        return jax.nn.gelu(2 * jnp.tanh(x) + 1) * jnp.exp(-jnp.square(x))

    return Program(chain, (Samples(19).normal(rows, columns),))


@workload(
    "memory",
    kinds=("reduce",),
    reduced=dict(rows=130, columns=200),
    tiny=dict(rows=5, columns=9),
    simulated=dict(rows=2000, columns=1500),
)
def reduce_rows_cols(rows=4096, columns=2048) -> Program:
    """Sums of columns, maxima of rows, the variance of all."""

    def reduce(x):
        return jnp.sum(x, axis=0), jnp.max(x, axis=1), jnp.var(x)

    return Program(reduce, (Samples(20).normal(rows, columns),))


@workload(
    "memory",
    kinds=("loop",),
    reduced=dict(n=150),
    tiny=dict(n=6),
    simulated=dict(n=1100),
    tolerance=0,
)
def transpose_add(n=3000) -> Program:
    """A matrix and its transpose."""
    return Program(lambda x: jnp.transpose(x) + x, (Samples(21).normal(n, n),))


@workload(
    "memory",
    kinds=("scan",),
    reduced=dict(n=10_007),
    tiny=dict(n=37),
    simulated=dict(n=1_000_003),
    tolerance=1e-4,
    reason="a running sum of n terms: the order of summing decides how roundings add up",
)
def cumsum_1e7(n=10_000_000) -> Program:
    """A long running sum."""
    return Program(jnp.cumsum, (Samples(22).normal(n),))


@workload("memory", kinds=("loop",), reduced={}, tiny={}, tolerance=0)
def dispatch_scalar() -> Program:
    """Nothing but the cost of a call."""
    return Program(lambda x: x + 1, (np.float32(1.0),))
