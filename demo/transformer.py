# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer block, forward, in bf16: what 'make demo-tpu' times on simulated chips.

Norms first, attention with several heads under a causal mask, a gated-free
perceptron of four times the width. Written without a library of networks, so that
each line of it is a line in the reports.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of a block."""

    batch: int
    sequence: int
    width: int
    heads: int

    def __str__(self) -> str:
        return f"batch {self.batch}, sequence {self.sequence}, d={self.width}, {self.heads} heads"


LARGE = Shape(batch=8, sequence=1024, width=1024, heads=16)
TINY = Shape(batch=2, sequence=64, width=128, heads=4)


def init(shape: Shape, dtype=jnp.bfloat16, seed: int = 0) -> dict:
    """Weights of a block, scaled so that activations keep their size."""
    rng, d = np.random.default_rng(seed), shape.width

    def weights(rows: int, columns: int) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) * rows**-0.5).astype(dtype)

    return {
        "norm1": np.ones(d, dtype),
        "qkv": weights(d, 3 * d),
        "out": weights(d, d),
        "norm2": np.ones(d, dtype),
        "up": weights(d, 4 * d),
        "down": weights(4 * d, d),
    }


def shapes(shape: Shape, dtype=jnp.bfloat16) -> tuple:
    """(weights, input) as shapes: lowering needs no values."""
    d = shape.width
    sizes = {
        "norm1": (d,),
        "qkv": (d, 3 * d),
        "out": (d, d),
        "norm2": (d,),
        "up": (d, 4 * d),
        "down": (4 * d, d),
    }
    weights = {name: jax.ShapeDtypeStruct(size, dtype) for name, size in sizes.items()}
    return weights, jax.ShapeDtypeStruct((shape.batch, shape.sequence, d), dtype)


def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Each row over its root mean square, in f32."""
    wide = x.astype(jnp.float32)
    rows = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
    return (wide * rows).astype(x.dtype) * scale


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """[batch, heads, sequence, head width]; no position looks ahead."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    length = q.shape[2]
    seen = jnp.tril(jnp.ones((length, length), bool))
    scores = jnp.where(seen, scores * q.shape[-1] ** -0.5, -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(v.dtype), v)


def block(params: dict, x: jax.Array, heads: int) -> jax.Array:
    """One block: [batch, sequence, width] to the same."""
    batch, sequence, width = x.shape
    qkv = norm(x, params["norm1"]) @ params["qkv"]
    qkv = qkv.reshape(batch, sequence, 3, heads, width // heads)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    mixed = attention(q, k, v).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + mixed @ params["out"]
    hidden = jax.nn.gelu(norm(x, params["norm2"]) @ params["up"])
    return x + hidden @ params["down"]


def _program(shape: Shape) -> tuple:
    return lambda params, x: block(params, x, shape.heads), shapes(shape)


def large() -> tuple:
    """For `spokeshave codesign demo/transformer.py:large`."""
    return _program(LARGE)


def tiny() -> tuple:
    """For `spokeshave codesign demo/transformer.py:tiny`."""
    return _program(TINY)
