# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that the tables about simulated chips are made of.

Each function returns (function, arguments), arguments as shapes: for `spokeshave
codesign` and `explain`, for the ablation, for the comparison with other compilers.
"""

from typing import Any

import jax
import jax.numpy as jnp

from spokeshave.codesign import programs


def _shapes(dtype: Any, *sizes: tuple[int, ...]) -> tuple:
    return tuple(jax.ShapeDtypeStruct(size, dtype) for size in sizes)


def matmul_bf16(size: int = 4096) -> tuple:
    """A square product, sums in f32, the result in bf16."""
    return jnp.matmul, _shapes(jnp.bfloat16, (size, size), (size, size))


def matmul_int8(size: int = 4096) -> tuple:
    """A square product of bytes, sums in s32."""

    def product(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.matmul(a, b, preferred_element_type=jnp.int32)

    return product, _shapes(jnp.int8, (size, size), (size, size))


def softmax() -> tuple:
    """Over rows of 4096."""
    return lambda x: jax.nn.softmax(x, axis=-1), _shapes(jnp.float32, (8192, 4096))


def layer_norm() -> tuple:
    """Over rows of 1024, with scale and shift."""

    def norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
        mean = jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * scale + shift

    return norm, _shapes(jnp.float32, (16384, 1024), (1024,), (1024,))


def gelu() -> tuple:
    """Elementwise: three arrays of 64 MB in, one out."""
    return (
        lambda x, y, z: jax.nn.gelu(x * y + z),
        _shapes(jnp.float32, *[(4096, 4096)] * 3),
    )


def add() -> tuple:
    """What a stream costs: 64 MB and 64 MB in, 64 MB out."""
    return jnp.add, _shapes(jnp.float32, (4096, 4096), (4096, 4096))


def _attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
    weights = jax.nn.softmax(scores * q.shape[-1] ** -0.5, axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def _layer_norm(x: jax.Array) -> jax.Array:
    wide = x.astype(jnp.float32)
    centred = wide - jnp.mean(wide, -1, keepdims=True)
    return (centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-6)).astype(x.dtype)


def _block(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    batch, sequence, width = x.shape
    qkv = (_layer_norm(x) @ params["qkv"]).reshape(batch, sequence, 3, 16, width // 16)
    x = x + _attention(*(qkv[:, :, i] for i in range(3))).reshape(x.shape) @ params["out"]
    return x + jax.nn.gelu(_layer_norm(x) @ params["up"]) @ params["down"]


def transformer_block() -> tuple:
    """Forward, bf16: d=1024, 16 heads, sequence 1024, batch 8."""
    d = 1024
    sizes = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
    weights = {name: jax.ShapeDtypeStruct(size, jnp.bfloat16) for name, size in sizes.items()}
    return _block, (weights, jax.ShapeDtypeStruct((8, 1024, d), jnp.bfloat16))


def scan_mlp() -> tuple:
    """Sixteen layers of 1024 in a loop over stacked weights, bf16, 1024 rows."""

    def run(x: jax.Array, weights: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda h, w: (jax.nn.relu(h @ w), None), x, weights)[0]

    return run, _shapes(jnp.bfloat16, (1024, 1024), (16, 1024, 1024))


def gemv() -> tuple:
    """Eight rows by a matrix of 8192: as a decoder's step, bound by the weights."""
    return jnp.matmul, _shapes(jnp.bfloat16, (8, 8192), (8192, 8192))


ALL = {
    "matmul_bf16_4096": matmul_bf16,
    "matmul_int8_4096": matmul_int8,
    "transformer_block": transformer_block,
    "scan_mlp": scan_mlp,
    "softmax_8192x4096": softmax,
    "layer_norm_16384x1024": layer_norm,
    "gelu_4096x4096": gelu,
    "add_4096x4096": add,
    "gemv_8x8192": gemv,
}


def load(name: str) -> programs.Program:
    """The program of that name, lowered.

    Raises:
      KeyError: there is none.
    """
    return programs.Program(name, f"{name}.mlir", programs.lower(*ALL[name]()))
