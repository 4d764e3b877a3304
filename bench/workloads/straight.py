# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long straight programs, whose compile time is the question."""

import jax.numpy as jnp
from spokeshave.bench.workloads.registry import Program, Samples, workload


@workload("compile time", kinds=("dot",), reduced=dict(steps=40), tiny=dict(steps=4, rows=2, n=4))
def unrolled_300_steps(steps=300, rows=8, n=32) -> Program:
    """A loop that Python unrolled."""
    samples = Samples(29)
    weights, start = samples.normal(n, n, scale=0.2), samples.normal(rows, n)

    def unrolled(weights, x):
        for i in range(steps):
            x = jnp.sin(x @ weights) + 0.01 * i
        return x

    return Program(unrolled, (weights, start))
