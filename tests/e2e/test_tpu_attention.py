# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on the simulated chip, beside the stock CPU.

The matrix units round factors to bf16, the weights too: a few parts in a thousand.
"""

import pytest
from test_tpu import run

ATTENTION = """
def attention(q, k, v, causal=True, bias=None):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = scores * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    if causal:
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(seen, scores, -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(v.dtype), v)
def inputs(b, h, rows, keys, depth, width, dtype=jnp.bfloat16):
    shapes = (b, h, rows, depth), (b, h, keys, depth), (b, h, keys, width)
    return [jnp.asarray(rng.standard_normal(s), dtype) for s in shapes]
def check(f, *args, limit=2e-2):
    ours, theirs = (a.astype(np.float64) for a in both(f, *args))
    assert np.isfinite(theirs).all()
    np.testing.assert_allclose(ours, theirs, rtol=limit, atol=limit)
"""


@pytest.mark.parametrize("causal", [True, False])
def test_sizes(causal):
    """Several blocks of rows and keys, one, and sizes that nothing divides."""
    run(
        ATTENTION
        + f"""
for shape in ((1, 2, 512, 1024, 64, 64), (2, 2, 64, 64, 32, 32), (1, 1, 100, 700, 40, 72),
              (1, 2, 37, 150, 16, 200)):
    check(lambda q, k, v: attention(q, k, v, causal={causal}), *inputs(*shape))
"""
    )


@pytest.mark.parametrize("chip", ["v5e", "v6e"])
def test_rounds(chip):
    """Heads that share a task, blocks of keys that a diagonal ends; on units of either size."""
    run(
        f"""
import os
os.environ["SPOKESHAVE_CHIP"] = "{chip}"
"""
        + ATTENTION
        + """
check(lambda q, k, v: attention(q, k, v, causal=False), *inputs(2, 8, 64, 128, 64, 64))
check(attention, *inputs(2, 8, 96, 160, 64, 128))
check(attention, *inputs(1, 1, 1024, 1024, 32, 32))
check(lambda q, k, v: attention(q, k, v, causal=False), *inputs(1, 1, 64, 2048, 32, 32))
"""
    )


def test_blocks_of_keys_and_units():
    """Keys that no block divides, depths and widths of several steps."""
    run(
        ATTENTION
        + """
for causal in (True, False):
    check(lambda q, k, v: attention(q, k, v, causal), *inputs(1, 1, 40, 1500, 16, 16))
check(attention, *inputs(1, 1, 64, 64, 600, 600))
"""
    )


def test_results_are_used():
    """What reads the result, in place of its other operand, sees it once and whole."""
    run(
        ATTENTION
        + """
args = inputs(1, 2, 64, 2048, 32, 32, jnp.float32)
x = jnp.asarray(rng.standard_normal((1, 2, 64, 32)), jnp.float32)
check(lambda q, k, v, x: x + attention(q, k, v, causal=False) * 2, *args, x, limit=3e-2)
"""
    )


def test_layouts():
    """Heads inside, queries, keys and values of one product, f32, grouped queries."""
    run(
        ATTENTION
        + """
x = jnp.asarray(rng.standard_normal((2, 256, 128)), jnp.float32)
w = jnp.asarray(rng.standard_normal((128, 3 * 128)) * 0.1, jnp.float32)
def layer(x, w):
    q, k, v = (x @ w).reshape(2, 256, 3, 4, 32).transpose(2, 0, 3, 1, 4)
    return attention(q, k, v).transpose(0, 2, 1, 3).reshape(2, 256, 128)
check(layer, x, w, limit=3e-2)
q, k, v = (jnp.asarray(rng.standard_normal((1, 256, h, 64)), jnp.bfloat16) for h in (8, 2, 2))
check(lambda *a: jax.nn.dot_product_attention(*a, is_causal=True), q, k, v)
"""
    )


def test_bias_and_rows_without_keys():
    """A bias per element, and rows for which it hides everything."""
    run(
        ATTENTION
        + """
args = inputs(1, 2, 256, 640, 64, 64)
bias = rng.standard_normal((2, 256, 640)).astype(np.float32)
check(lambda q, k, v, b: attention(q, k, v, causal=False, bias=b), *args, bias)
bias[:, 5] = -np.inf
ours, theirs = both(lambda q, k, v, b: attention(q, k, v, causal=False, bias=b), *args, bias)
assert np.isnan(ours[0, :, 5].astype(np.float32)).all()
assert (np.isnan(ours.astype(np.float32)) == np.isnan(theirs.astype(np.float32))).all()
"""
    )


def test_gradients_of_odd_sizes_at_full_precision():
    """Factors that are packed end in the middle of a block, beside the next head's."""
    run(
        ATTENTION
        + """
def loss(q, k, v):
    return (attention(q, k, v, causal=False) ** 2).sum()
with jax.default_matmul_precision("highest"):
    for rows, keys in ((8, 513), (130, 130)):
        args = [a.astype(jnp.float32) for a in inputs(1, 2, rows, keys, 64, 64)]
        for argument in range(3):
            ours, theirs = both(jax.grad(loss, argument), *args)
            scale = abs(theirs).max()
            np.testing.assert_allclose(ours / scale, theirs / scale, atol=1e-5)
"""
    )
