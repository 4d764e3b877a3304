# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: products of matrices of several types and shapes, a decomposition."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload


def _product(left: np.ndarray, right: np.ndarray) -> Program:
    return Program(lambda a, b: a @ b, (left, right))


@workload(
    "linear algebra", kinds=("dot",), reduced=dict(n=96), tiny=dict(n=7), simulated=dict(n=1024)
)
def matmul_1024(n=1024) -> Program:
    """A square product in f32."""
    samples = Samples(11)
    return _product(samples.normal(n, n), samples.normal(n, n))


@workload(
    "linear algebra",
    kinds=("dot",),
    reduced=dict(m=33, k=77, n=55),
    tiny=dict(m=3, k=7, n=5),
    simulated=dict(m=333, k=777, n=555),
)
def matmul_odd(m=333, k=777, n=555) -> Program:
    """Sizes that no tile divides."""
    samples = Samples(12)
    return _product(samples.normal(m, k), samples.normal(k, n))


@workload(
    "linear algebra", kinds=("dot",), reduced=dict(n=200), tiny=dict(n=9), simulated=dict(n=1500)
)
def matvec_4096(n=4096) -> Program:
    """A matrix times a vector."""
    samples = Samples(13)
    return _product(samples.normal(n, n), samples.normal(n))


@workload(
    "linear algebra",
    kinds=("dot",),
    reduced=dict(n=80),
    tiny=dict(n=6),
    simulated=dict(n=512),
    tolerance=0,
)
def matmul_int8(n=512) -> Program:
    """An int8 product summed in int32."""
    samples = Samples(14)
    left, right = (samples.integers(-128, 128, n, n, dtype=np.int8) for _ in range(2))
    return Program(lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), (left, right))


@workload(
    "linear algebra", kinds=("dot",), reduced=dict(n=96), tiny=dict(n=6), simulated=dict(n=1024)
)
def matmul_bf16_1024(n=1024) -> Program:
    """A square product in bf16."""
    samples = Samples(15)
    return _product(*(samples.normal(n, n).astype(jnp.bfloat16) for _ in range(2)))


@workload(
    "linear algebra",
    kinds=("dot",),
    reduced=dict(batch=50),
    tiny=dict(batch=2, n=4),
    simulated=dict(batch=2000),
)
def batched_small_matmul(batch=10_000, n=16) -> Program:
    """Many small products."""
    samples = Samples(16)
    return _product(samples.normal(batch, n, n), samples.normal(batch, n, n))


@workload(
    "linear algebra",
    kinds=("decomposition",),
    reduced=dict(batch=50),
    tiny=dict(batch=2, n=4),
    simulated=dict(batch=2000),
)
def batched_cholesky_8x8(batch=10_000, n=8) -> Program:
    """Many small Cholesky decompositions, which must be kernels, not calls of LAPACK."""
    factor = Samples(17).normal(batch, n, n)
    positive = factor @ factor.transpose(0, 2, 1) + n * np.eye(n, dtype=np.float32)
    return Program(jnp.linalg.cholesky, (positive,))
