# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers and Fourier transforms."""

import jax
import jax.numpy as jnp
from spokeshave.bench.workloads.registry import Program, Samples, raw_key, workload


@workload("random and Fourier", reduced=dict(n=10_007), tiny=dict(n=20), simulated=dict(n=300_007))
def random_normal_1e7(n=10_000_000) -> Program:
    """Normal numbers from JAX's default generator."""
    return Program(lambda key: jax.random.normal(key, (n,)), (raw_key(5),))


@workload("random and Fourier", reduced=dict(n=48), tiny=dict(n=6), calls={"fft": 1})
def fft2_1024(n=1024) -> Program:
    """The magnitudes of a two-dimensional Fourier transform."""
    return Program(lambda x: jnp.abs(jnp.fft.fft2(x)), (Samples(28).normal(n, n),))
